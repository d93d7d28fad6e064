"""What went wrong between here and the hub, each fault with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gendalens.errors import UserError
from gendalens.words import Message, phrase

LONGEST_REASON = 160  # characters
_SLOW = ("Timeout", "ReadTimeout", "ConnectTimeout", "WriteTimeout", "PoolTimeout", "TimeoutError")
_UNREACHABLE = ("ConnectError", "ConnectionError", "ConnectionRefusedError", "gaierror")
_BROKEN = ("RemoteProtocolError", "ReadError", "IncompleteRead", "ChunkedEncodingError")
_NOT_THE_HUB = ("JSONDecodeError", "FileMetadataError", "DecodingError")


class UnbelievableError(UserError):
    """An answer of the hub that no hub gives."""


def walk_causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and its chain of causes."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def describe_fault(error: BaseException) -> Message | str:
    """The fault behind an error of the hub's library, and what to do, as the end of a sentence."""
    links = list(walk_causes(error))
    kinds = {type(link).__name__ for link in links}
    if "DisabledRepoError" in kinds:
        return phrase("the hub has disabled this repository; use another one or local files")
    for link in links:
        response: Any = getattr(link, "response", None)
        if isinstance(status := getattr(response, "status_code", None), int) and status >= 400:
            return _describe_status(status, response.headers.get("Retry-After", ""))
    if kinds & {*_NOT_THE_HUB}:
        return phrase(
            "the answer does not come from a hub (perhaps from a login page of the network); open a"
            " browser and log in, or check HF_ENDPOINT"
        )
    if kinds & {*_SLOW}:
        return phrase("the hub does not answer in time; try again later")
    if kinds & {*_BROKEN} or any("Consistency check failed" in str(link) for link in links):
        return phrase("the download broke off or has the wrong size; try again")
    if kinds & {*_UNREACHABLE}:
        return phrase("the hub does not answer; check the connection")
    first = (str(error).strip() or type(error).__name__).splitlines()[0][:LONGEST_REASON]
    return phrase("the hub's library fails ({reason}); try again", reason=first.rstrip(". "))


def _describe_status(status: int, wait: str) -> Message:
    if status == 401:
        return phrase(
            "the hub refuses your access token (401); log in again with `hf auth login`, or unset"
            " HF_TOKEN"
        )
    if status == 403:
        return phrase(
            "the hub forbids access (403); check that your access token may read this repository"
        )
    if status == 429 and wait.isascii() and wait.isdigit() and len(wait) < 7:
        return phrase(
            "the hub has had too many requests (429); try again in {seconds} seconds",
            seconds=int(wait),
        )
    if status == 429:
        return phrase("the hub has had too many requests (429); try again in a few minutes")
    if status >= 500:
        return phrase("the hub has an error of its own ({status}); try again later", status=status)
    return phrase(
        "the hub refuses the request ({status}); check the name and HF_ENDPOINT", status=status
    )
