"""``make pictures``: draw the pictures of the documentation anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

import gendalens
from tools.site.pictures import page, terminal

DOCS = terminal.FILE.parent
MODEL = "control:stereotyped?strength=0.3"
#: The first screen of a report, by language.
REPORTS = {"en-GB": DOCS / "report.png", "da-DK": DOCS / "da" / "rapport.png"}


def make_report(folder: Path) -> Path:
    """The page that the pictures show."""
    gendalens.run(MODEL, data="builtin", out=folder)
    return folder / "report.html"


def main() -> None:
    """Draw them all."""
    terminal.FILE.write_text(terminal.draw(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, page.open_browser() as browser:
        report = make_report(Path(folder))
        for language, picture in REPORTS.items():
            page.take(browser, report, picture, language, page.MARKS)


if __name__ == "__main__":
    main()
