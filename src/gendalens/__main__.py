"""``python -m gendalens``, and the command ``gendalens``."""

import os
import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a word."""
    # Background jobs of a shell ignore Ctrl-C, and go on doing so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until exits.run takes it up
    from gendalens.cli import app as cli

    cli.main()


def _leave_out_the_working_directory() -> None:
    """Undo what ``-m`` does: have Python look for packages in the working directory first.

    That may be a model's folder, and a package in it could stand in for any that is imported.
    """
    try:
        here = os.getcwd()  # noqa: PTH109 - pathlib would be imported from there
    except OSError:  # the directory is gone, and was not put there
        return
    if not sys.flags.safe_path and sys.path[0] in ("", here):
        del sys.path[0]


if __name__ == "__main__":
    _leave_out_the_working_directory()
    main()
