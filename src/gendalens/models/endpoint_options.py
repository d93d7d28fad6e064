"""How a model behind an endpoint is reached and what it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """Where a model is served, how to ask it, and what it may cost.

    ``urls`` are servers of the same model, asked in turn. ``key_env`` names the environment variable
    that holds the key; without it, no key is sent. ``headers`` are "NAME: VALUE" or
    "NAME: env:VARIABLE". ``answer_by`` fixes the rung of the ladder. Prices are per million tokens.
    ``keep_raw`` keeps the responses of the server in the run folder. ``run_folder`` and ``use_cache``
    are those of the run.
    """

    # Addresses and headers are not shown in the representation: they may hold a key.
    urls: tuple[str, ...] = field(default=(), repr=False)
    key_env: str | None = field(default=None, repr=False)
    headers: tuple[str, ...] = field(default=(), repr=False)
    answer_by: str | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_tokens_total: int | None = None
    keep_raw: bool = False
    timeout: float = 120.0
    most_in_flight: int = 32
    run_folder: Path | None = None
    use_cache: bool = True


def as_endpoint(given: EndpointOptions | str | Sequence[str]) -> EndpointOptions:
    """The options of an endpoint that is given as such, or by one or several URLs."""
    if isinstance(given, EndpointOptions):
        return given
    return EndpointOptions(urls=(given,) if isinstance(given, str) else tuple(given))
