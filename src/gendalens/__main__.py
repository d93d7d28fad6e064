"""``python -m gendalens``."""

import os
import sys


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


_leave_out_the_working_directory()

from gendalens.cli import main  # noqa: E402

main()
