"""A repository on the hub: the one place that believes what the hub answers.

The commit, the names of the files and the headers of every response become paths in the hub's cache, so
each must look like what it should be. What was fetched must have the checksum that the hub lists.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from gendalens.errors import UserError
from gendalens.system.file_reading import open_ordinary
from gendalens.system.hub_access import disable_telemetry
from gendalens.system.hub_faults import UnbelievableError
from gendalens.words import Message, phrase

_COMMIT = re.compile("[0-9a-f]{40}")
_SHA256 = re.compile("[0-9a-f]{64}")
# An etag becomes a file name.
_ETAG = re.compile(r'(W/)?"?[0-9A-Za-z][0-9A-Za-z_.:+=-]{0,199}"?')
_COMMIT_HEADER = "X-Repo-Commit"
_ETAG_HEADERS = ("X-Linked-Etag", "ETag")
_LONGEST_NAME, _LONGEST_PATH = 255, 1024  # bytes
_CHUNK = 1024**2
_BLOBS = "blobs"  # the folder of files, by checksum, that the names in a commit point to


@dataclass(frozen=True, slots=True)
class Listed:
    """What the hub says of a file: its SHA-256, or else git's own checksum of small files."""

    sha256: str | None
    blob: str | None
    size: int | None


@dataclass(frozen=True)
class Repository:
    """One commit of a repository, and its files by name."""

    name: str
    kind: Literal["model", "dataset"]
    commit: str
    files: Mapping[str, Listed]

    def fetch(self, file: str, folder: Path | None = None) -> Path:
        """A file in the hub's cache, or in ``folder``: fetched if it is not there, and checked."""
        import huggingface_hub

        place: dict[str, Any] = {"repo_type": self.kind, "revision": self.commit}
        if folder is not None:
            place["local_dir"] = folder
        with check_responses():
            path = Path(huggingface_hub.hf_hub_download(self.name, file, **place))
        if not _matches(path, self.files[file]):
            _delete(path)
            raise UserError(
                "{file} of {name} is not the file that the hub lists (its checksum differs), so it was"
                " deleted: try again.",
                file=file,
                name=self.name,
            )
        return path


def ask_repository(
    name: str, kind: Literal["model", "dataset"], revision: str | None, timeout: float
) -> Repository:
    """The repository as the hub describes it; raises what the hub's library raises."""
    disable_telemetry()
    import huggingface_hub

    api = huggingface_hub.HfApi()
    ask = api.model_info if kind == "model" else api.dataset_info
    with check_responses():
        info = ask(name, revision=revision, timeout=timeout, files_metadata=True)
    commit = check_commit(info.sha, name)
    listed = {file.rfilename: _read_listed(file) for file in info.siblings or ()}
    files = {file: entry for file, entry in listed.items() if is_plain_path(file)}
    return Repository(name, kind, commit, files)


def check_commit(sha: object, name: str) -> str:
    """The commit, if it is one: 40 hexadecimal digits."""
    if isinstance(sha, str) and _COMMIT.fullmatch(sha):
        return sha
    raise _unbelievable(name, phrase("the commit"), sha)


def is_plain_path(name: object) -> bool:
    """Whether a path of a file stays inside its folder on every system."""
    if not isinstance(name, str) or not name.isprintable() or "\\" in name or ":" in name:
        return False
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        return False
    parts = name.split("/")
    return (
        len(encoded) <= _LONGEST_PATH
        and all(len(part.encode()) <= _LONGEST_NAME for part in parts)
        and not {"", ".", ".."} & set(parts)
        and not PurePosixPath(name).is_absolute()
    )


@contextmanager
def check_responses() -> Iterator[None]:
    """Refuse every response whose headers would become unsafe paths."""
    import huggingface_hub

    client = huggingface_hub.get_session()
    before = client.event_hooks
    client.event_hooks = {**before, "response": [*before.get("response", ()), _check_headers]}
    try:
        yield
    finally:
        client.event_hooks = before


def _check_headers(response: Any) -> None:
    host = str(response.request.url.host)
    commit = response.headers.get(_COMMIT_HEADER)
    if commit is not None and not _COMMIT.fullmatch(commit):
        raise _unbelievable(host, phrase("the commit"), commit)
    for header in _ETAG_HEADERS:
        etag = response.headers.get(header)
        if etag is not None and (not _ETAG.fullmatch(etag) or ".." in etag):
            raise _unbelievable(host, phrase("the checksum"), etag)


def _unbelievable(name: str, what: Message, value: object) -> UnbelievableError:
    return UnbelievableError(
        phrase(
            "The hub's answer about {name} cannot be believed ({what} is “{value}”), so nothing was"
            " stored: check HF_ENDPOINT and the network.",
            name=name,
            what=what,
            value=str(value)[:60],
        )
    )


def _read_listed(file: Any) -> Listed:
    """What is said of a file; what is not a checksum counts as unsaid."""
    sha256 = getattr(getattr(file, "lfs", None), "sha256", None)
    blob, size = getattr(file, "blob_id", None), getattr(file, "size", None)
    return Listed(
        sha256 if isinstance(sha256, str) and _SHA256.fullmatch(sha256) else None,
        blob if isinstance(blob, str) and _COMMIT.fullmatch(blob) else None,
        size if isinstance(size, int) else None,
    )


def _delete(path: Path) -> None:
    """Delete a file, and what it points to if that is one of the hub's own files."""
    target, place = path.resolve(), path.parent.resolve()
    if target.parent.name == _BLOBS and target.parent.parent in place.parents:
        target.unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _matches(path: Path, listed: Listed) -> bool:
    """Whether a file is the one that is listed, as far as the list says."""
    if listed.sha256 is not None:
        with open_ordinary(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == listed.sha256
    size = path.stat().st_size
    if listed.blob is not None:
        total = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)  # as git computes it
        with open_ordinary(path) as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
        return total.hexdigest() == listed.blob
    return listed.size is None or size == listed.size
