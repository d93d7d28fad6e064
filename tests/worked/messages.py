"""Messages as a result holds them: codes and values, without the sentences made of them."""

from __future__ import annotations

from typing import Any


def message(code: str, **values: Any) -> dict[str, Any]:
    """A message with these values."""
    return {"code": code, "values": values}


def of(figure: dict[str, Any], part: Any) -> dict[str, Any]:
    """The name of a figure of a group or of a variant."""
    return message("figure.of", figure=figure, part=part)


def drop_texts(plain: Any) -> Any:
    """Plain data without the English text of its messages and findings."""
    if isinstance(plain, dict):
        kept = plain
        if "text" in plain and ("code" in plain or "headline" in plain):
            kept = {name: one for name, one in plain.items() if name != "text"}
        return {name: drop_texts(one) for name, one in kept.items()}
    return [drop_texts(one) for one in plain] if isinstance(plain, list) else plain
