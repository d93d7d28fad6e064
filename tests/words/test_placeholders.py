"""Every sentence in the code gets a value for each of its placeholders, and no other."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import gendalens

#: What takes a sentence as its first argument and values by name.
SPEAKERS = {"UserError", "say", "phrase"}
#: Parameters of UserError's own.
OWN = {"code"}


def list_calls() -> Iterator[tuple[str, set[str], set[str]]]:
    """Place, placeholders and named values of every call whose values are all written out."""
    root = Path(gendalens.__file__).parent
    trees = {path: ast.parse(path.read_bytes()) for path in sorted(root.rglob("*.py"))}
    templates = {path: dict(_list_templates(tree)) for path, tree in trees.items()}
    declared = Counter(name for some in templates.values() for name in some)
    # A name that two modules use is known where it is declared alone.
    shared = {
        name: text
        for some in templates.values()
        for name, text in some.items()
        if declared[name] == 1
    }
    for path, tree in trees.items():
        known = shared | templates[path]
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or any(one.arg is None for one in call.keywords):
                continue
            name = _read_name(call.func)
            text = known.get(name)
            if name in SPEAKERS and call.args:
                text = _read_text(call.args[0])
            if text is not None:
                values = {one.arg for one in call.keywords if one.arg} - OWN
                place = f"{path.relative_to(root)}:{call.lineno}"
                yield place, {field for _, field, _, _ in Formatter().parse(text) if field}, values


def _list_templates(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names of the templates that a module declares, with their sentences."""
    for one in tree.body:
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            [target] = one.targets
            is_template = _read_name(one.value.func) == "Template" and len(one.value.args) == 2
            if is_template and isinstance(target, ast.Name):
                text = _read_text(one.value.args[1])
                if text is not None:
                    yield target.id, text


def _read_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _read_text(argument: ast.expr) -> str | None:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return None


def test_every_placeholder_gets_its_value() -> None:
    calls = list(list_calls())
    assert len(calls) > 500
    wrong = {
        place: (wanted, given)
        for place, wanted, given in calls
        if {name.partition("[")[0].partition(".")[0] for name in wanted} != given
    }
    assert wrong == {}
