"""Ways in which servers let a request constrain the answer to a few options or to a form."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

_FIELD = "svar"


def _write_schema(options: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {_FIELD: {"type": "string", "enum": list(options)}},
        "required": [_FIELD],
        "additionalProperties": False,
    }


def write_format(schema: Any) -> dict[str, Any]:
    """OpenAI's field for an answer in the form of a JSON schema."""
    described = {"name": "svar", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _write_grammar(options: Sequence[str]) -> str:
    return "root ::= " + " | ".join(json.dumps(option, ensure_ascii=False) for option in options)


#: By name, what a request carries so that its answer is one of the options, best known first.
CONSTRAINTS: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "structured_outputs": lambda options: {"structured_outputs": {"choice": list(options)}},
    "guided_choice": lambda options: {"guided_choice": list(options)},
    "grammar": lambda options: {"grammar": _write_grammar(options)},
    "json_schema": lambda options: write_format(_write_schema(options)),
}


def read_constrained(name: str, text: str) -> str:
    """The option in a constrained answer; the text itself if it is none."""
    if name != "json_schema":
        return text.strip()
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    value = plain.get(_FIELD) if isinstance(plain, dict) else None
    return value if isinstance(value, str) else text.strip()
