"""``--data builtin``: the built-in sets in place of the official ones, where asked for and only there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_data import small_data

import gendalens
from gendalens.data import choice, registry, sets
from gendalens.data.builtin import catalogue
from gendalens.errors import UserError
from gendalens.version import __version__

ORIGIN = f"gendalens {__version__}, CC BY 4.0"
FAIR = "control:fair"


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "gendalens", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", timeout=120)


def test_there_is_a_built_in_set_for_every_official_one() -> None:
    assert list(catalogue.SETS) == list(registry.SETS)


def test_builtin_stands_for_every_set_in_python_and_on_the_command_line() -> None:
    everything = dict.fromkeys(registry.SETS, "builtin")
    assert choice.read_choices("builtin") == everything
    assert choice.parse_choices(["builtin"]) == everything


def test_a_set_that_is_named_goes_before_builtin_whichever_comes_first() -> None:
    for parts in (["builtin", "abc=own"], ["abc=own", "builtin"]):
        chosen = choice.parse_choices(parts)
        assert chosen["abc"] == Path("own")
        assert chosen["dane"] == "builtin"


def test_a_path_called_builtin_is_a_path_in_python() -> None:
    assert choice.read_choices({"abc": Path("builtin")}) == {"abc": Path("builtin")}
    assert choice.read_choices({"abc": "builtin"}) == {"abc": "builtin"}


@pytest.mark.parametrize("data", ["built-in", "abc"])
def test_another_word_for_all_sets_is_refused(data: str) -> None:
    with pytest.raises(UserError, match="pass 'builtin', or a mapping of sets to paths"):
        gendalens.run(FAIR, data=data)


@pytest.mark.parametrize("task", ["lm-abc", "coref-abc"])
def test_a_result_names_the_built_in_set_and_its_checksum(task: str) -> None:
    (result,) = gendalens.run(FAIR, tasks=task, data={"abc": "builtin"}, sample=60, offline=True)
    checksum = registry.find_source("abc", override="builtin").checksum
    assert result.data == {"abc": {"from": ORIGIN, "sha256": checksum, "whose": "builtin"}}
    assert f"data:abc@{checksum[:12]}|" in result.signature
    assert checksum != registry.checksum("abc")


@pytest.mark.parametrize("task", ["lm-dawinobias", "coref-dawinobias", "ner-dane"])
def test_every_test_runs_on_the_built_in_sets_with_nothing_fetched(
    task: str, own_home: Path
) -> None:
    (result,) = gendalens.run(FAIR, tasks=task, data="builtin", sample=40, offline=True)
    assert {data["from"] for data in result.data.values()} == {ORIGIN}
    assert not (own_home / "data").exists()


@pytest.mark.parametrize("task", ["lm-abc", "lm-dawinobias"])
def test_the_headline_on_built_in_sets_does_not_rest_on_unproven_occupations(task: str) -> None:
    (result,) = gendalens.run(FAIR, tasks=task, data="builtin", sample=200)
    more = result.find_extra("ges_with_unproven")
    assert more.value != result.gender_effect_size.value
    assert more.n is not None
    assert result.conditions[0].n < more.n


def test_the_kinds_of_schemas_are_told_apart() -> None:
    found = gendalens.run(FAIR, tasks=["lm-dawinobias", "coref-dawinobias"], data="builtin")
    for result in found:
        numbers = {extra.id: extra.n for extra in result.extra if extra.id.startswith("gap_")}
        # Without the schemas that have an unproven occupation.
        kinds = ("world_lines", "world_lines_without_cue", "syntax_lines")
        assert [numbers[f"gap_{kind}"] for kind in kinds] == [376, 266, 370]


def test_an_occupation_is_contested_by_the_table_of_its_own_set(tmp_path: Path) -> None:
    own = registry.find_source("abc", override=small_data(tmp_path)["abc"])
    doubtful = {triple.occupation for triple in sets.read_triples(own) if triple.contested}
    assert doubtful == {"sygeplejersken"}
    lines = sets.read_wino_lines(registry.find_source("dawinobias", override="builtin"))
    # The official table contests the accountant, whom Danish figures of this one class as male.
    unproven = {line.referent.occupation: line.referent.unproven for line in lines}
    assert (unproven["revisoren"], unproven["smeden"]) == (False, True)


def test_built_in_and_own_sets_may_be_mixed_in_one_run(tmp_path: Path) -> None:
    own = small_data(tmp_path)
    found = gendalens.run(
        FAIR,
        tasks=["lm-abc", "lm-dawinobias"],
        data={"abc": "builtin", "dawinobias": own["dawinobias"]},
        sample=10,
    )
    assert {result.task: result.data[result.task[3:]]["from"] for result in found} == {
        "lm-abc": ORIGIN,
        "lm-dawinobias": "the user's own folder",
    }


def test_without_the_word_the_official_set_is_asked_for() -> None:
    with pytest.raises(UserError, match=r"'abc' is not in .* may not be fetched offline"):
        gendalens.run(FAIR, tasks="lm-abc", offline=True)


def test_protocol_one_reads_no_built_in_set() -> None:
    with pytest.raises(
        UserError, match=r"Protocol 1 .* does not read built-in sets: use protocol 2"
    ):
        gendalens.run("no-such-model", protocol=1, data="builtin")


def test_one_of_the_two_name_lists_alone_cannot_be_built_in() -> None:
    source = registry.Source("names", Path(), (), "", whose="builtin", origin="")
    other = registry.Source("minority-names", Path(), (), "", whose="official", origin="")
    with pytest.raises(UserError, match="use it for both 'names' and 'minority-names'"):
        sets.read_name_pools(source, other, "top")


def test_a_built_in_file_that_is_missing_says_to_install_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(UserError, match=r"built-in set 'abc' cannot be read .*reinstall gendalens"):
        registry.find_source("abc", override="builtin")
    assert {status.state for status in registry.list_builtin_sets()} == {"damaged"}


def test_the_command_line_takes_builtin_for_one_set_and_says_so(tmp_path: Path) -> None:
    done = command(
        *("run", FAIR, "--tasks", "lm-abc", "--data", "abc=builtin", "--sample", "60"),
        *("--offline", "--out", tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert f"abc: built in ({ORIGIN})" in done.stdout
    (file,) = tmp_path.rglob("result.json")
    assert json.loads(file.read_text(encoding="utf-8"))["data"]["abc"]["from"] == ORIGIN


def test_the_list_shows_the_built_in_sets_beside_the_official_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from gendalens.cli.data import list_sets

    list_sets()
    shown = capsys.readouterr().out
    assert shown.count("abc ") == 2
    assert "built in" in shown
    assert registry.find_source("abc", override="builtin").checksum[:8] in shown


def test_the_preview_of_names_takes_the_built_in_sets() -> None:
    done = command("names", "preview", "--data", "builtin", "--offline")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("minority female") == 4  # once in the table, once for each sentence
