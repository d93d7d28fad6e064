"""Write the reference pages that follow from the code: ``python -m tools.site.reference``.

The command line comes from the commands themselves, the fields of a result from its JSON Schema. A test
compares the pages with what this writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import typer

from gendalens.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
MADE = "<!-- written by `make reference`: change the code, not this page -->"
COMMANDS = """# The command line

{made}

`gendalens COMMAND --help` prints what this page lists. Options may stand in any order.

| exit code | meaning |
|---|---|
| 0 | The command did what it was asked for, whatever a test found. |
| 2 | Something is wrong that you can put right; one sentence on standard error says what. |
| 130 | The command was interrupted; the same command resumes. |
| 70 | A bug in GenDa Lens. |

`gendalens gate` has [codes of its own](../gate.md).

"""
RESULT = """# The fields of a result

{made}

`result.json` holds one test of one model. Its JSON Schema is part of the package
([result.schema.json](../../src/gendalens/results/result.schema.json)); this page is made from it.
A figure that is undefined is `null`, and `reason` says why. Intervals are 95%. Programs read codes and
numbers; every `text` is there for people and may be worded differently in another version.

"""


def list_commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its path, groups included if they can be called."""
    for name, command in group.commands.items():
        here = (*path, name)
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield here, command
        if hasattr(command, "commands"):
            yield from list_commands(command, here)


def describe_commands() -> str:
    """The page of the command line."""
    group = typer.main.get_command(app)
    found = list(list_commands(group))
    rows = [
        f"| [`gendalens {' '.join(path)}`](#gendalens-{'-'.join(path)}) | {_first(command)} |"
        for path, command in found
    ]
    parts = ["\n".join(["| command | what it does |", "|---|---|", *rows]), ""]
    parts += [_describe_command(path, command) for path, command in found]
    return COMMANDS.format(made=MADE) + "\n".join(parts)


def _first(command: Any) -> str:
    return str(command.help or "").strip().splitlines()[0]


def _describe_command(path: tuple[str, ...], command: Any) -> str:
    parameters = command.get_params(typer.Context(command, info_name=path[-1]))
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    usage = " ".join(["gendalens", *path, *map(_name_argument, arguments), "[OPTIONS]"])
    text = " ".join(str(command.help or "").split())
    lines = [f"## gendalens {' '.join(path)}", "", text, "", f"`{usage}`", ""]
    rows = [_describe_parameter(one) for one in (*arguments, *options) if one.name != "help"]
    if rows:
        lines += ["| argument or option | what it is | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _name_argument(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper()).strip("[]")
    name = name if argument.nargs == 1 or name.endswith("...") else f"{name}..."
    return name if argument.required else f"[{name}]"


def _describe_parameter(one: Any) -> str:
    if one.param_type_name == "argument":
        name = _name_argument(one)
    else:
        name = ", ".join(sorted(one.opts, key=len, reverse=True))
        if not one.is_flag and one.metavar:
            name += f" {one.metavar}"
    default = "–"
    if one.required:
        default = "required"
    elif isinstance(one.show_default, str):
        default = one.show_default
    elif one.default or (one.default == 0 and not one.is_flag):
        default = f"`{one.default}`"
    return (
        f"| `{_escape(name)}` | {_escape(' '.join(str(one.help).split()))} | {_escape(default)} |"
    )


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def describe_result() -> str:
    """The page of the fields of a result."""
    schema = json.loads((files("gendalens.results") / "result.schema.json").read_text("utf-8"))
    parts = ["## The result", "", *_table(schema), ""]
    for name in ("model", "data", "finding"):
        part = schema["properties"][name]
        part = part.get("additionalProperties") or part
        parts += [f"## {name}", "", *_table(part), ""]
    for name, part in schema["$defs"].items():
        if "properties" in part:
            parts += [f"## {name}", "", *_intro(part), *_table(part), ""]
    for name, part in schema["$defs"].items():
        if "enum" in part:
            values = ", ".join(f"`{value}`" for value in part["enum"])
            parts += [f"## {name}", "", part.get("description", ""), "", f"One of {values}.", ""]
    return RESULT.format(made=MADE) + "\n".join(parts)


def _intro(part: Mapping[str, Any]) -> list[str]:
    return [part["description"], ""] if "description" in part else []


def _table(part: Mapping[str, Any]) -> list[str]:
    rows = [
        f"| `{name}` | {_name_type(field)} | {_escape(field.get('description', ''))} |"
        for name, field in part["properties"].items()
    ]
    return ["| field | type | what it is |", "|---|---|---|", *rows]


#: Definitions that are types in other words, and need no section.
PLAIN = {
    "number": "number or null",
    "p": "number from 0 to 1, or null",
    "value": "any value",
    "optional_message": "[message](#message) or null",
}


def _name_type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return PLAIN.get(name, f"[{name}](#{name})")
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join("null" if value is None else f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return f"list of {_name_type(field.get('items', {'type': 'values'}))}"
    if "properties" in field or isinstance(field.get("additionalProperties"), dict):
        return "object, see below"
    kinds = field.get("type", "value")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


PAGES = {
    "reference/command-line.md": describe_commands,
    "reference/result.md": describe_result,
}


def main() -> None:
    """Write both pages."""
    for name, describe in PAGES.items():
        (DOCS / name).write_text(describe().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
