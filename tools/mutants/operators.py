"""The mutants of a source file: what one small mistake could turn it into."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Pow: "*",
}
#: Words that are easily mistaken for each other, as names, attributes and literals.
_PAIRS = (
    ("female", "male"),
    ("pro", "anti"),
    ("majority", "minority"),
    ("low", "high"),
    ("left", "right"),
    ("hun", "han"),
    ("hendes", "hans"),
    ("p", "p_adjusted"),
    ("value", "low"),
    ("min", "max"),
    ("any", "all"),
    ("gap", "contrast"),
    ("conditions", "nuance"),
    ("main", "groups"),
    ("start", "end"),
    ("PER", "LOC"),
)
#: A node with a position in the text.
_Located: TypeAlias = ast.expr | ast.keyword
_EXCHANGES = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one place of a file."""

    file: str
    line: int
    scope: str
    operator: str
    before: str
    after: str
    start: int
    end: int
    #: Which of the same changes in the same scope it is, from 1.
    number: int = 1

    @property
    def key(self) -> str:
        """What identifies it while the code around it changes."""
        change = f"{' '.join(self.before.split())} -> {' '.join(self.after.split())}"
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file}::{self.scope}::{self.operator}::{change}{again}"

    def apply(self, source: bytes) -> bytes:
        """The source with the change."""
        assert source[self.start : self.end].decode() == self.before
        return source[: self.start] + self.after.encode() + source[self.end :]


class _Edit(NamedTuple):
    operator: str
    start: int
    end: int
    after: str


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    found: dict[tuple[int, int, str], Mutant] = {}
    for edit, scope in finder.edits:
        before = source[edit.start : edit.end].decode()
        if before.split() == edit.after.split():
            continue
        line = source.count(b"\n", 0, edit.start) + 1
        mutant = Mutant(file, line, scope, edit.operator, before, edit.after, edit.start, edit.end)
        found.setdefault((edit.start, edit.end, edit.after), mutant)
    same: Counter[str] = Counter()
    numbered = []
    for one in sorted(found.values(), key=lambda one: (one.start, one.end, one.after)):
        same[one.key] += 1
        numbered.append(replace(one, number=same[one.key]))
    return numbered


class _Finder(ast.NodeVisitor):
    """Collects the edits of a module; annotations, decorators and docstrings are left alone."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._begins = [0]
        for line in source.splitlines(keepends=True):
            self._begins.append(self._begins[-1] + len(line))
        self._scopes: list[str] = []
        self.edits: list[tuple[_Edit, str]] = []

    def _add(self, operator: str, start: int, end: int, after: str) -> None:
        self.edits.append((_Edit(operator, start, end, after), ".".join(self._scopes) or "module"))

    def _start(self, node: _Located) -> int:
        return self._begins[node.lineno - 1] + node.col_offset

    def _end(self, node: _Located) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._begins[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: _Located) -> str:
        return self._source[self._start(node) : self._end(node)].decode()

    def _visit_scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._scopes.append(node.name)
        for part in node.body:
            self.visit(part)
        if not isinstance(node, ast.ClassDef):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.visit(default)
        self._scopes.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_scope  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self._add(
                "condition", self._start(test), self._end(test), f"({self._text(test.operand)})"
            )
        else:
            self._add(
                "condition", self._start(test), self._end(test), f"(not ({self._text(test)}))"
            )

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if self._is_closed(left, right):
                for other in _COMPARISONS[type(operator)]:
                    self._add("comparison", self._end(left), self._start(right), f" {other} ")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _ARITHMETIC.get(type(node.op))
        texts = (ast.JoinedStr, ast.List, ast.Tuple)
        is_text = any(
            isinstance(side, texts)
            or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
            for side in (node.left, node.right)
        )
        if other and not is_text and self._is_closed(node.left, node.right):
            self._add("arithmetic", self._end(node.left), self._start(node.right), f" {other} ")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in pairwise(node.values):
            if self._is_closed(left, right):
                self._add("junction", self._end(left), self._start(right), f" {other} ")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self._add("sign", self._start(node), self._start(node.operand), "")
        self.generic_visit(node)

    def _is_closed(self, left: _Located, right: _Located) -> bool:
        """Whether nothing but an operator stands between two operands (no bracket, no comment)."""
        between = self._source[self._end(left) : self._start(right)]
        return not set(b"()[]{}#\n") & set(between)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self._start(node), self._end(node)
        match node.value:
            case bool():
                self._add("constant", start, end, str(not node.value))
            case int() | float():
                self._add("constant", start, end, f"{node.value + 1!r}")
            case str() if node.value in _EXCHANGES and self._text(node)[:1] in "\"'":
                self._add("word", start, end, f'"{_EXCHANGES[node.value]}"')

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave f-strings alone: Python 3.11 gives no positions inside them."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _EXCHANGES and isinstance(node.ctx, ast.Load):
            end = self._end(node)
            self._add("name", end - len(node.attr), end, _EXCHANGES[node.attr])
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _EXCHANGES and isinstance(node.ctx, ast.Load):
            self._add("name", self._start(node), self._end(node), _EXCHANGES[node.id])

    def visit_Call(self, node: ast.Call) -> None:
        places = [one for one in node.args if not isinstance(one, ast.Starred)]
        if len(places) == len(node.args):
            for one, other in pairwise(places):
                self._exchange("arguments", one, other)
        named = [one for one in node.keywords if one.arg]
        for keyword, following in pairwise(named):
            self._exchange("keywords", keyword.value, following.value)
        for keyword in named:
            if keyword.arg == "strict":
                continue  # of zip: it asserts that lengths are equal, and they are
            end = self._end(keyword)
            comma = self._source[end : end + 1] == b","
            self._add("dropped keyword", self._start(keyword), end + comma, "")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Tuple) and len(target.elts) > 1:
                self._exchange("unpacking", *target.elts[:2])
        self.visit(node.value)

    def _exchange(self, operator: str, one: _Located, other: _Located) -> None:
        a, b = self._text(one), self._text(other)
        between = self._source[self._end(one) : self._start(other)].decode()
        if a != b:
            self._add(operator, self._start(one), self._end(other), f"{b}{between}{a}")
