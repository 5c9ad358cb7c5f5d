"""The command as a module: ``python -m whynear study ...``."""

from whynear.cli import main

if __name__ == "__main__":
    main()
