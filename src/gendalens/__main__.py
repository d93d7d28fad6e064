"""``python -m gendalens``."""

from gendalens.cli import main

main()
