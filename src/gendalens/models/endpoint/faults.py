"""What went wrong at a server, each in one sentence that says what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.endpoint.secrets import Address, Redactor

if TYPE_CHECKING:
    from gendalens.models.endpoint.client import Response

_CONTEXT = re.compile(r"context|too long|maximum.*length|max_model_len|n_ctx", re.IGNORECASE)
_MODEL = re.compile(r"model", re.IGNORECASE)
_LONGEST = 200  # characters that are quoted of a server's own message


class BusyError(UserError):
    """A server gave this status however often it was asked."""

    status = 0


def explain_silence(
    address: Address, problem: Exception | Response | None, redactor: Redactor
) -> UserError:
    """The error for a server that did not answer however often it was asked."""
    if problem is None or isinstance(problem, Exception):
        reason = redactor.clean(str(problem).strip()) or type(problem).__name__
        return UserError(
            "{server} cannot be reached ({reason}): check that the server runs and that --endpoint "
            "is right, then run again; what was answered is stored.",
            server=address.host,
            reason=reason[:_LONGEST],
        )
    busy = BusyError(
        "{server} stays too busy or fails (status {status}: {reason}): run again later; what was "
        "answered is stored.",
        server=address.host,
        status=problem.status,
        reason=quote_server(problem, redactor),
    )
    busy.status = problem.status
    return busy


def explain_status(
    address: Address, response: Response, redactor: Redactor, known: tuple[str, ...] = ()
) -> UserError:
    """The error for a response that is no answer; ``known`` are the models that the server has."""
    status, server = response.status, address.host
    quoted = quote_server(response, redactor)
    if status in (401, 403):
        return UserError(
            "{server} refuses the key (status {status}): name the environment variable that holds "
            "the right one with --key-env, or another header with --header.",
            server=server,
            status=status,
        )
    if 300 <= status < 400:
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
        reason=quoted,
    )


def quote_server(response: Response, redactor: Redactor) -> str:
    """The server's own message, shortened and without secrets."""
    plain = response.plain
    message: Any = ""
    if isinstance(plain, dict):
        error = plain.get("error", plain.get("detail", plain.get("message", "")))
        message = error.get("message", "") if isinstance(error, dict) else error
    text = message if isinstance(message, str) and message else response.text
    return redactor.clean(" ".join(text.split()))[:_LONGEST] or "–"
