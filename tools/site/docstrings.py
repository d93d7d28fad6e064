"""An extension of griffe: docstrings as the site shows them.

Roles (``:func:`run```) become plain code, and an example that follows the text directly gets the heading
that numpy's style asks for.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|meth|mod|attr):(`[^`]+`)")
EXAMPLE = re.compile(r"^>>> ", re.MULTILINE)


def rewrite(text: str) -> str:
    """A docstring without roles, its example under a heading."""
    text = ROLE.sub(r"\1", text)
    example = EXAMPLE.search(text)
    if example is None or "Examples\n--------" in text:
        return text
    return f"{text[: example.start()]}Examples\n--------\n{text[example.start() :]}"


class Docstrings(griffe.Extension):  # type: ignore[misc]
    """Rewrites the docstring of every object before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = rewrite(obj.docstring.value)
