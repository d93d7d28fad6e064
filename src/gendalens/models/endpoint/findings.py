"""What was found out about a server, and kept for the next run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from gendalens.data.home import find_home
from gendalens.models.endpoint.dialect import VERSION, Dialect
from gendalens.models.endpoint.secrets import Address
from gendalens.models.endpoint.server import Server
from gendalens.system.file_reading import read_ordinary
from gendalens.system.file_writing import make_private_folder, replace_file

_FOLDER = "endpoints"
_LARGEST = 1024**2  # bytes of stored findings


@dataclass(frozen=True, slots=True)
class Findings:
    """What the probe found.

    ``likelihoods`` names the way to ask for the likelihood of a prompt, ``constraint`` the field that
    constrains an answer, ``decision_route`` the route that gives probabilities of options; each is empty
    if the server has none that works. ``top_logprobs`` is how many log-probabilities a token comes with.
    ``unfiltered`` if it can be asked to sample from all tokens, ``deterministic`` if the same question
    gets the same answer at temperature 0, and ``varies`` if answers differ at temperature 1. ``sample``
    is a digest of what it writes at temperature 0, empty if that is not always the same.
    """

    served: str = ""
    system_fingerprint: str = ""
    chats: bool = False
    limit_field: str = "max_tokens"
    accepts_temperature: bool = True
    accepts_seed: bool = True
    streams: bool = False
    counts: bool = False
    thinks: bool = False
    unfiltered: bool = False
    accepts_top_p: bool = True
    likelihoods: str = ""
    adds_bos: bool = False
    decision_route: str = ""
    top_logprobs: int = 0
    constraint: str = ""
    json_schema: bool = False
    deterministic: bool = False
    varies: bool = False
    sample: str = ""
    template: str = ""
    build: str = ""

    @property
    def dialect(self) -> Dialect:
        """How to write chat requests."""
        return Dialect(
            self.limit_field,
            self.accepts_temperature,
            self.accepts_seed,
            self.streams,
            self.thinks,
            self.unfiltered,
            self.counts,
            self.accepts_top_p,
        )

    @property
    def digest(self) -> str:
        """A digest of everything found, for fingerprints and signatures."""
        text = json.dumps([VERSION, asdict(self)], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


def find_stored(server: Server, address: Address) -> Path | None:
    """The file of the findings about this server and model; None if they must not be reused."""
    if not server.options.use_cache or not server.identity.digest:
        return None
    # The address alone would not tell a server from its successor; what it says about the model does.
    text = json.dumps([VERSION, address.url, server.model, server.identity.digest])
    return find_home() / _FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"


def read_stored(path: Path) -> Findings | None:
    """The findings in a file; None if it holds none."""
    try:
        found = Findings(**json.loads(read_ordinary(path, _LARGEST)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    sound = all(
        type(getattr(found, field.name)) is type(field.default) for field in fields(Findings)
    )
    return found if sound else None


def store(path: Path, found: Findings) -> None:
    """Keep the findings."""
    try:
        make_private_folder(path.parent)
        replace_file(path, json.dumps(asdict(found), ensure_ascii=False, indent=1) + "\n")
    except OSError:
        return  # found out again next time
