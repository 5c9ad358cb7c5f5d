"""``python -m papers``: the command ``whynear reproduce``."""

import typer

from whynear.cli.app import reproduce

if __name__ == "__main__":
    typer.run(reproduce)
