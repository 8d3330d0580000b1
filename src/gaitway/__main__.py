"""`python -m gaitway` is the same as the `gaitway` command."""

from gaitway.cli import main

if __name__ == "__main__":
    main()
