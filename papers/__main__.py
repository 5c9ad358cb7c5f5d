"""``python -m papers``: the command ``whynear reproduce``."""

import typer

from whynear.cli.reproduce import reproduce

if __name__ == "__main__":
    typer.run(reproduce)
