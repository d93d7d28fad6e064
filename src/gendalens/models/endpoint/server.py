"""One model at its server: what arrives is kept and counted, and a change of model is noticed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gendalens.data.home import find_home
from gendalens.errors import UserError
from gendalens.models.endpoint.client import Call, Client, Effort, Response
from gendalens.models.endpoint.dialect import count_thoughts
from gendalens.models.endpoint.faults import UnreachableError, explain_status, is_filtered
from gendalens.models.endpoint.journal import NAME, Journal, digest_call
from gendalens.models.endpoint.line import Line
from gendalens.models.endpoint.secrets import Address, read_addresses
from gendalens.models.endpoint.usage import Usage
from gendalens.models.endpoint_options import EndpointOptions
from gendalens.results.run_folder import folder_name
from gendalens.system.file_writing import append_text, make_folders
from gendalens.words import N_

MODELS, CHAT, COMPLETIONS = "/models", "/chat/completions", "/completions"
RAW = "responses.jsonl"
#: Some servers refuse to write fewer.
FEWEST_TOKENS = 16
CHANGED = N_(
    "{server} now serves another model ({other}) than when the run began ({model}): start the "
    "right one and run again; what was answered before is stored."
)
# A server that does not run is reported at once, not after minutes.
_FIRST = Effort(attempts=2, is_patient=False, takes=frozenset({500}))
_FAILURES = frozenset(range(500, 600))
# The statuses by which a server says that it does not list its models; transformers serve fails where
# there is no cache of the hub's.
_WITHOUT_LIST = frozenset({404, 405, 500, 501})
# A question that a filter kept from the model, in the form of an answer.
_DECLINED = {"choices": [{"index": 0, "finish_reason": "content_filter", "message": {}}]}
# What a list of models says that differs from one moment to the next.
_PASSING = frozenset({"created", "permission", "status", "last_used"})


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server says about its models: their ids, and a digest of what it says about this one."""

    ids: tuple[str, ...] = ()
    digest: str = ""
    software: str = ""
    #: Whether the server knows the model by a name that its list does not hold.
    is_alias: bool = False


class Server:
    """A model of a name behind one or several addresses."""

    def __init__(self, model: str, options: EndpointOptions) -> None:
        self.model = model
        self.options = options
        self.addresses, self.redactor = read_addresses(options)
        #: The addresses as the user gave them, without credentials.
        self.given = tuple(address.url for address in self.addresses)
        self.usage = Usage()
        self.corrected_address = ""
        #: Hosts that could not be reached when the run began, and are left out.
        self.left_out: tuple[str, ...] = ()
        #: The model that the responses name, once known; another one ends the run.
        self.served = ""
        self._named: dict[str, str] = {}
        self._lock = threading.Lock()
        self._owner = ""
        self._probed: Address | None = None
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

    def probe_at(self, address: Address) -> None:
        """Send the requests of the probe to one address from now on."""
        self._probed = address

    def attempt(
        self, route: str, body: dict[str, Any], *, is_doubtful: bool = False
    ) -> dict[str, Any] | None:
        """The response to a request of the probe; None if the server does not accept it.

        ``is_doubtful`` if the server answers elsewhere, so that a failure means that there is no such
        route; a gateway may say so by any status.
        """
        call = Call.of(route, {"model": self.model, **body})
        effort = Effort(attempts=3, takes=_FAILURES if is_doubtful else frozenset({500}))
        response = self._client.fetch(call, effort, address=self._probed)
        # A server may forbid (403) a route that it does not offer to this key.
        if response.status == 401:
            raise self._explain(response)
        plain = response.plain
        if response.status != 200 or not isinstance(plain, dict) or plain.get("error"):
            return None
        with self._lock:
            self.usage.add(plain, call.body)
        return plain

    def describe_failure(self, route: str, body: dict[str, Any]) -> UserError:
        """The error for a request that the server does not accept."""
        call = Call.of(route, {"model": self.model, **body})
        return self._explain(self._client.fetch(call, Effort(3), address=self._probed))

    def look(self, route: str) -> Any:
        """What the server says at a route beside ``/v1``, such as its template; None if nothing."""
        effort = Effort(attempts=2, is_patient=False, takes=_FAILURES)
        try:
            response = self._client.fetch(Call(route, at_root=True), effort, address=self._probed)
        except UserError:  # nothing depends on it
            return None
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
        # What was asked twice in one batch is sent once.
        places = {key: index for index, key in enumerate(keys) if key not in found}
        missing = list(places.values())

        def receive(place: int, response: Response) -> None:
            plain = self._check(response, route)
            index = missing[place]
            if self._journal is not None:
                self._journal.keep(keys[index], json.dumps(plain, ensure_ascii=False))
            found[keys[index]] = plain
            self._keep_raw(calls[index], plain)
            with self._lock:
                self.usage.add(plain, calls[index].body, count_thoughts(plain))
                self.usage.check(self.options.max_tokens_total)

        if missing:
            self.usage.check(self.options.max_tokens_total)
            try:
                # A response that names another model ends it; those before it named the right one.
                self._client.fetch_all([calls[index] for index in missing], receive)
            finally:
                self.usage.retries = self._client.failed_attempts
            try:
                self._check_identity()
            except ModelChangedError:
                # Which of them came from the other model is not known.
                self._forget([keys[index] for index in missing])
                raise
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
        return self._journal.find(keys)

    def _forget(self, keys: Sequence[bytes]) -> None:
        if self._journal is not None:
            self._journal.drop(keys)

    def _keep_raw(self, call: Call, plain: Any) -> None:
        if not self.options.keep_raw or self.options.run_folder is None:
            return
        run: Path = self.options.run_folder
        folder = run / folder_name(f"openai:{self.model}")
        line = json.dumps({"request": json.loads(call.body), "response": plain}, ensure_ascii=False)
        try:
            make_folders(run, folder.name)
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
        """Check every address, add a missing ``/v1``, and list the models.

        Of several servers, those that cannot be reached are left out.
        """
        found: list[tuple[Address, Identity]] = []
        unreachable: list[tuple[str, UnreachableError]] = []
        for address in self.addresses:
            try:
                found.append(self._find_models(address))
            except UnreachableError as error:
                unreachable.append((address.host, error))
        if not found:
            raise unreachable[0][1]
        self.left_out = tuple(host for host, _ in unreachable)
        if len({identity.digest for _, identity in found}) > 1:
            raise UserError(
                "The endpoints do not serve the same model {model}: give only those that do.",
                model=self.model,
            )
        self.addresses = tuple(address for address, _ in found)
        self._client.lines = [Line(address) for address in self.addresses]
        return found[0][1]

    def _find_models(self, given: Address) -> tuple[Address, Identity]:
        """The address of the API, and what the server there says of the model.

        What was given may lack ``/v1``, or be the whole address of a route.
        """
        base = _without_route(given.url)
        suffixes = ("",) if base.endswith("/v1") else ("", "/v1")
        first: Response | None = None
        for suffix in suffixes:
            address = replace(given, url=base + suffix)
            response = self._fetch_from(address, MODELS)
            identity = _read_identity(response, self.model)
            if identity is not None:
                self._note_correction(given, address)
                return address, self._check_listed(address, identity)
            if response.status in (401, 403) or 300 <= response.status < 400:
                raise explain_status(address, response, self.redactor)
            first = first or response
        assert first is not None
        if first.status in _WITHOUT_LIST and base.endswith("/v1"):
            address = replace(given, url=base)
            self._note_correction(given, address)
            return address, Identity()
        raise explain_status(given, first, self.redactor)

    def _note_correction(self, given: Address, used: Address) -> None:
        if used.url != given.url:
            self.corrected_address = used.url

    def _check_listed(self, address: Address, identity: Identity) -> Identity:
        """The identity of a model that the list holds, or that the server knows by its name."""
        if not identity.ids or self.model in identity.ids:
            return identity
        # A list may come in pages, and hold no aliases.
        alone = self._fetch_from(address, f"{MODELS}/{quote(self.model, safe='')}")
        if alone.status == 200 and isinstance(alone.plain, dict) and alone.plain.get("id"):
            known = _identify([alone.plain], identity.ids, identity.software)
            return replace(known, is_alias=True)
        if self._serves_unlisted(address):
            return replace(identity, is_alias=True)
        raise UserError(
            "{server} does not have the model {model}; it has {known}.",
            server=address.host,
            model=self.model,
            known=identity.ids[:20],
        )

    def _fetch_from(self, address: Address, route: str) -> Response:
        return self._client.fetch(Call(route), _FIRST, address=address)

    def _serves_unlisted(self, address: Address) -> bool:
        """Whether the server answers for a model that it does not list, and for no made-up one.

        transformers serve lists the models in a cache, and not the folder that it serves.
        """
        said = [{"role": "user", "content": "Hej"}]
        return all(
            self._client.fetch(
                Call.of(CHAT, {"model": model, "messages": said, "max_tokens": FEWEST_TOKENS}),
                _FIRST,
                address=address,
            ).status
            == status
            for model, status in ((self.model, 200), ("no-such-model", 400))
        )

    def _check_identity(self) -> None:
        """Raise if a server serves another model than when the run began."""
        if not self.identity.ids:
            return
        for address in self.addresses:
            try:
                response = self._client.fetch(Call(MODELS), Effort(3), address=address)
            except UnreachableError:
                if len(self.addresses) == 1:
                    raise
                continue  # it has answered nothing since
            identity = _read_identity(response, self.model)
            if identity is None or self.identity.is_alias:
                continue  # responses name the model in any case
            if identity.digest != self.identity.digest:
                raise self._explain_change(address, ", ".join(identity.ids[:3]))

    def _check(self, response: Response, route: str) -> dict[str, Any]:
        """The JSON of a response, or the error that it is."""
        if route == CHAT and is_filtered(response):
            return _DECLINED
        plain = response.plain
        if response.status != 200 or not isinstance(plain, dict) or plain.get("error"):
            raise self._explain(response)
        if "choices" not in plain and "answers" not in plain:
            raise self._explain(response)
        served = plain.get("model")
        if isinstance(served, str):
            # The routes of a server may name the same model differently.
            known = self.served if route == CHAT and self.served else served
            if served != self._named.setdefault(route, known):
                raise self._explain_change(self.addresses[0], served)
        return plain

    def _explain(self, response: Response) -> UserError:
        return explain_status(self.addresses[0], response, self.redactor, self._known_ids())

    def _known_ids(self) -> tuple[str, ...]:
        return self.identity.ids if hasattr(self, "identity") else ()

    def _explain_change(self, address: Address, other: str) -> ModelChangedError:
        return ModelChangedError(
            CHANGED,
            server=address.host,
            other=self.redactor.clean(other),
            model=self.served or self.model,
        )


class ModelChangedError(UserError):
    """The server serves another model than when the run began."""


def _without_route(url: str) -> str:
    """The address of the API in that of a route, such as documentation shows for curl."""
    route = next((one for one in (CHAT, COMPLETIONS, MODELS) if url.endswith(one)), "")
    return url.removesuffix(route)


def _read_identity(response: Response, model: str) -> Identity | None:
    """What a list of models says; None if the response is none."""
    plain = response.plain
    if response.status != 200 or not isinstance(plain, dict | list):
        return None
    # Some servers send the list alone, and some of those without any model send null.
    entries = plain if isinstance(plain, list) else plain.get("data", "")
    if entries is None:
        entries = []
    if not isinstance(entries, list):
        return None
    named = [one for one in entries if isinstance(one, dict) and isinstance(one.get("id"), str)]
    own = [one for one in named if one["id"] == model]
    return _identify(own, tuple(one["id"] for one in named), response.server)


def _identify(own: Sequence[dict[str, Any]], ids: tuple[str, ...], server: str) -> Identity:
    """The identity of a model by what the server says about it, or else by the list of all."""
    told = [{key: value for key, value in one.items() if key not in _PASSING} for one in own]
    text = json.dumps(told or sorted(ids), sort_keys=True, ensure_ascii=False)
    owner = next((str(one.get("owned_by", "")) for one in own), "")
    return Identity(
        ids,
        hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16],
        " ".join(part for part in (server, owner) if part)[:80],
    )
