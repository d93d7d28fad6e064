"""A site of results: what is merged, what is left out, and that every number is a result's."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from page_numbers import at, check_text, read_numbers
from small_runs import HOSTILE, renamed

import gendalens
from gendalens.cli.site import make_site
from gendalens.errors import UserError
from gendalens.report.html import page
from gendalens.report.site import site as site_module
from gendalens.report.site.addresses import name_file
from gendalens.report.site.build import BuiltSite, build_site
from gendalens.results.saved_results import find_results, load_result
from gendalens.tasks import get_task


@pytest.fixture(autouse=True)
def no_chart_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library of charts takes seconds to make, and nothing here draws."""
    monkeypatch.setattr(page, "_read_bundle", lambda: "library")


@pytest.fixture(scope="module")
def built(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> BuiltSite:
    """A site of two models in all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "_read_bundle", lambda: "library")
        return build_site(small_run, tmp_path_factory.mktemp("site") / "public")


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def one_test(run: Path, model: str = "stereotyped") -> Path:
    """The folder of one result."""
    return next(
        path.parent
        for path in run.rglob("result.json")
        if f"{model}" in str(path) and "lm-abc" in str(path)
    )


def test_there_is_a_page_for_every_model_test_and_occupation(
    built: BuiltSite, small_run: Path
) -> None:
    folder = built.index.parent
    results = [one.result for one in find_results([small_run])]
    assert built.models == 2
    assert built.results == len(results)
    assert len(list((folder / "models").iterdir())) == 2
    tests = {f"{one.task}-{one.protocol}.html" for one in results}
    assert {path.name for path in (folder / "tests").iterdir()} == tests
    held = json.loads((folder / "data/results.json").read_text(encoding="utf-8"))
    pages = {f"{name_file(one['name'])}.html" for one in held["occupations"]}
    assert {path.name for path in (folder / "occupations").iterdir()} == {*pages, "index.html"}
    assert len(pages) > 8


def test_every_link_leads_to_a_file_and_nothing_leads_out(built: BuiltSite) -> None:
    folder = built.index.parent
    seen = 0
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for address in re.findall(r'(?:href|src)="([^"]*)"', text):
            target, _, place = unescape(address).partition("#")
            if target.startswith("data:"):
                continue
            seen += 1
            linked = (path.parent / target).resolve() if target else path
            assert linked.is_file(), (path, address)
            assert linked.is_relative_to(folder)
            if place and linked.suffix == ".html":
                assert f'id="{place}"' in linked.read_text(encoding="utf-8"), (path, address)
    assert seen > 300


def test_every_number_on_every_page_is_one_of_a_result(built: BuiltSite) -> None:
    folder = built.index.parent
    held = json.loads((folder / "data/results.json").read_text(encoding="utf-8"))
    counts = {}
    for path in folder.rglob("*.html"):
        if path.parent.name == "models":  # the pages of a run, whose own test looks at them
            continue
        found = read_numbers(path.read_text(encoding="utf-8"))
        for _, place, value, scale, text in found:
            exact = at(held, place)
            assert repr(exact) == value, (path, place)
            check_text(exact, scale, text)
        counts[path.relative_to(folder).parts[0]] = len(found)
    assert counts["index.html"] > 20
    assert min(counts.values()) > 0


def test_the_pages_of_models_show_their_own_results(built: BuiltSite) -> None:
    folder = built.index.parent
    held = json.loads((folder / "data/results.json").read_text(encoding="utf-8"))
    by_key = {gendalens.Result.from_dict(plain).key: plain for plain in held["results"]}
    for path in (folder / "models").iterdir():
        _, *articles = path.read_text(encoding="utf-8").split('<article class="test')
        assert len(articles) > 4
        for article in articles:
            key = re.search(r'data-key="(\w+)"', article)
            assert key
            numbers = read_numbers(article.split("</article>")[0])
            assert len(numbers) > 20
            for _, place, value, scale, text in numbers:
                exact = at(by_key[key[1]], place)
                assert repr(exact) == value
                check_text(exact, scale, text)


def test_the_downloads_hold_every_figure(built: BuiltSite, small_run: Path) -> None:
    import pandas as pd

    folder = built.index.parent
    results = gendalens.load(small_run)
    held = json.loads((folder / "data/results.json").read_text(encoding="utf-8"))
    own = {one.signature: one.to_dict() for one in results}
    assert {one["signature"]: one for one in held["results"]} == json.loads(json.dumps(own))
    frame = results.to_frame()
    parquet = pd.read_parquet(folder / "data/results.parquet")
    assert len(parquet) == len(frame)
    assert set(parquet.value.dropna()) == set(frame.value.dropna())
    table = pd.read_csv(folder / "data/results.csv")
    assert set(table.signature) == set(own)


def test_a_comparison_on_the_site_is_that_of_the_models(built: BuiltSite, small_run: Path) -> None:
    held = json.loads((built.index.parent / "data/results.json").read_text(encoding="utf-8"))
    for group in held["groups"]:
        for row in group["models"]:
            result = next(
                one.result
                for one in find_results([small_run])
                if one.result.signature == row["signature"]
            )
            task = get_task(result.task, result.protocol)
            figures = task.compared_figures(result)
            assert row["gender_effect_size"]["value"] == figures.effect.value
            assert row["finding"]["headline"] == figures.finding.headline


def test_leanings_are_those_of_the_records(built: BuiltSite, small_run: Path) -> None:
    held = json.loads((built.index.parent / "data/results.json").read_text(encoding="utf-8"))
    labels = [one["label"] for one in held["models"]]
    checked = 0
    for saved in find_results([small_run]):
        result = saved.result
        leanings = get_task(result.task, result.protocol).leanings(saved.records())
        if leanings is None:
            continue
        (column,) = (
            place
            for place, group in enumerate(held["groups"])
            if any(row["signature"] == result.signature for row in group["models"])
        )
        for occupation in held["occupations"]:
            shown = [
                one["value"]
                for test in occupation["tests"]
                if test["column"] == column
                for one in test["models"]
                if labels[one["model"]] == result.model.name
            ]
            expected = leanings.by_occupation.get(occupation["name"])
            assert shown == ([] if expected is None else [expected])
            checked += len(shown)
    assert checked > 40


def test_the_same_results_give_the_same_bytes_in_any_order(small_run: Path, tmp_path: Path) -> None:
    folders = [path.parent for path in small_run.rglob("result.json") if "abc" in str(path)]
    build_site(folders, tmp_path / "one")
    build_site(folders[::-1], tmp_path / "other")
    one, other = (read_files(tmp_path / name) for name in ("one", "other"))
    assert one == other


def test_the_same_result_of_two_people_counts_once(small_run: Path, tmp_path: Path) -> None:
    own = one_test(small_run)
    shutil.copytree(own, tmp_path / "theirs" / "model" / own.name)
    bare = tmp_path / "bare" / own.name
    shutil.copytree(own, bare)
    (bare / "records.jsonl").unlink()  # they kept only the figures
    site = build_site([bare, tmp_path / "theirs", own], tmp_path / "public")
    assert (site.results, site.merged, site.conflicts) == (1, 2, ())
    # Of the copies, the one with records is shown.
    assert list((tmp_path / "public" / "occupations").glob("*.html"))


def test_contradicting_results_are_named_and_none_of_them_is_shown(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = one_test(small_run)
    forged = tmp_path / "mallory" / own.name
    shutil.copytree(own, forged)
    plain = json.loads((forged / "result.json").read_text(encoding="utf-8"))
    plain["gender_effect_size"]["value"] += 0.01
    (forged / "result.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(
        UserError, match=f"same signature and different contents: .*mallory/{own.name}"
    ):
        make_site([own.parent, forged], tmp_path / "public")
    index = (tmp_path / "public" / "index.html").read_text(encoding="utf-8")
    assert f"mallory/{own.name}" in index
    held = json.loads((tmp_path / "public/data/results.json").read_text(encoding="utf-8"))
    signature = load_result(own).result.signature
    assert signature not in {one["signature"] for one in held["results"]}
    assert held["conflicts"][0]["signature"] == signature
    with pytest.raises(UserError, match="All of these results contradict each other"):
        build_site([own, forged], tmp_path / "nothing")


def test_a_folder_with_other_things_in_it_is_not_published(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("secret", encoding="utf-8")
    with pytest.raises(UserError, match="holds other files"):
        build_site(one_test(small_run), tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["diary.txt"]


def test_pages_of_models_that_are_gone_go(small_run: Path, tmp_path: Path) -> None:
    both = [one_test(small_run), one_test(small_run, "male-default")]
    build_site(both, tmp_path / "public")
    assert len(list((tmp_path / "public/models").iterdir())) == 2
    site = build_site(both[:1], tmp_path / "public")
    assert len(list((tmp_path / "public/models").iterdir())) == site.models == 1


def test_without_pyarrow_there_is_no_parquet_and_the_site_says_so(
    small_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(site_module, "_write_parquet", lambda results: None)
    make_site([one_test(small_run)], tmp_path / "public")
    assert not (tmp_path / "public/data/results.parquet").exists()
    index = (tmp_path / "public/index.html").read_text(encoding="utf-8")
    assert "results.parquet" not in index
    assert "pyarrow was not installed" in index
    assert "install pyarrow" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "..",
        "/",
        "con",
        "a/../b",
        "\0",
        "",
        "æøå",
        "n" * 999,
        "<b>",
        ".htaccess",
    ],
)
def test_an_address_is_a_plain_file_name(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{8}", name_file(name))
    assert name_file(name) != name_file(f"{name} ")
    assert name_file(name, "one") != name_file(name, "two")


def test_hostile_names_write_no_file_elsewhere_and_no_script(
    small_run: Path, tmp_path: Path
) -> None:
    own = load_result(one_test(small_run))
    names = (*HOSTILE, "../../../../escaped", "</script><script>window.hacked=1</script>")
    for place, name in enumerate(names):
        renamed(own, tmp_path / "runs" / str(place), name)
    before = {path for path in tmp_path.rglob("*") if "public" not in path.parts}
    site = build_site(tmp_path / "runs", tmp_path / "public")
    assert site.models == len(names)
    assert {path for path in tmp_path.rglob("*") if "public" not in path.parts} == before
    for path in (tmp_path / "public").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<script>" not in text
        assert "\u202e" not in text
        assert len(re.findall(r"<script", text)) <= 3
