"""The gettext catalogues: the English texts in the sources and their translations in ``.po`` files.

``extract`` writes the template, ``update`` brings every ``.po`` up to date with it, ``compile`` writes
the ``.mo`` files that the package reads, and ``check`` exits with 1 if one of these steps or a
translation is missing. ``update --language LANGUAGE`` starts a new language.

English is found where it is declared: in calls such as ``say("…")`` or ``UserError("…")``, in the fields
of a test's card, and in the page templates. A text elsewhere is marked with ``N_("…")``.
"""

from __future__ import annotations

import argparse
import ast
import io
import string
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment, nodes

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gendalens"
LOCALE = PACKAGE / "words" / "locale"
DOMAIN = "gendalens"
TEMPLATE = LOCALE / f"{DOMAIN}.pot"

#: The position of the sentence among a call's arguments.
SENTENCES = dict.fromkeys(("N_", "UserError", "phrase", "say", "translate", "write"), 0)
SENTENCES |= {"Template": 1, "Planted": 2}
#: The package of these functions; other modules may define their own ``write``.
MAKERS = "gendalens.words"
#: The fields that hold only texts; the other fields of these types are names and numbers.
FIELDS = {
    "Advice": {"in_use", "checks", "mitigation"},
    "Band": {"unit", "why"},
    "Card": {"title", "idea", "formula", "reading", "definitions", "citation"},
    "Cell": {"condition", "group"},
    "Contrast": {"unit"},
    "Effect": {"harm", "source"},
    "Example": {"condition", "outcome"},
    "Extra": {"unit"},
    "Leanings": {"what", "unit"},
    "Option": {"help"},
    "Evidence": {"unit"},
    "Readings": {"male", "female", "alike", "groups"},
}
#: Constants whose literals are all texts.
CONSTANTS = {"BINARY", "HARMS", "SOURCES", "STANDARD_DANISH"}
#: The position of the text among a call's arguments in page templates.
IN_PAGES = {"t": 0, "attribute": 1}

HEADER = "# The texts of GenDa Lens."
# The date of a catalogue is in the git history; a date in its header would change with every update.
DATE = datetime(2025, 1, 1, tzinfo=UTC)


class Found(NamedTuple):
    """An English text and its location."""

    text: str
    file: str
    line: int


def find_messages(package: Path = PACKAGE) -> list[Found]:
    """Every text of the package that is meant for people, by file and line."""
    found = [
        Found(text, path.relative_to(package.parents[1]).as_posix(), line)
        for pattern, find in (("*.py", find_in_source), ("*.j2", find_in_page))
        for path in package.rglob(pattern)
        for text, line in find(path.read_text(encoding="utf-8"))
    ]
    return sorted((one for one in found if one.text), key=lambda one: (one.file, one.line))


def find_in_source(source: str) -> Iterator[tuple[str, int]]:
    r"""The texts of one Python module with their lines.

    >>> list(find_in_source(
    ...     'from gendalens.errors import UserError\n'
    ...     'raise UserError("There is no " "file {path}.", path=path)'
    ... ))
    [('There is no file {path}.', 2)]
    """
    tree = ast.parse(source)
    if _brings_words(tree):
        return
    makers = _find_makers(tree)
    constants = {
        target.id: value
        for node in tree.body
        for target, value in _assignments(node)
        if isinstance(target, ast.Name)
    }
    for name in CONSTANTS & constants.keys():
        yield from _literals(constants[name], {})
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else ""  # methods are not meant
        if name in makers and len(node.args) > makers[name]:
            yield from _literals(node.args[makers[name]], constants)
        for keyword in node.keywords:
            if keyword.arg in FIELDS.get(name, ()):
                yield from _literals(keyword.value, constants)
    for node in ast.walk(tree):  # the defaults of a dataclass of texts
        if isinstance(node, ast.ClassDef) and node.name in FIELDS:
            for target, value in (pair for one in node.body for pair in _assignments(one)):
                if isinstance(target, ast.Name) and target.id in FIELDS[node.name]:
                    yield from _literals(value, constants)


def _brings_words(tree: ast.Module) -> bool:
    """Whether a test or backend in a module brings its own translations."""
    return any(
        isinstance(target, ast.Name) and target.id == "words" and bool(getattr(value, "keys", ()))
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for one in node.body
        for target, value in _assignments(one)
    )


def find_in_page(source: str) -> Iterator[tuple[str, int]]:
    """The texts of one page template with their lines."""
    for call in Environment(autoescape=True).parse(source).find_all(nodes.Call):
        place = IN_PAGES.get(call.node.name) if isinstance(call.node, nodes.Name) else None
        if place is not None and len(call.args) > place:
            yield from _page_literals(call.args[place])


def _find_makers(tree: ast.Module) -> dict[str, int]:
    """The functions of a module that make sentences, with the position of the text argument.

    They include the module's own functions that pass a text on to such a function.
    """
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(MAKERS)
        for alias in node.names
    }
    makers = {name: n for name, n in SENTENCES.items() if name in imported or not name.islower()}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        for call in ast.walk(function):
            match call:
                case ast.Call(func=ast.Name(id=maker), args=[*given]) if (
                    maker in SENTENCES and maker in makers and len(given) > SENTENCES[maker]
                ):
                    handed_on = given[SENTENCES[maker]]
                    if isinstance(handed_on, ast.Name) and handed_on.id in names:
                        makers.setdefault(function.name, names.index(handed_on.id))
    return makers


def _assignments(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value


def _literals(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[tuple[str, int]]:
    """The strings in an expression, without those that are only compared or used as keys."""
    match node:
        case ast.Constant(value=str(text)):
            yield text, node.lineno
        case ast.BinOp(op=ast.Add()) if text := _join(node):
            yield text, node.lineno
        case ast.IfExp(body=body, orelse=orelse):
            yield from _literals(body, constants)
            yield from _literals(orelse, constants)
        case ast.Subscript(value=ast.Name(id=name)) if name in constants:
            table = constants[name]
            for entry in table.values if isinstance(table, ast.Dict) else ():
                yield from _literals(entry, constants)
        case ast.Name(id=name) if name in constants:
            yield from _literals(constants[name], {})
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
            for element in parts:
                yield from _literals(element, constants)
        case ast.Dict(keys=keys, values=values):
            for part in filter(None, (*keys, *values)):
                yield from _literals(part, constants)


def _join(node: ast.expr) -> str:
    """Concatenated literals; empty if another expression is among them."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _join(left), _join(right)
            return first + second if first and second else ""
    return ""


def _page_literals(node: nodes.Node) -> Iterator[tuple[str, int]]:
    match node:
        case nodes.Const(value=str(text)):
            yield text, node.lineno
        case nodes.CondExpr():
            for part in (node.expr1, node.expr2):
                if part is not None:
                    yield from _page_literals(part)


@cache
def build_template() -> Catalog:
    """The catalogue of everything to translate."""
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, file, line in find_messages():
        places[text].append((file, line))
    template = Catalog(
        project="GenDa Lens",
        version="1",
        header_comment=HEADER,
        creation_date=DATE,
        revision_date=DATE,
        fuzzy=False,
    )
    for text, locations in places.items():
        template.add(text, locations=locations)
    return template


def list_catalogues() -> list[Path]:
    """Every ``.po`` file."""
    return sorted(LOCALE.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def read_catalogue(path: Path) -> Catalog:
    """The catalogue in a ``.po`` file."""
    with path.open("rb") as file:
        return read_po(file, locale=None if path == TEMPLATE else path.parts[-3], domain=DOMAIN)


def merge(catalogue: Catalog, template: Catalog) -> list[str]:
    """Bring a catalogue up to date with the template; returns the obsolete texts that were removed.

    A new text that resembles an old one gets its translation, marked as fuzzy until a translator
    reviews it.
    """
    catalogue.update(template, update_header_comment=True)
    gone = [str(message.id) for message in catalogue.obsolete.values()]
    catalogue.obsolete.clear()
    return gone


def write_text(catalogue: Catalog) -> bytes:
    """A catalogue as the bytes of a ``.po`` or ``.pot`` file, sorted by source file."""
    for message in catalogue:
        message.flags.discard("python-format")  # per cent signs are literal here
    file = io.BytesIO()
    write_po(file, catalogue, sort_by_file=True, include_lineno=False, width=100)
    return file.getvalue()


def compile_catalogue(catalogue: Catalog) -> bytes:
    """A catalogue as the bytes of a ``.mo`` file."""
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def find_placeholders(text: str) -> set[str]:
    """The placeholders of a sentence, with their format specifications.

    >>> sorted(find_placeholders("{count:,} of {{all}} in {path}"))
    ['count:,', 'path:']
    """
    try:
        return {f"{name}:{spec}" for _, name, spec, _ in string.Formatter().parse(text) if name}
    except ValueError:  # a single brace, so there are no placeholders
        return set()


def find_faults(catalogue: Catalog, template: Catalog) -> list[str]:
    """What is wrong with the translations of one catalogue."""
    wanted, given = read_texts(template), read_texts(catalogue)
    faults = [f"missing: {text}" for text in wanted if not given.get(text)]
    faults += [f"unused: {text}" for text in given if text not in wanted]
    faults += [f"fuzzy: {message.id!s}" for message in catalogue if message.id and message.fuzzy]
    faults += [
        f"other placeholders: {text} | {translation}"
        for text, translation in given.items()
        if translation and find_placeholders(text) != find_placeholders(translation)
    ]
    return faults


def check() -> list[str]:
    """Everything that remains to be done by this tool or a translator, one line each."""
    template = build_template()
    faults = []
    if not TEMPLATE.is_file() or read_texts(read_catalogue(TEMPLATE)) != read_texts(template):
        faults.append(f"{TEMPLATE.name} is stale")
    for path in list_catalogues():
        catalogue, name = read_catalogue(path), path.relative_to(LOCALE).as_posix()
        faults += [f"{name}: {fault}" for fault in find_faults(catalogue, template)]
        if not is_compiled(catalogue, path.with_suffix(".mo")):
            faults.append(f"{name}: its .mo is stale")
    return faults


def is_compiled(catalogue: Catalog, path: Path) -> bool:
    """Whether a ``.mo`` file has the content of the catalogue."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        compiled = read_texts(read_mo(file))
    return compiled == {text: said for text, said in read_texts(catalogue).items() if said}


def read_texts(catalogue: Catalog) -> dict[str, str]:
    """The texts of a catalogue with their translations, without its header, which names Babel."""
    return {str(one.id): str(one.string or "") for one in catalogue if one.id}


def extract() -> None:
    """Write the template."""
    TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    TEMPLATE.write_bytes(write_text(build_template()))


def update(language: str = "") -> list[str]:
    """Update every catalogue and start that of a new language; returns the removed texts."""
    extract()
    if language:
        path = LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            fresh = Catalog(locale=language, project="GenDa Lens", version="1", fuzzy=False)
            fresh.creation_date = fresh.revision_date = DATE
            path.write_bytes(write_text(fresh))
    gone: list[str] = []
    for path in list_catalogues():
        catalogue = read_catalogue(path)
        gone += merge(catalogue, build_template())
        path.write_bytes(write_text(catalogue))
    return gone


def compile_all() -> None:
    """Write the ``.mo`` file of every catalogue."""
    for path in list_catalogues():
        path.with_suffix(".mo").write_bytes(compile_catalogue(read_catalogue(path)))


def main() -> None:
    """Run one of the four steps."""
    parser = argparse.ArgumentParser(description="Maintain the message catalogues.")
    parser.add_argument("step", choices=("extract", "update", "compile", "check"))
    parser.add_argument("--language", default="", help="update: start a catalogue, such as sv")
    given = parser.parse_args()
    match given.step:
        case "extract":
            extract()
        case "update":
            for text in update(given.language):
                sys.stdout.write(f"no longer needed: {text}\n")
        case "compile":
            compile_all()
        case "check":
            faults = check()
            sys.stdout.writelines(f"{fault}\n" for fault in faults)
            sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
