"""The test split of DaNE from the Hugging Face hub, converted to CoNLL-U.

``alexandrainst/dane`` began as a script that downloads a CoNLL-U file. The hub converts such sets to
Parquet tables on a separate branch, and their owners convert them to tables on the main branch. Scripts
are never run here: the files of the test split are found by name, and a table's rows (sent_id, text,
tokens, ner_tags and the treebank's columns) are turned back into the lines they were made from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from gendalens.data.text import ReasonError
from gendalens.errors import UserError
from gendalens.system.extras import write_install_command
from gendalens.system.file_reading import check_ordinary, read_ordinary
from gendalens.system.file_writing import replace_file
from gendalens.system.hub_faults import describe_fault
from gendalens.system.hub_repository import ask_repository, is_plain_path
from gendalens.words import Message, phrase

# The branch of the hub's own conversions.
CONVERTED = "refs/convert/parquet"
FORMATS = (".conllu", ".parquet", ".jsonl")
INSTEAD = phrase("name a CoNLL-U file with `--data dane=PATH`")
# The meaning of the numbers in ner_tags, unless a table defines them itself.
TAGS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC")
TREEBANK = ("lemmas", "pos_tags", "morph_tags", "dep_ids", "dep_labels")
# JSON can express lone surrogates, which UTF-8 cannot.
HALF = re.compile("[\ud800-\udfff]")
LONGEST_REASON = 160  # characters
Row = dict[str, Any]


def fetch(repo: str, target: Path) -> None:
    """Write the test split of a hub data set to ``target`` as CoNLL-U."""
    files = _download(repo, target.parent / "hub")
    if files[0].suffix == ".conllu":
        replace_file(target, read_ordinary(files[0]))
        return
    lines = [line for row in read_rows(files) for line in to_conllu(row, repo)]
    replace_file(target, (f"{line}\n" for line in lines))


def choose_files(files: Sequence[str]) -> list[str]:
    """The files of a repository that hold its test split, in the first available format.

    >>> choose_files(["README.md", "data/test-00000-of-00001.parquet", "data/train.parquet"])
    ['data/test-00000-of-00001.parquet']
    """
    for suffix in FORMATS:
        found = [
            f
            for f in files
            if PurePosixPath(f).suffix == suffix and _is_test(f) and is_plain_path(f)
        ]
        if found:
            return sorted(found)
    return []


def _is_test(file: str) -> bool:
    """Whether a folder of the path, or a word of the file's name, is "test"."""
    path = PurePosixPath(file)
    words = path.stem.replace("-", ".").replace("_", ".").split(".")
    return "test" in (*path.parts[:-1], *words)


def _download(repo: str, folder: Path) -> list[Path]:
    """The test split's files, from the main branch or from the hub's own conversion."""
    try:
        import huggingface_hub  # noqa: F401 - everything below needs it
        from huggingface_hub.errors import RevisionNotFoundError
    except ImportError as error:
        raise UserError(
            "DaNE comes from the hub ({repo}), which takes huggingface_hub: run "
            "`{command}`, or {instead}.",
            repo=repo,
            command=write_install_command("hub"),
            instead=INSTEAD,
        ) from error
    try:
        for revision in ("main", CONVERTED):
            try:
                found = ask_repository(repo, "dataset", revision, timeout=30)
            except RevisionNotFoundError:
                continue
            chosen = choose_files(list(found.files))
            if chosen:
                with _hide_progress_bars():
                    return [found.fetch(file, folder) for file in chosen]
    except UserError:
        raise
    except (
        Exception
    ) as error:  # a dozen kinds, of two HTTP libraries: all mean that it did not come
        raise UserError(
            "{repo} cannot be fetched from the hub: {fault}, or {instead}.",
            repo=repo,
            fault=describe_fault(error),
            instead=INSTEAD,
        ) from error
    raise UserError(
        "{repo} on the hub has no table of its test split (scripts are not run): {instead}.",
        repo=repo,
        instead=INSTEAD,
    )


def _format_reason(error: Exception) -> str | Message:
    """The first line of an error."""
    if isinstance(error, ReasonError):
        return error.reason
    return (str(error).strip() or type(error).__name__).splitlines()[0][:LONGEST_REASON]


@contextmanager
def _hide_progress_bars() -> Iterator[None]:
    """Hide the hub library's progress bars: the file is small, and they would clutter standard error."""
    from huggingface_hub import utils

    enabled = not utils.are_progress_bars_disabled()
    utils.disable_progress_bars()
    try:
        yield
    finally:
        if enabled:
            utils.enable_progress_bars()


def read_rows(files: Sequence[Path]) -> Iterator[Row]:
    """The rows of Parquet or JSON Lines files, with labels by name instead of number."""
    for file in files:
        try:
            if file.suffix == ".parquet":
                yield from _read_parquet(file)
            else:
                for line in read_ordinary(file).decode().splitlines():
                    yield _name_labels(json.loads(line), {"ner_tags": TAGS})
        except (OSError, ValueError, RecursionError) as error:  # from Arrow, JSON or UTF-8
            raise UserError(
                "{file} cannot be read ({reason}): {instead}.",
                file=file.name,
                reason=_format_reason(error),
                instead=INSTEAD,
            ) from error


def _read_parquet(file: Path) -> Iterator[Row]:
    """The rows of a table, with label names from its metadata."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise UserError(
            "{file} is a Parquet table, which takes pyarrow: run `{command}`, or {instead}.",
            file=file.name,
            command=write_install_command("hub"),
            instead=INSTEAD,
        ) from error
    check_ordinary(file)
    table = parquet.read_table(file)
    metadata = (table.schema.metadata or {}).get(b"huggingface", b"{}")
    labels = {"ner_tags": TAGS, **_read_labels(json.loads(metadata))}
    for row in table.to_pylist():
        yield _name_labels(row, labels)


def _read_labels(metadata: Any) -> dict[str, tuple[str, ...]]:
    """The label names in a table's metadata, by column."""
    found = {}
    features = metadata.get("info", {}).get("features", {}) if isinstance(metadata, dict) else {}
    for column, feature in features.items():
        inner = feature.get("feature", feature) if isinstance(feature, dict) else {}
        if isinstance(inner, dict) and isinstance(inner.get("names"), list):
            found[column] = tuple(map(str, inner["names"]))
    return found


def _name_labels(row: Any, labels: dict[str, tuple[str, ...]]) -> Row:
    """The row with the names of its labels in place of their numbers."""
    if not isinstance(row, dict):
        raise ReasonError(phrase("a row is not a record"))
    if HALF.search(json.dumps(row, ensure_ascii=False, default=str)):
        raise ReasonError(phrase("a row holds half of a character"))
    for column, names in labels.items():
        values = row.get(column)
        if isinstance(values, list):
            if any(isinstance(v, int) and not 0 <= v < len(names) for v in values):
                raise ReasonError(phrase("a number in {column} stands for no label", column=column))
            row[column] = [names[v] if isinstance(v, int) else v for v in values]
    return row


def to_conllu(row: Row, repo: str) -> list[str]:
    """One row as the lines of a sentence, including the empty line at its end."""
    tokens, tags, text = row.get("tokens"), row.get("ner_tags"), row.get("text")
    if not isinstance(tokens, list) or not isinstance(tags, list) or not isinstance(text, str):
        raise _row_error(row, repo, phrase("it lacks text, tokens or ner_tags"))
    if len(tags) != len(tokens):
        reason = phrase(
            "it has {tokens} tokens and {tags} tags", tokens=len(tokens), tags=len(tags)
        )
        raise _row_error(row, repo, reason)
    text = text.strip()  # the script that made the rows kept the line ends
    lines = [f"# text = {text}"]
    if row.get("sent_id"):
        lines.insert(0, f"# sent_id = {str(row['sent_id']).strip()}")
    treebank = [_treebank_column(row, name, len(tokens)) for name in TREEBANK]
    at = 0
    for i, token in enumerate(tokens):
        if not text.startswith(str(token), at):
            raise _row_error(row, repo, phrase("its text does not hold its tokens"))
        end = at + len(str(token))
        at = end + len(text[end:]) - len(text[end:].lstrip())
        glued = "|SpaceAfter=No" if at == end and i + 1 < len(tokens) else ""
        lemma, pos, morph, head, relation = (column[i] for column in treebank)
        columns = [i + 1, token, lemma, pos, "_", morph, head, relation, "_"]
        lines.append("\t".join(map(str, [*columns, f"name={tags[i]}{glued}"])))
    return [*lines, ""]


def _row_error(row: Row, repo: str, reason: Message) -> UserError:
    """The error for a row that is not a sentence with its tags."""
    return UserError(
        "A row of {repo} (sent_id “{sentence}”) cannot be used ({reason}): {instead}.",
        repo=repo,
        sentence=str(row.get("sent_id", "?")).strip()[:40],
        reason=reason,
        instead=INSTEAD,
    )


def _treebank_column(row: Row, name: str, length: int) -> list[Any]:
    """A column of the treebank, or blanks: none of these columns is needed."""
    values = row.get(name)
    fits = isinstance(values, list) and len(values) == length
    return values if fits and values is not None else ["_"] * length
