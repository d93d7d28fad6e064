"""A third language for pages: a small catalogue beside those of the package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from gendalens.words import catalogues, numbers

WORDS = {
    "English": "Svenska",
    "1,234.5": "1\xa0234,5",
    "50%": "50\xa0%",
    "any": "alla",
    "About these figures": "Om siffrorna",
    "Gender bias report": "Rapport om könsbias",
}


def add(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Swedish, as far as the tests look at it, for as long as the test runs."""
    shutil.copytree(catalogues.LOCALE, folder)
    swedish = Catalog(locale="sv")
    for english, translated in WORDS.items():
        swedish.add(english, translated)
    place = folder / "sv" / "LC_MESSAGES" / f"{catalogues.DOMAIN}.mo"
    place.parent.mkdir(parents=True)
    with place.open("wb") as file:
        write_mo(file, swedish)
    monkeypatch.setattr(catalogues, "LOCALE", folder)
    catalogues._catalogue.cache_clear()
    numbers.notation.cache_clear()
