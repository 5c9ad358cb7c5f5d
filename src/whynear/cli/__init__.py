"""The command line: one command, one call into the library."""


def main() -> None:
    """Run the command line."""
    from whynear.cli.app import main as run

    run()
