"""No module reads a meaning out of a sentence: findings, reasons and warnings have codes and fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

PACKAGE = Path(__file__).parents[2] / "src" / "gendalens"
#: Where sentences are made, and so handled as text.
MAKERS = {PACKAGE / "errors.py", *(PACKAGE / "words").glob("*.py")}

#: What is a message, or was one before it was written: by the name of an attribute or a variable.
PROSE = {"verdict_reason", "reason", "finding", "correction", "warning", "warnings"}
PROSE |= {"problem", "note", "notice", "notices"}
#: What is a message in words in plain data; as an attribute it is the code of a verdict.
PROSE_KEYS = PROSE | {"verdict"}
#: What is a message only in certain things: the name of a figure, the kind of a model.
PROSE_OF = {
    "name": {"extra", "gap", "contrast", "interaction"},
    "kind": {"info", "model"},
    "text": PROSE | {"message"},
    "template": PROSE | {"message"},
}
#: Functions that put a message into words, and methods that leave words what they are.
WRITERS = {"str", "write", "say", "capital", "capitalize"}
KEEPERS = {"lower", "upper", "casefold", "strip", "rstrip", "lstrip", "capitalize"}
#: Methods that take words apart, and those of patterns.
CUTTERS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"}
CUTTERS |= {"split", "rsplit", "find", "rfind", "replace"}
PATTERNS = {"search", "match", "fullmatch", "findall", "finditer"}


def find_readers(source: str) -> list[str]:
    """The places of a module that read a meaning out of a sentence, as they stand there."""
    reader = _Reader()
    reader.visit(ast.parse(source))
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[str] = []
        self.errors: set[str] = set()  # names under which a sentence of ours was caught

    def report(self, node: ast.expr | ast.stmt) -> None:
        self.found.append(f"line {node.lineno}: {ast.unparse(node).splitlines()[0]}")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        ours = node.name is not None and "UserError" in ast.unparse(node.type or ast.Constant(""))
        before = set(self.errors)
        self.errors |= {str(node.name)} if ours else set()
        self.generic_visit(node)
        self.errors = before

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Attribute(value=value, attr=attr) if attr in CUTTERS and node.args:
                if self.is_prose(value):
                    self.report(node)
            case ast.Attribute(attr=attr) if attr in PATTERNS:
                if any(map(self.is_prose, node.args)):
                    self.report(node)
            case ast.Attribute(attr="get" | "index" | "count"):
                if any(map(self.is_written, node.args)):
                    self.report(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if self.is_written(node.slice):
            self.report(node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        membership = any(isinstance(sign, ast.In | ast.NotIn) for sign in node.ops)
        with_literal = any(map(_is_text, sides)) and any(map(self.is_prose, sides))
        if with_literal or (membership and any(map(self.is_written, sides))):
            self.report(node)
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        if self.is_prose(node.subject):
            self.report(node)
        self.generic_visit(node)

    def is_prose(self, node: ast.expr) -> bool:
        """Whether an expression is a message, or a message in words."""
        match node:
            case ast.Name(id=name):
                return name in PROSE
            case ast.Attribute(value=value, attr=attr):
                return attr in PROSE or _last_name(value) in PROSE_OF.get(attr, ())
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
                return key in PROSE_KEYS or _last_name(value) in PROSE_OF.get(key, ())
            case ast.Subscript(value=value):
                return self.is_prose(value)
            case ast.BoolOp(values=values):
                return any(map(self.is_prose, values))
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_prose(body) or self.is_prose(orelse)
        return self.is_written(node)

    def is_written(self, node: ast.expr) -> bool:
        """Whether an expression is a message in words, and no longer a message."""
        match node:
            case ast.Subscript(slice=ast.Constant(value="verdict")):  # was never anything else
                return True
            case ast.Call(func=ast.Name(id=name), args=[given, *_]) if name in WRITERS:
                caught = isinstance(given, ast.Name) and given.id in self.errors
                return caught or self.is_prose(given)
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in KEEPERS:
                return self.is_prose(value)
            case ast.JoinedStr(values=values):
                return any(
                    isinstance(one, ast.FormattedValue) and self.is_prose(one.value)
                    for one in values
                )
            case ast.Attribute(value=value, attr="text" | "template"):
                return _last_name(value) in PROSE_OF["text"]
        return False


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Call(func=ast.Attribute(attr="find_extra")):
            return "extra"
    return ""


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is a literal of words, or several of them; the empty one says nothing."""
    match node:
        case ast.Constant(value=str(text)):
            return bool(text)
        case ast.JoinedStr():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(map(_is_text, parts))
    return False


def find_readers_in_page(source: str) -> list[str]:
    """The same for a page template."""
    page = Environment(autoescape=True).parse(source)
    found = [
        f"line {call.lineno}: {call.node.attr}"
        for call in page.find_all(nodes.Call)
        if isinstance(call.node, nodes.Getattr)
        and call.node.attr in CUTTERS
        and _is_prose_in_page(call.node.node)
    ]
    found += [
        f"line {compared.lineno}: a comparison with words"
        for compared in page.find_all(nodes.Compare)
        if any(_is_prose_in_page(side) for side in _sides(compared))
        and any(isinstance(side, nodes.Const) and side.value for side in _sides(compared))
    ]
    found += [
        f"line {looked_up.lineno}: looked up by words"
        for looked_up in page.find_all(nodes.Getitem)
        if isinstance(looked_up.arg, nodes.Getitem)
        and getattr(looked_up.arg.arg, "value", None) == "verdict"
    ]
    return found


def _sides(compared: nodes.Compare) -> Iterator[nodes.Expr]:
    yield compared.expr
    for operand in compared.ops:
        yield operand.expr


def _is_prose_in_page(node: nodes.Node) -> bool:
    match node:
        case nodes.Name(name=name):
            return name in PROSE
        case nodes.Getattr(node=value, attr=attr):
            owner = getattr(value, "attr", getattr(value, "name", ""))
            return attr in PROSE or owner in PROSE_OF.get(attr, ())
        case nodes.Getitem(arg=nodes.Const(value=key)):
            return key in PROSE_KEYS
        case nodes.Filter(name="string" | "lower" | "trim", node=nodes.Node() as value):
            return _is_prose_in_page(value)
    return False


@pytest.mark.parametrize(
    "path",
    sorted(set(PACKAGE.rglob("*.py")) - MAKERS),
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_no_module_reads_a_meaning_out_of_a_sentence(path: Path) -> None:
    assert find_readers(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.j2")), ids=lambda path: path.name)
def test_no_page_reads_a_meaning_out_of_a_sentence(path: Path) -> None:
    assert find_readers_in_page(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "code",
    [
        'plain["verdict"].startswith("not measurable")',
        'next(style for start, style in STYLES.items() if row["verdict"].startswith(start))',
        'ges.reason and "unstable" in ges.reason',
        'row.figures.effect.reason and row.figures.effect.reason.startswith("unstable")',
        'before, mark, deviation = (cell.reason or "").partition(": SD ")',
        'str(cell.reason).removeprefix(f"{SPREAD}: SD ")',
        'quartiles = any("quartiles" in (cell.reason or "") for cell in cells)',
        'pair.finding.replace("the first", first)',
        'states[row["verdict"]]',
        'states.get(row["verdict"])',
        'result.model["kind"] == "control model"',
        'result.model.kind in ("masked language model", "causal language model")',
        'str(info.kind) == "causal language model"',
        'next(extra for extra in result.extra if extra.name == "sensitivity")',
        'str(result.finding) == "bias found"',
        'result.finding.message.text == "bias found"',
        'plain["reason"].startswith("unstable")',
        'plain["finding"]["text"] != "bias found"',
        'write(result.problem, "en").lower().endswith("undefined")',
        're.search("SD (.*)", str(cell.reason))',
        "STYLES[str(result.finding)]",
        'if f"{result.finding}" == "bias found": pass',
        'match str(result.finding):\n    case "bias found": pass',
        'try: load()\nexcept UserError as error: reason = str(error).rpartition(": ")[0]',
        'try: load()\nexcept (OSError, UserError) as error: known = "memory" in str(error)',
        '[w for w in result.warnings if "unstable" in str(w)]\nstr(warning).startswith("GES")',
    ],
)
def test_code_that_reads_a_sentence_is_found(code: str) -> None:
    assert find_readers(code)


@pytest.mark.parametrize(
    "code",
    [
        'result.finding.headline == "bias"',
        'result.finding.headline in ("not_measurable", "not_judged")',
        'result.finding.reason.code == "lm_abc.no_reflexive"',
        "STYLES[result.finding.headline]",
        'result.finding.groups.verdict == "bias"',
        "STYLES[evidence.verdict]",
        "if message not in warnings: warnings.append(message)",
        "reason is None and finding == other.finding",
        'reason == ""',
        'request.kind == "fill"',
        'control.kind == "always-han"',
        'find_extra("sensitivity").value',
        'card.name == "lm-abc" and row["text"].split(" ")',
        "replace(finding, correction=None)",
        'try: load()\nexcept ValueError as error: reason = str(error).partition(";")[0]',
        '" ".join(str(reason).split())',
        'line = f"{name}: {write(reason)}"',
    ],
)
def test_code_that_reads_codes_and_fields_passes(code: str) -> None:
    assert find_readers(code) == []


@pytest.mark.parametrize(
    "page",
    [
        '{% if row["verdict"].startswith("not") %}{% endif %}',
        '{% if (result.finding | string) == "bias found" %}{% endif %}',
        '{% if "unstable" in cell.reason %}{% endif %}',
        '{% if model.info.kind == "control model" %}{% endif %}',
        '{{ states[row["verdict"]] }}',
    ],
)
def test_a_page_that_reads_a_sentence_is_found(page: str) -> None:
    assert find_readers_in_page(page)


@pytest.mark.parametrize(
    "page",
    [
        '{% if result.finding.headline == "bias" %}{{ write(result.finding.reason) }}{% endif %}',
        "{% if cell.reason and cell.value is none %}{{ say(cell.reason) }}{% endif %}",
        '{% if contrast.unit == "bits" %}{% endif %}',
        '{% if result.finding.groups.verdict == "bias" %}{% endif %}',
    ],
)
def test_a_page_that_reads_codes_and_fields_passes(page: str) -> None:
    assert find_readers_in_page(page) == []
