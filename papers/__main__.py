"""``python -m papers``: the command ``whynear reproduce``."""

import sys

from whynear.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "reproduce")
    main()
