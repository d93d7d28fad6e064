"""The catalogues: every text translated, none left over, every value in its place, compiled."""

from __future__ import annotations

import ast
import io
import shutil
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from gendalens.words import ENGLISH, languages, translate
from tools import messages
from tools.messages import PACKAGE, find_faults, find_in_page, find_in_source, find_placeholders

IMPORT = "from gendalens.words import N_, Template, phrase, say, translate, write\n"


# The catalogues of the package


@pytest.mark.parametrize("path", messages.list_catalogues(), ids=lambda path: path.parts[-3])
def test_a_catalogue_misses_no_text_and_keeps_none_that_is_gone(path: Path) -> None:
    assert find_faults(messages.read_catalogue(path), messages.build_template()) == []


@pytest.mark.parametrize("path", messages.list_catalogues(), ids=lambda path: path.parts[-3])
def test_a_catalogue_is_compiled(path: Path) -> None:
    assert messages.is_compiled(messages.read_catalogue(path), path.with_suffix(".mo"))


def test_there_is_nothing_to_do() -> None:
    assert messages.check() == []


def test_danish_is_a_language_and_says_how_it_is_called() -> None:
    assert languages() == (ENGLISH, *(path.parts[-3] for path in messages.list_catalogues()))
    assert translate("English", "da") == "Dansk"


def test_every_sentence_is_given_the_values_it_names() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and lacks_values(call)
    ]
    assert wrong == []


def lacks_values(call: ast.Call) -> bool:
    """Whether a sentence names other values than it is given; where ``**`` gives some, more may come."""
    match call:
        case ast.Call(
            func=ast.Name(id="UserError" | "phrase" | "say"),
            args=[ast.Constant(value=str(text))],
        ):
            named = {placeholder.partition(":")[0] for placeholder in find_placeholders(text)}
            given = {keyword.arg for keyword in call.keywords}
            more = None in given
            return not named >= given - {None} if more else bool(given) and named != given
    return False


@pytest.mark.parametrize(
    "code",
    [
        'say("{a} and {b}", a=1)',
        'phrase("{a:,}", a=1, b=2)',
        'UserError("There is no {path}.", file="x")',
        'UserError("There is no {path}.", file="x", **more)',
    ],
)
def test_a_sentence_without_its_values_is_found(code: str) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert lacks_values(call)


def test_no_sentence_is_put_together_before_it_can_be_translated() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and is_put_together(call)
    ]
    assert wrong == []


def is_put_together(call: ast.Call) -> bool:
    """Whether the sentence of a call is no text of ours as it stands, nor something that holds one."""
    place = messages.SENTENCES.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if place is None or len(call.args) <= place:
        return False
    match call.args[place]:
        case ast.JoinedStr():
            return True
        case ast.BinOp() as sum_of_texts:
            return not list(find_in_source(f"{IMPORT}say({ast.unparse(sum_of_texts)})"))
        case ast.Call(func=ast.Attribute(value=ast.Constant())):  # "…".format(…), ", ".join(…)
            return True
    return False


@pytest.mark.parametrize(
    ("code", "is_wrong"),
    [
        ('UserError(f"There is no {path}.")', True),
        ('UserError("There is no " + path)', True),
        ('UserError("There is no %s." % path)', True),
        ('say("There is no {}.".format(path))', True),
        ('Template("code", f"{NAME} is gone")', True),
        ('UserError("There " + "is no {path}.", path=path)', False),
        ("UserError(message)", False),
        ("say(CARD.title)", False),
    ],
)
def test_a_sentence_that_is_put_together_is_found(code: str, is_wrong: bool) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert is_put_together(call) is is_wrong


# What the tool finds in sources


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ('say("one")', ["one"]),
        ('phrase("one {n}", n=2)', ["one {n}"]),
        ('say("one " "and two")', ["one and two"]),
        ('say("one " + "and two")', ["one and two"]),
        ('say("one" if many else "two")', ["one", "two"]),
        ('WORDS = {"a": N_("one"), "b": N_("two")}', ["one", "two"]),
        ('T = Template("a_code", "one")', ["one"]),
        ('ONE = "one"\ntranslate(ONE)', ["one"]),
        ('raise UserError("one", name="two")', ["one"]),
        ('FIXES = {"a": "one", "b": "two"}\nraise UserError(FIXES[code])', ["one", "two"]),
        ('Option(name="a", default=1, help="one")', ["one"]),
        ('Effect(harm="one", source="two")', ["one", "two"]),
        (
            'Card(name="a", data=("b",), needs={"c"}, title="one", definitions=(("two", "three"),))',
            ["one", "two", "three"],
        ),
        ('class Readings:\n    male: str = "one"\n    code: str = "a"', ["one"]),
        ('HARMS = {"one": "two"}', ["one", "two"]),
        ('def fail(code, text): say(text)\nfail(1, "one")', ["one"]),
        ('sys.stderr.write("a")', []),
        ('say(f"a {n}")', []),
        ('say(a + "b")', []),
        ('say(words["a"])', []),
        ('print("a")', []),
    ],
)
def test_the_texts_of_a_module_are_found(code: str, texts: list[str]) -> None:
    assert [text for text, _ in find_in_source(IMPORT + code)] == texts


def test_a_function_of_another_module_that_has_the_same_name_is_another_thing() -> None:
    assert list(find_in_source('from files import write\nwrite("a")')) == []


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ('<p>{{ t("one") }}</p>', ["one"]),
        ('{{ t("one {n}", n=t("two")) }}', ["one {n}", "two"]),
        ('{{ t("one" if many else "two") }}', ["one", "two"]),
        ('<p {{ attribute("aria-label", "one") }}>', ["one"]),
        ("{{ t(result.finding) }}", []),
        ("<p>one</p>{{ shortened(name) }}", []),
    ],
)
def test_the_texts_of_a_page_are_found(page: str, texts: list[str]) -> None:
    assert [text for text, _ in find_in_page(page)] == texts


# What it finds wrong


def catalogue(**translations: str) -> Catalog:
    made = Catalog(locale="da")
    for text, translation in translations.items():
        made.add(text.replace("_", " "), translation)
    return made


def test_a_text_that_is_missing_unused_or_fuzzy_is_a_fault() -> None:
    template, danish = catalogue(one="", two="", three=""), catalogue(two="to", four="fire")
    danish.add("three", "tre", flags=["fuzzy"])

    assert find_faults(danish, template) == ["missing: one", "unused: four", "fuzzy: three"]


@pytest.mark.parametrize(
    ("text", "translation", "is_fault"),
    [
        ("{n} of {all}", "{n} af {all}", False),
        ("{n} of {all}", "af {all} er {n}", False),
        ("{n} of {all}", "{n} af {alle}", True),
        ("{n} of {all}", "{n}", True),
        ("{n:,} lines", "{n} linjer", True),
        ("{n} lines", "{n linjer", True),
        ("lines", "{n} linjer", True),
        ('{{"id"}} in {n}', '{{"id"}} i {n}', False),
    ],
)
def test_a_translation_with_other_values_is_a_fault(
    text: str, translation: str, is_fault: bool
) -> None:
    template, danish = Catalog(), Catalog(locale="da")
    template.add(text)
    danish.add(text, translation)

    assert bool(find_faults(danish, template)) is is_fault


def test_a_compiled_file_that_is_absent_or_older_is_stale(tmp_path: Path) -> None:
    danish, file = catalogue(one="en"), tmp_path / "x.mo"
    assert not messages.is_compiled(danish, file)
    file.write_bytes(messages.compile_catalogue(danish))
    assert messages.is_compiled(danish, file)
    danish.add("two", "to")
    assert not messages.is_compiled(danish, file)


def test_an_update_keeps_translations_adds_texts_and_drops_those_that_are_gone() -> None:
    danish = catalogue(one="en", gone_for_ever="væk")

    assert messages.merge(danish, catalogue(one="", nothing_like_it="")) == ["gone for ever"]
    assert messages.read_texts(danish) == {"one": "en", "nothing like it": ""}
    assert b"gone for ever" not in messages.write_text(danish)


def test_a_text_that_was_reworded_keeps_its_translation_to_be_read_again() -> None:
    danish = catalogue(the_model_finds_nothing="modellen finder intet")
    template = catalogue(the_model_finds_nothing_here="")

    messages.merge(danish, template)

    assert find_faults(danish, template) == ["fuzzy: the model finds nothing here"]


def test_a_catalogue_comes_back_from_its_file_without_lines_of_sources() -> None:
    made = Catalog(locale="da")
    made.add("50% off {n}", "50 % af {n}", locations=[("src/a.py", 12)])
    written = messages.write_text(made)

    assert b"#: src/a.py\n" in written
    assert b"python-format" not in written
    assert messages.read_texts(read_po(io.BytesIO(written), locale="da")) == {
        "50% off {n}": "50 % af {n}"
    }


def test_a_new_language_begins_with_every_text_and_is_one_file_to_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locale = tmp_path / "locale"
    shutil.copytree(messages.LOCALE, locale)
    monkeypatch.setattr(messages, "LOCALE", locale)
    monkeypatch.setattr(messages, "TEMPLATE", locale / messages.TEMPLATE.name)

    messages.update("sv")
    messages.compile_all()

    template = messages.build_template()
    swedish = messages.read_catalogue(locale / "sv" / "LC_MESSAGES" / "gendalens.po")
    assert messages.read_texts(swedish) == messages.read_texts(template)
    assert {fault.partition(": ")[0] for fault in find_faults(swedish, template)} == {"missing"}
    assert (locale / "sv" / "LC_MESSAGES" / "gendalens.mo").is_file()
