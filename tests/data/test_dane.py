"""DaNE from a file, a folder or the hub; the facts about the real test set where it is at hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import small_dane

from gendalens.data import dane, hub, registry
from gendalens.data.registry import Hub
from gendalens.errors import UserError

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "dane"
TEST = SHARED / "ddt.test.conllu"
here = pytest.mark.skipif(not TEST.exists(), reason="DaNE does not lie beside the checkout")


def test_a_file_that_the_user_names_is_read_and_named_as_such(tmp_path: Path) -> None:
    path = small_dane.write(tmp_path / "mine.conllu")
    source = registry.find_source("dane", override=path, offline=True)
    assert (source.files, source.folder, source.official) == ((path,), tmp_path, False)
    assert source.origin == "the user's own file"
    assert source.checksum == registry.checksum("dane", override=path)
    assert source.checksum != registry.checksum("dane")
    assert len(dane.read(source.files[0], errata=source.official)) == 4


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["ddt.test.conllu", "my-test.conllu"], "ddt.test.conllu"),
        (["ddt.dev.conllu", "my-test.conllu"], "my-test.conllu"),
        (["alt.conllu", "README.md"], "alt.conllu"),
    ],
)
def test_in_a_folder_the_test_file_is_found(files: list[str], chosen: str, tmp_path: Path) -> None:
    for file in files:
        small_dane.write(tmp_path / file)
    assert registry.find_source("dane", override=tmp_path).files == (tmp_path / chosen,)


def test_a_folder_with_no_file_or_with_several_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds neither ddt\.test\.conllu nor any other \.conllu"):
        registry.find_source("dane", override=tmp_path)
    for name in ("a.conllu", "b.conllu"):
        small_dane.write(tmp_path / name)
    with pytest.raises(UserError, match=r"holds 2 \.conllu files: name one of them"):
        registry.find_source("dane", override=tmp_path)
    with pytest.raises(UserError, match=r"does not exist: name a \.conllu file"):
        registry.find_source("dane", override=tmp_path / "nowhere")


def test_a_file_without_persons_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "regn.conllu"
    path.write_text("\n".join(small_dane.block("regn", small_dane.SENTENCES["regn"])) + "\n")
    with pytest.raises(
        UserError, match=r"regn\.conllu has no entity with the label PER \(its labels are LOC"
    ):
        dane.read(path, errata=False)


def test_offline_says_to_name_a_file() -> None:
    with pytest.raises(UserError, match=r"may not be fetched offline.*`--data dane=PATH`"):
        registry.find_source("dane", offline=True)


def test_the_list_shows_where_dane_comes_from() -> None:
    (found,) = [s for s in registry.list_official_sets() if s.name == "dane"]
    assert (found.state, found.source) == ("absent", "hub: alexandrainst/dane")


# The hub. Its rows are what the script of alexandrainst/dane makes of a CoNLL-U file.


def rows(
    path: Path, tags: tuple[str, ...], parts: tuple[str, ...], links: tuple[str, ...]
) -> list[Any]:
    """The rows of the hub's table for a CoNLL-U file, labels as numbers, line ends left on."""
    found = []
    for block in path.read_text(encoding="utf-8").removesuffix("\n").split("\n\n"):
        lines = block.strip("\n").split("\n")
        words = [line.split("\t") for line in lines if not line.startswith("#")]
        comments = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("#"))
        found.append(
            {
                "sent_id": comments["sent_id"] + "\n",
                "text": comments["text"] + "\n",
                "tok_ids": [int(w[0]) for w in words],
                "tokens": [w[1] for w in words],
                "lemmas": [w[2] for w in words],
                "pos_tags": [parts.index(w[3]) for w in words],
                "morph_tags": [w[5] for w in words],
                "dep_ids": [w[6] for w in words],
                "dep_labels": [links.index(w[7]) for w in words],
                "ner_tags": [tags.index(w[9].split("|")[0][len("name=") :]) for w in words],
            }
        )
    return found


def columns(path: Path, number: int) -> tuple[str, ...]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return tuple(sorted({line.split("\t")[number] for line in lines if "\t" in line}))


def parquet(path: Path, target: Path, *, metadata: bool = True) -> Path:
    """A Parquet file as the hub makes them, with the names of the labels in its metadata."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as format_

    parts, links = columns(path, 3), columns(path, 7)
    table = pyarrow.Table.from_pylist(rows(path, hub.TAGS, parts, links))
    if metadata:
        names = {"ner_tags": hub.TAGS, "pos_tags": parts, "dep_labels": links}
        features = {
            column: {"feature": {"names": list(labels), "_type": "ClassLabel"}, "_type": "Sequence"}
            for column, labels in names.items()
        }
        info = json.dumps({"info": {"features": features}})
        table = table.replace_schema_metadata({"huggingface": info})
    target.parent.mkdir(parents=True, exist_ok=True)
    format_.write_table(table, target)
    return target


class FakeHub:
    """A hub of one data set: the files of each of its branches."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        huggingface_hub = pytest.importorskip("huggingface_hub")
        from huggingface_hub.errors import RevisionNotFoundError

        self.folder = folder
        self.missing = RevisionNotFoundError
        self.error: Exception | None = None
        self.commits: dict[str, str] = {}
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: self)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", self.download)

    def branch(self, revision: str) -> Path:
        return self.folder / revision.replace("/", "-")

    def dataset_info(
        self, repo: str, *, revision: str, timeout: float, files_metadata: bool
    ) -> Any:
        assert files_metadata
        assert repo == "alexandrainst/dane"
        if self.error:
            raise self.error
        branch = self.branch(revision)
        if not branch.exists():
            raise self.missing(
                "no such revision", response=SimpleNamespace(headers={}, request=None)
            )
        files = [p.relative_to(branch).as_posix() for p in branch.rglob("*") if p.is_file()]
        siblings = [SimpleNamespace(rfilename=file) for file in files]
        self.commits["c" * 39 + str(len(self.commits))] = revision
        return SimpleNamespace(sha=list(self.commits)[-1], siblings=siblings)

    def download(
        self, repo: str, file: str, *, repo_type: str, revision: str, local_dir: Path
    ) -> str:
        assert repo_type == "dataset"
        target = local_dir / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((self.branch(self.commits[revision]) / file).read_bytes())
        return str(target)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    return FakeHub(tmp_path / "hub", monkeypatch)


def test_the_hubs_own_table_becomes_the_file_it_was_made_from(
    fake: FakeHub, tmp_path: Path
) -> None:
    mine = small_dane.write(tmp_path / "mine.conllu")
    for name in ("README.md", "dane.py"):
        fake.branch("main").mkdir(parents=True, exist_ok=True)
        (fake.branch("main") / name).write_text("raise SystemExit")
    for split in ("test", "train"):
        parquet(mine, fake.branch(hub.CONVERTED) / "default" / split / "0000.parquet")
    source = registry.find_source("dane")
    assert source.files[0].read_bytes() == mine.read_bytes()
    assert (source.official, source.origin) == (False, "hub: alexandrainst/dane")
    assert source.checksum == registry.checksum("dane", override=mine)
    fake.error = AssertionError("asked again")
    assert registry.find_source("dane", offline=True) == source
    assert {s.name: s.state for s in registry.list_official_sets()}["dane"] == "cached"


def test_a_stored_file_that_was_changed_is_never_used(fake: FakeHub) -> None:
    fake.branch("main").mkdir(parents=True)
    small_dane.write(fake.branch("main") / "ddt.test.conllu")
    source = registry.find_source("dane")
    with source.files[0].open("a") as file:
        file.write("x")
    with pytest.raises(UserError, match=r"ddt\.test\.conllu is not the published.*data pull dane"):
        registry.find_source("dane")


def test_json_lines_and_tables_without_label_names_are_read_too(
    fake: FakeHub, tmp_path: Path
) -> None:
    mine = small_dane.write(tmp_path / "mine.conllu")
    expected = dane.read(mine, errata=False)
    parquet(mine, fake.branch("main") / "data" / "test-00000-of-00001.parquet", metadata=False)
    assert dane.read(registry.find_source("dane").files[0], errata=False) == expected
    (fake.branch("main") / "data" / "test-00000-of-00001.parquet").unlink()
    lines = [json.dumps(row) for row in rows(mine, hub.TAGS, ("_",), ("_",))]
    (fake.branch("main") / "data" / "test.jsonl").write_text("\n".join(lines))
    registry.pull("dane")
    assert dane.read(registry.find_source("dane").files[0], errata=False) == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"dane.py": ""}, r"has no table of its test split \(scripts are not run\).*--data dane"),
        ({"test.jsonl": "[1]"}, r"test\.jsonl cannot be read \(a row is not a record\)"),
        ({"test.jsonl": "{"}, r"test\.jsonl cannot be read"),
        ({"test.jsonl": '{"text": "Hej"}'}, r"lacks text, tokens or ner_tags"),
        (
            {"test.jsonl": '{"text": "Hej", "tokens": ["Hej"], "ner_tags": [9]}'},
            r"a number in ner_tags stands for no label",
        ),
        (
            {"test.jsonl": '{"text": "Hej", "tokens": ["Hej"], "ner_tags": []}'},
            r"has 1 tokens and 0 tags",
        ),
        (
            {"test.jsonl": '{"text": "Hej", "tokens": ["Nej"], "ner_tags": [0]}'},
            r"its text does not hold its tokens",
        ),
        ({"data/test.parquet": "PAR1"}, r"test\.parquet cannot be read"),
    ],
)
def test_a_hub_that_holds_something_else_is_reported_in_one_sentence(
    fake: FakeHub, files: dict[str, str], message: str
) -> None:
    for name, content in files.items():
        path = fake.branch("main") / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
    with pytest.raises(UserError, match=message) as caught:
        registry.find_source("dane")
    assert "\n" not in str(caught.value)
    assert not (registry.set_folder("dane") / "ddt.test.conllu").exists()


def test_no_network_says_to_name_a_file(fake: FakeHub) -> None:
    fake.error = ConnectionError("Name or service not known\nmore")
    with pytest.raises(UserError, match=r"the hub does not answer; check.*`--data dane=PATH`"):
        registry.find_source("dane")


@pytest.mark.parametrize("missing", ["huggingface_hub", "pyarrow"])
def test_a_library_that_is_missing_is_named_with_its_extra(
    missing: str, fake: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = small_dane.write(tmp_path / "mine.conllu")
    parquet(mine, fake.branch("main") / "test.parquet")
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(UserError, match=f'takes {missing}: run `pip install "'):
        registry.find_source("dane")


def test_the_test_split_is_found_by_a_word_of_the_path() -> None:
    assert hub.choose_files(["contest.conllu", "latest/train.parquet"]) == []
    assert hub.choose_files(["plain/test/0000.parquet"]) == ["plain/test/0000.parquet"]
    assert hub.choose_files(["a/test.jsonl", "ddt.test.conllu"]) == ["ddt.test.conllu"]


# The real one.


@pytest.mark.shared
@here
def test_the_facts_about_the_test_set() -> None:
    found = dane.read(TEST, errata=False)
    assert (len(found), sum(len(s.tokens) for s in found)) == (565, 10_023)
    labels = Counter(e.label for s in found for e in s.entities)
    assert labels == {"PER": 180, "LOC": 96, "ORG": 161, "MISC": 121}
    persons = [(s, e) for s in found for e in s.entities if e.label == "PER"]
    assert len({s.id for s, _ in persons}) == 139
    assert Counter(len(e.tokens) for _, e in persons) == {1: 58, 2: 106, 3: 16}
    genitives = [
        s.text[e.span.start : e.span.end] for s, e in persons if s.tokens[e.tokens[-1]].genitive
    ]
    assert len(genitives) == 10
    # Two of the ten are no genitives but a surname in -s; the errata say so.
    mended = dane.read(TEST, errata=True)
    kept = [
        e
        for s in mended
        for e in s.entities
        if e.label == "PER" and s.tokens[e.tokens[-1]].genitive
    ]
    assert len(kept) == 8
    assert sum(a.text != b.text for a, b in zip(found, mended, strict=True)) == 1


@pytest.mark.shared
@here
def test_the_official_file_is_known_by_its_content(tmp_path: Path) -> None:
    copy = tmp_path / "whatever.conllu"
    copy.write_bytes(TEST.read_bytes())
    source = registry.find_source("dane", override=copy, offline=True)
    assert (source.official, source.origin) == (True, "hub: alexandrainst/dane")
    assert registry.find_source("dane", override=SHARED).official
    assert not registry.find_source("dane", override=SHARED / "ddt.dev.conllu").official


@pytest.mark.shared
@here
def test_a_table_made_of_the_official_file_gives_the_same_bytes(fake: FakeHub) -> None:
    parquet(TEST, fake.branch(hub.CONVERTED) / "default" / "test" / "0000.parquet")
    fake.branch("main").mkdir()
    assert registry.find_source("dane").official


def test_dane_is_the_one_set_of_the_hub() -> None:
    assert [n for n, d in registry.SETS.items() if isinstance(d.origin, Hub)] == ["dane"]
