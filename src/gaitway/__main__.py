"""The `gaitway` command, also as `python -m gaitway`: an end by Ctrl-C is silent even while the command is imported."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command can listen
    from gaitway.cli import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
