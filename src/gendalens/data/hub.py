"""The test split of DaNE from the Hugging Face hub, written out as CoNLL-U.

``alexandrainst/dane`` began as a script that downloads a CoNLL-U file; the hub turns such sets into
Parquet tables on a branch of their own, and owners into tables on the main branch. Scripts are never
run here: the files of the test split are found by name, and a table's rows (sent_id, text, tokens,
ner_tags and the treebank's columns) are written as the lines they were made from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from gendalens.errors import UserError
from gendalens.system.hub_access import without_telemetry

# Where the hub puts the tables that it makes by itself.
CONVERTED = "refs/convert/parquet"
FORMATS = (".conllu", ".parquet", ".jsonl")
INSTEAD = "name a CoNLL-U file with `--data dane=PATH`"
# What the numbers of ner_tags stand for where a table does not say so itself.
TAGS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC")
TREEBANK = ("lemmas", "pos_tags", "morph_tags", "dep_ids", "dep_labels")
HALF = re.compile("[\ud800-\udfff]")  # JSON can write what no file can hold
Row = dict[str, Any]


def fetch(repo: str, target: Path) -> None:
    """Write the test split of a hub data set to ``target`` as CoNLL-U."""
    files = _download(repo, target.parent / "hub")
    if files[0].suffix == ".conllu":
        target.write_bytes(files[0].read_bytes())
        return
    lines = [line for row in rows(files) for line in conllu(row, repo)]
    target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def choose(files: Sequence[str]) -> list[str]:
    """Which files of a repository hold its test split: those of the first format that has any.

    >>> choose(["README.md", "data/test-00000-of-00001.parquet", "data/train-00000-of-00001.parquet"])
    ['data/test-00000-of-00001.parquet']
    """
    for suffix in FORMATS:
        found = [
            f for f in files if PurePosixPath(f).suffix == suffix and _is_test(f) and _is_inside(f)
        ]
        if found:
            return sorted(found)
    return []


def _is_test(file: str) -> bool:
    """Whether a folder of the path, or a word of the file's name, is "test"."""
    path = PurePosixPath(file)
    words = path.stem.replace("-", ".").replace("_", ".").split(".")
    return "test" in (*path.parts[:-1], *words)


def _is_inside(file: str) -> bool:
    """Whether a path stays in the folder it is put into, whoever serves the list of files."""
    path = PurePosixPath(file)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in file


def _download(repo: str, folder: Path) -> list[Path]:
    """The test split's files, from the main branch or from the hub's own conversion."""
    without_telemetry()
    try:
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import RevisionNotFoundError
    except ImportError as error:
        raise UserError(
            f"DaNE comes from the hub ({repo}), which takes huggingface_hub: install it with "
            f"`pip install 'gendalens[hub]'`, or {INSTEAD}."
        ) from error
    try:
        for revision in ("main", CONVERTED):
            try:
                found = HfApi().dataset_info(repo, revision=revision, timeout=30)
            except RevisionNotFoundError:
                continue
            chosen = choose([file.rfilename for file in found.siblings or ()])
            if chosen:
                place = {"repo_type": "dataset", "revision": found.sha, "local_dir": folder}
                with _no_bars():
                    return [Path(hf_hub_download(repo, file, **place)) for file in chosen]
    except Exception as error:  # a dozen kinds, of two HTTP libraries: all mean that it is not here
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"The hub does not give {repo} ({said[:160]}): check the network, or {INSTEAD}."
        ) from error
    raise UserError(
        f"{repo} on the hub holds no table of its test split (scripts are not run): {INSTEAD}."
    )


@contextmanager
def _no_bars() -> Iterator[None]:
    """No progress bars of the hub's: the file is small, and standard error is ours."""
    from huggingface_hub import utils

    shown = not utils.are_progress_bars_disabled()
    utils.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            utils.enable_progress_bars()


def rows(files: Sequence[Path]) -> Iterator[Row]:
    """The rows of Parquet or JSON Lines files, numbered labels put into words."""
    for file in files:
        try:
            if file.suffix == ".parquet":
                yield from _parquet(file)
            else:
                for line in file.read_text(encoding="utf-8").splitlines():
                    yield _in_words(json.loads(line), {"ner_tags": TAGS})
        except (OSError, ValueError, RecursionError) as error:  # what Arrow, JSON and UTF-8 raise
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UserError(f"{file.name} cannot be read ({said[:160]}): {INSTEAD}.") from error


def _parquet(file: Path) -> Iterator[Row]:
    """A table's rows; the names of its labels stand in its metadata."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise UserError(
            f"{file.name} is a Parquet table, which takes pyarrow: install it with "
            f"`pip install 'gendalens[hub]'`, or {INSTEAD}."
        ) from error
    table = parquet.read_table(file)
    metadata = (table.schema.metadata or {}).get(b"huggingface", b"{}")
    labels = {"ner_tags": TAGS, **_labels(json.loads(metadata))}
    for row in table.to_pylist():
        yield _in_words(row, labels)


def _labels(metadata: Any) -> dict[str, tuple[str, ...]]:
    """The label names that a table's metadata gives by column."""
    found = {}
    features = metadata.get("info", {}).get("features", {}) if isinstance(metadata, dict) else {}
    for column, feature in features.items():
        inner = feature.get("feature", feature) if isinstance(feature, dict) else {}
        if isinstance(inner, dict) and isinstance(inner.get("names"), list):
            found[column] = tuple(map(str, inner["names"]))
    return found


def _in_words(row: Any, labels: dict[str, tuple[str, ...]]) -> Row:
    """The row with the names of its labels instead of their numbers."""
    if not isinstance(row, dict):
        raise ValueError("a row is no record")
    if HALF.search(json.dumps(row, ensure_ascii=False, default=str)):
        raise ValueError("a row holds half of a character")
    for column, names in labels.items():
        values = row.get(column)
        if isinstance(values, list):
            if any(isinstance(v, int) and not 0 <= v < len(names) for v in values):
                raise ValueError(f"a number in {column} stands for no label")
            row[column] = [names[v] if isinstance(v, int) else v for v in values]
    return row


def conllu(row: Row, repo: str) -> list[str]:
    """One row as the lines of a sentence, the empty one at its end included."""
    where = f"A row of {repo} (sent_id “{str(row.get('sent_id', '?')).strip()[:40]}”)"
    tokens, tags, text = row.get("tokens"), row.get("ner_tags"), row.get("text")
    if not isinstance(tokens, list) or not isinstance(tags, list) or not isinstance(text, str):
        raise UserError(f"{where} lacks text, tokens or ner_tags: {INSTEAD}.")
    if len(tags) != len(tokens):
        raise UserError(f"{where} has {len(tokens)} tokens and {len(tags)} tags: {INSTEAD}.")
    text = text.strip()  # the script that made the rows left the line ends on
    lines = [f"# text = {text}"]
    if row.get("sent_id"):
        lines.insert(0, f"# sent_id = {str(row['sent_id']).strip()}")
    treebank = [_column(row, name, len(tokens)) for name in TREEBANK]
    at = 0
    for i, token in enumerate(tokens):
        if not text.startswith(str(token), at):
            raise UserError(f"{where} has a text that does not hold its tokens: {INSTEAD}.")
        end = at + len(str(token))
        at = end + len(text[end:]) - len(text[end:].lstrip())
        glued = "|SpaceAfter=No" if at == end and i + 1 < len(tokens) else ""
        lemma, pos, morph, head, relation = (column[i] for column in treebank)
        columns = [i + 1, token, lemma, pos, "_", morph, head, relation, "_"]
        lines.append("\t".join(map(str, [*columns, f"name={tags[i]}{glued}"])))
    return [*lines, ""]


def _column(row: Row, name: str, length: int) -> list[Any]:
    """A column of the treebank, or blanks: none of them is needed."""
    values = row.get(name)
    fits = isinstance(values, list) and len(values) == length
    return values if fits and values is not None else ["_"] * length
