"""Keys, headers and addresses with credentials: the one place that knows them and blots them out."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from gendalens.errors import UserError
from gendalens.models.endpoint_options import EndpointOptions

FROM_ENVIRONMENT = "env:"
BLOT = "•••"
_HEADER = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*?)\s*", re.DOTALL)
# Shorter values occur in ordinary texts, and blotting them out would make messages unreadable.
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server without credentials, and the headers that are sent to it alone."""

    url: str
    headers: dict[str, str] = field(repr=False)

    @property
    def host(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True, slots=True)
class Redactor:
    """Blots out everything secret in a text."""

    secrets: tuple[str, ...] = field(repr=False)

    def clean(self, text: str) -> str:
        """The text without secrets."""
        for secret in self.secrets:
            text = text.replace(secret, BLOT)
        return text


def read_addresses(options: EndpointOptions) -> tuple[tuple[Address, ...], Redactor]:
    """The addresses that the user gave, and what blots out their secrets."""
    if not options.urls:
        raise UserError(
            "A model behind an endpoint needs its address: add --endpoint URL, such as "
            "http://localhost:8000/v1."
        )
    shared, secrets = _read_headers(options)
    addresses = []
    for given in options.urls:
        parts = urlsplit(given.strip())
        # The user's mistake is shown without what stands before the @.
        shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(
                "{url} is not the address of an endpoint: give one such as http://localhost:8000/v1.",
                url=shown or "?",
            )
        headers = dict(shared)
        if parts.query:
            raise UserError(
                "The address {url} has a query (?…): leave it out, and send what it holds with --header.",
                url=shown,
            )
        if parts.username or parts.password:
            pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
            token = base64.b64encode(pair.encode()).decode()
            headers["authorization"] = f"Basic {token}"
            secrets += [token, pair, parts.password or "", unquote(parts.password or "")]
            secrets += [parts.username or ""] if not parts.password else []
        addresses.append(Address(shown.rstrip("/"), headers))
    return tuple(addresses), Redactor(_usable(secrets))


def _read_headers(options: EndpointOptions) -> tuple[dict[str, str], list[str]]:
    headers: dict[str, str] = {}
    secrets: list[str] = []
    if options.key_env is not None:
        key = _read_variable(options.key_env, "--key-env")
        headers["authorization"] = f"Bearer {key}"
        secrets.append(key)
    for given in options.headers:
        found = _HEADER.fullmatch(given)
        if found is None:
            raise UserError(
                "A header has the form NAME: VALUE, or NAME: env:VARIABLE to take its value from the "
                "environment: correct --header."
            )
        name, value = found[1].lower(), found[2]
        if value.startswith(FROM_ENVIRONMENT):
            value = _read_variable(value.removeprefix(FROM_ENVIRONMENT).strip(), "--header")
        _check_sendable(value, "--header")
        headers[name] = value
        secrets += [value, value.partition(" ")[2]]
    return headers, secrets


def _read_variable(name: str, option: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise UserError(
            "The environment variable {name} is not set: set it, or name another with {option}.",
            name=name,
            option=option,
        )
    _check_sendable(value, option)
    return value


def _check_sendable(value: str, option: str) -> None:
    if not (value.isascii() and value.isprintable()):
        raise UserError(
            "The value for {option} holds characters that a header cannot: correct it.",
            option=option,
        )


def _usable(secrets: Iterable[str]) -> tuple[str, ...]:
    """The secrets, longest first, so that none is blotted out in part."""
    found = {secret for secret in secrets if len(secret) >= _SHORTEST}
    return tuple(sorted(found, key=len, reverse=True))
