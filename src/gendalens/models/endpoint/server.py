"""One model at its server: what arrives is kept and counted, and a change of model is noticed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.endpoint.client import Call, Client, Response
from gendalens.models.endpoint.faults import BusyError, explain_status
from gendalens.models.endpoint.journal import NAME, Journal, digest_call
from gendalens.models.endpoint.secrets import read_addresses
from gendalens.models.endpoint.usage import Usage
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.results.run_folder import folder_name
from gendalens.system.file_writing import append_text
from gendalens.words import N_

MODELS, CHAT, COMPLETIONS = "/models", "/chat/completions", "/completions"
RAW = "responses.jsonl"
CHANGED = N_(
    "{server} now serves another model ({other}) than when the run began ({model}): start the "
    "right one and run again; what was answered before is stored."
)
# Attempts of the first request: a server that does not run is reported at once, not after minutes.
_FIRST_ATTEMPTS = 2
# What a list of models says that differs from one moment to the next.
_PASSING = frozenset({"created", "permission", "status", "last_used"})


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server says about its models: their ids, and a digest of what it says about this one."""

    ids: tuple[str, ...] = ()
    digest: str = ""
    software: str = ""


class Server:
    """A model of a name behind one or several addresses."""

    def __init__(self, model: str, options: EndpointOptions) -> None:
        self.model = model
        self.options = options
        self.addresses, self.redactor = read_addresses(options)
        self.usage = Usage()
        self.corrected_address = ""
        #: The model that the responses name, once known; another one ends the run.
        self.served = ""
        self._named: dict[str, str] = {}
        self._lock = threading.Lock()
        self._owner = ""
        self._done: list[bytes] = []
        self._journal: Journal | None = None
        self._client = self._open_client()
        try:
            self.identity = self._connect()
        except BaseException:
            self._client.close()
            raise

    def set_owner(self, fingerprint: str) -> None:
        """Keep responses under this fingerprint from now on."""
        self._owner = fingerprint
        if self.options.use_cache and self._journal is None:
            self._journal = Journal(find_home() / NAME)

    def attempt(self, route: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """The response to a request of the probe; None if the server does not accept it."""
        response = self._client.fetch(Call.of(route, {"model": self.model, **body}), attempts=3)
        if response.status in (401, 403):
            raise self._explain(response)
        plain = response.plain
        if response.status != 200 or not isinstance(plain, dict) or "error" in plain:
            return None
        with self._lock:
            self.usage.add(plain)
        return plain

    def describe_failure(self, route: str, body: dict[str, Any]) -> UserError:
        """The error for a request that the server does not accept."""
        return self._explain(self._client.fetch(Call.of(route, {"model": self.model, **body})))

    def look(self, route: str) -> Any:
        """What the server says at a route beside ``/v1``, such as its template; None if nothing."""
        response = self._client.fetch(Call(route, at_root=True), attempts=1)
        return response.plain if response.status == 200 else None

    def ask(
        self, route: str, bodies: Sequence[dict[str, Any]], tags: Sequence[str] = ()
    ) -> list[Any]:
        """The responses to several requests, in order; each is kept as it arrives.

        ``tags`` tell apart requests with the same body.
        """
        calls = [Call.of(route, {"model": self.model, **body}) for body in bodies]
        marks = tags or [""] * len(calls)
        keys = [
            digest_call(self._owner, route, call.body + mark)
            for call, mark in zip(calls, marks, strict=True)
        ]
        found = self._recall(keys)
        missing = [index for index, key in enumerate(keys) if key not in found]

        def receive(place: int, response: Response) -> None:
            plain = self._check(response, route)
            key = keys[missing[place]]
            if self._journal is not None:
                self._journal.keep(key, response.text)
            found[key] = plain
            self._keep_raw(calls[missing[place]], plain)
            with self._lock:
                self.usage.add(plain)
                self.usage.check(self.options.max_tokens_total)

        if missing:
            self.usage.check(self.options.max_tokens_total)
            try:
                self._client.fetch_all([calls[index] for index in missing], receive)
                self._check_identity()
            except ModelChangedError:
                self._forget([keys[index] for index in missing])
                raise
            finally:
                self.usage.retries = self._client.failed_attempts
        self._done += keys
        return [found[key] for key in keys]

    def close(self) -> None:
        """Close connections and files; the answers of the last batch are stored by now."""
        self._client.close()
        if self._journal is not None:
            self._journal.close()

    def _recall(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """The kept responses; those of earlier batches have become answers in the cache and go."""
        if self._journal is None:
            return {}
        finished = set(self._done).difference(keys)
        self._journal.drop(list(finished))
        self._done = []
        return {key: json.loads(text) for key, text in self._journal.find(keys).items()}

    def _forget(self, keys: Sequence[bytes]) -> None:
        if self._journal is not None:
            self._journal.drop(keys)

    def _keep_raw(self, call: Call, plain: Any) -> None:
        if not self.options.keep_raw or self.options.run_folder is None:
            return
        folder: Path = self.options.run_folder / folder_name(f"openai:{self.model}")
        line = json.dumps({"request": json.loads(call.body), "response": plain}, ensure_ascii=False)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            append_text(folder / RAW, self.redactor.clean(line) + "\n")
        except OSError as error:
            raise UserError(
                "The responses cannot be written to {folder} ({reason}): free some space, or leave out "
                "--keep-raw.",
                folder=str(folder),
                reason=error.strerror or str(error),
            ) from None

    def _open_client(self) -> Client:
        return Client(
            self.addresses,
            self.redactor,
            timeout=self.options.timeout,
            most=self.options.most_in_flight,
        )

    def _connect(self) -> Identity:
        """Check every address, add a missing ``/v1``, and list the models."""
        known = [self._find_models(index) for index in range(len(self.addresses))]
        for index, (url, identity) in enumerate(known):
            address = self.addresses[index]
            if url != address.url:
                self.corrected_address = url
            if identity.ids and self.model not in identity.ids and not self._serves_unlisted(url):
                raise UserError(
                    "{server} does not have the model {model}; it has {known}.",
                    server=address.host,
                    model=self.model,
                    known=identity.ids[:20],
                )
        if len({identity.digest for _, identity in known}) > 1:
            raise UserError(
                "The endpoints do not serve the same model {model}: give only those that do.",
                model=self.model,
            )
        self.addresses = tuple(
            replace(address, url=url)
            for address, (url, _) in zip(self.addresses, known, strict=True)
        )
        self._client.addresses = self.addresses
        return known[0][1]

    def _find_models(self, index: int) -> tuple[str, Identity]:
        address = self.addresses[index]
        suffixes = ("",) if address.url.endswith("/v1") else ("", "/v1")
        first: Response | None = None
        for suffix in suffixes:
            tried = replace(address, url=address.url + suffix)
            self._client.addresses = (tried,)
            try:
                response = self._client.fetch(Call(MODELS), attempts=_FIRST_ATTEMPTS)
            except BusyError as error:
                # transformers serve cannot list its models where there is no cache of the hub's.
                if error.status != 500 or not tried.url.endswith("/v1"):
                    raise
                return tried.url, Identity()
            identity = _read_identity(response, self.model)
            if identity is not None:
                return tried.url, identity
            if response.status in (401, 403) or 300 <= response.status < 400:
                raise self._explain(response)
            first = first or response
        assert first is not None
        if first.status == 404 and address.url.endswith("/v1"):
            return address.url, Identity()  # a server without a list of models
        raise explain_status(address, first, self.redactor)

    def _serves_unlisted(self, url: str) -> bool:
        """Whether the server answers for a model that it does not list, and for no made-up one.

        transformers serve lists the models in a cache, and not the folder that it serves.
        """
        self._client.addresses = tuple(one for one in self.addresses if one.url in (url, url[:-3]))
        said = [{"role": "user", "content": "Hej"}]
        return all(
            self._client.fetch(
                Call.of(CHAT, {"model": model, "messages": said, "max_tokens": 1}), attempts=1
            ).status
            == status
            for model, status in ((self.model, 200), ("no-such-model", 400))
        )

    def _check_identity(self) -> None:
        """Raise if the server serves another model than when the run began."""
        if not self.identity.ids:
            return
        response = self._client.fetch(Call(MODELS))
        identity = _read_identity(response, self.model)
        if identity is not None and identity.digest != self.identity.digest:
            raise self._explain_change(", ".join(identity.ids[:3]))

    def _check(self, response: Response, route: str) -> dict[str, Any]:
        """The JSON of a response, or the error that it is."""
        plain = response.plain
        if response.status != 200 or not isinstance(plain, dict) or "error" in plain:
            raise self._explain(response)
        served = plain.get("model")
        if isinstance(served, str):
            # The routes of a server may name the same model differently.
            known = self.served if route == CHAT and self.served else served
            if served != self._named.setdefault(route, known):
                raise self._explain_change(served)
        return plain

    def _explain(self, response: Response) -> UserError:
        return explain_status(self.addresses[0], response, self.redactor, self._known_ids())

    def _known_ids(self) -> tuple[str, ...]:
        return self.identity.ids if hasattr(self, "identity") else ()

    def _explain_change(self, other: str) -> ModelChangedError:
        return ModelChangedError(
            CHANGED,
            server=self.addresses[0].host,
            other=self.redactor.clean(other),
            model=self.served or self.model,
        )


class ModelChangedError(UserError):
    """The server serves another model than when the run began."""


def _read_identity(response: Response, model: str) -> Identity | None:
    """What a list of models says; None if the response is none."""
    plain = response.plain
    if response.status != 200 or not isinstance(plain, dict):
        return None
    entries = plain.get("data")
    if not isinstance(entries, list):
        return None
    named = [one for one in entries if isinstance(one, dict) and isinstance(one.get("id"), str)]
    own = [
        {key: value for key, value in one.items() if key not in _PASSING}
        for one in named
        if one["id"] == model
    ]
    ids = tuple(one["id"] for one in named)
    text = json.dumps(own or sorted(ids), sort_keys=True, ensure_ascii=False)
    owner = next((str(one.get("owned_by", "")) for one in own), "")
    return Identity(
        ids,
        hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16],
        " ".join(part for part in (response.server, owner) if part)[:80],
    )
