"""Keys, headers and addresses with credentials: the one place that knows them and blots them out."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

from gendalens.errors import UserError
from gendalens.models.endpoint_options import EndpointOptions

FROM_ENVIRONMENT = "env:"
BLOT = "•••"
_HEADER = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*?)\s*", re.DOTALL)
# Shorter values occur in ordinary texts, and blotting them out would make messages unreadable.
_SHORTEST = 6
# In capital letters, as is usual: a key that was given by mistake looks otherwise.
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


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

    def clean_plain(self, plain: Any) -> Any:
        """Plain JSON without secrets, also where they were written with escapes."""
        if not self.secrets:
            return plain
        if isinstance(plain, str):
            return self.clean(plain)
        if isinstance(plain, list):
            return [self.clean_plain(one) for one in plain]
        if isinstance(plain, dict):
            return {self.clean(key): self.clean_plain(value) for key, value in plain.items()}
        return plain


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
        try:
            parts = urlsplit(given.strip())
            _ = parts.port
        except ValueError:  # a bracket or a port that is none
            parts = urlsplit("")
        if "@" in parts.path:  # a password with a slash in it is cut there, and must not be shown
            parts = urlsplit("")
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
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            headers["authorization"] = f"Basic {token}"
            # Without a password, the name is the key.
            secrets += [token, password or user]
        secrets += headers.values()
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
    if not _VARIABLE.fullmatch(name):
        # It may be the key itself, so it is not repeated.
        raise UserError(
            "{option} takes the name of an environment variable in capital letters, such as {example}, "
            "and not the key: correct it.",
            option=option,
            example="MY_KEY",
        )
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
    """The secrets in all ways a server may write them, longest first, so that none is left in part."""
    found = set()
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            encoded = base64.b64encode(secret.encode()).decode()
            found |= {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), encoded}
            found |= {json.dumps(secret)[1:-1], secret.replace("/", "\\/"), encoded.rstrip("=")}
            found.add(base64.urlsafe_b64encode(secret.encode()).decode())
    return tuple(sorted(found, key=len, reverse=True))
