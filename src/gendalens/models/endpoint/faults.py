"""What went wrong at a server, each in one sentence that says what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.endpoint.plain import read_dict, read_list, read_number
from gendalens.models.endpoint.secrets import Address, Redactor
from gendalens.words import N_

if TYPE_CHECKING:
    from gendalens.models.endpoint.client import Response

_CONTEXT = re.compile(r"context|too long|maximum.*length|max_model_len|n_ctx", re.IGNORECASE)
_MODEL = re.compile(r"model", re.IGNORECASE)
_LONGEST = 200  # characters that are quoted of a server's own message
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_STATUS = re.compile("[45][0-9]{2}")
# What servers call a question that a filter keeps from the model.
_FILTERED = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})


TOO_SLOW = N_(
    "{server} does not answer within {seconds:g} seconds: check its log, or raise --timeout, then run "
    "again; what was answered is stored."
)
SILENT = N_(
    "{server} cannot be reached ({reason}): check that the server runs and that --endpoint is right, "
    "then run again; what was answered is stored."
)


class UnreachableError(UserError):
    """A server did not answer however often it was asked."""


def find_failure(plain: Any) -> int:
    """The status of a failure that a gateway reports behind status 200; 0 if there is none."""
    code = read_dict(read_dict(plain).get("error")).get("code")
    status = (
        int(code) if isinstance(code, str) and _STATUS.fullmatch(code) else read_number(code) or 0
    )
    if 400 <= status < 600:
        return int(status)
    if read_dict(plain).get("choices", True) in ([], None):
        return 502
    choices = map(read_dict, read_list(read_dict(plain).get("choices")))
    return 502 if any(one.get("finish_reason") == "error" for one in choices) else 0


def is_filtered(response: Response) -> bool:
    """Whether a filter in front of the model declined the question."""
    error = read_dict(read_dict(response.plain).get("error"))
    return response.status == 400 and error.get("code") in _FILTERED


def is_used_up(response: Response) -> bool:
    """Whether the user's account is used up, which no patience helps against."""
    error = read_dict(read_dict(response.plain).get("error"))
    named = "insufficient_quota" in (error.get("code"), error.get("type"))
    return response.status == 402 or (response.status == 429 and named)


def explain_used_up(address: Address, response: Response, redactor: Redactor) -> UserError:
    """The error for an account that is used up."""
    return UserError(
        "{server} answers no more requests from your account ({reason}): top it up, then run again; "
        "what was answered is stored.",
        server=address.host,
        reason=quote_server(response, redactor),
    )


def explain_silence(
    address: Address, problem: Exception | Response, redactor: Redactor, timeout: float
) -> UserError:
    """The error for a server that did not answer however often it was asked."""
    if not isinstance(problem, Exception):
        return UserError(
            "{server} stays too busy or fails (status {status}: {reason}): run again later; what was "
            "answered is stored.",
            server=address.host,
            status=problem.status,
            reason=quote_server(problem, redactor),
        )
    if isinstance(problem, TimeoutError) or "Timeout" in type(problem).__name__:
        return UnreachableError(TOO_SLOW, server=address.host, seconds=timeout)
    return UnreachableError(
        SILENT,
        server=address.host,
        reason=redactor.clean(str(problem).strip() or type(problem).__name__)[:_LONGEST],
    )


def explain_wait(address: Address, seconds: float) -> UserError:
    """The error for a server that wants to be left alone for long."""
    return UserError(
        "{server} wants to be asked again in {minutes:,.0f} minutes at the earliest: run again then; "
        "what was answered is stored.",
        server=address.host,
        minutes=seconds / 60,
    )


def explain_certificate(address: Address, error: Exception) -> UserError:
    """The error for a server whose certificate cannot be verified."""
    return UserError(
        "The certificate of {server} cannot be verified ({reason}), so nothing was sent: to trust it, "
        "name the file of the certificate in the environment variable {variable}.",
        variable="SSL_CERT_FILE",
        server=address.host,
        reason=" ".join(str(error).split())[:_LONGEST],
    )


def explain_size(address: Address, size: int) -> UserError:
    """The error for a response that is larger than any of a language model."""
    return UserError(
        "{server} answers with more than {size} MB: it is not an endpoint of a language model.",
        server=address.host,
        size=size,
    )


def explain_status(
    address: Address, response: Response, redactor: Redactor, known: tuple[str, ...] = ()
) -> UserError:
    """The error for a response that is no answer; ``known`` are the models that the server has."""
    status, server = response.status, address.host
    quoted = quote_server(response, redactor)
    if status in (401, 403):
        return UserError(
            "{server} refuses the key (status {status}: {reason}): name the environment variable that "
            "holds the right one with --key-env, or another header with --header.",
            server=server,
            status=status,
            reason=quoted,
        )
    if 300 <= status < 400 and _leads_elsewhere(address, response.location):
        return UserError(
            "{server} redirects to {target}, which you did not name, so nothing was sent there: "
            "give that address with --endpoint if you trust it.",
            server=server,
            target=redactor.clean(response.location.partition("?")[0])[:_LONGEST] or "?",
        )
    if status in (400, 413, 422) and _CONTEXT.search(quoted):
        return UserError(
            "A question is too long for the context of the model at {server} ({reason}): start the "
            "server with a larger context.",
            server=server,
            reason=quoted,
        )
    if status in (400, 404) and known and _MODEL.search(quoted):
        return UserError(
            "{server} does not have this model ({reason}); it has {known}.",
            server=server,
            reason=quoted,
            known=known[:20],
        )
    if status == 200:
        return UserError(
            "{server} does not answer in the form of the OpenAI protocol (“{reason}”): check that "
            "--endpoint names the address of the API, which often ends in /v1.",
            server=server,
            reason=quoted,
        )
    return UserError(
        "{server} answers with status {status} ({reason}): check the address, the model and the "
        "server's log.",
        server=server,
        status=status,
        reason=quoted if response.location == "" else redactor.clean(response.location)[:_LONGEST],
    )


def _leads_elsewhere(address: Address, location: str) -> bool:
    """Whether a redirect leads to another server."""
    origin = "/".join(address.url.split("/")[:3])
    return "//" in location and not f"{location}/".startswith(f"{origin}/")


def quote_server(response: Response, redactor: Redactor) -> str:
    """The server's own message, shortened and without secrets."""
    plain = response.plain
    message: Any = ""
    if isinstance(plain, dict):
        error = plain.get("error", plain.get("detail", plain.get("message", "")))
        message = error.get("message", "") if isinstance(error, dict) else error
    text = message if isinstance(message, str) and message else _read_page(response.text)
    return redactor.clean(" ".join(text.split()))[:_LONGEST] or "–"


def _read_page(text: str) -> str:
    """What a page in HTML says, by its title if it has one; any other text as it is."""
    if not text.lstrip().startswith("<"):
        return text
    title = _TITLE.search(text)
    return title[1] if title else _TAG.sub(" ", text)
