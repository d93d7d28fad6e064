"""The HTTP client: many requests in flight, patient with a busy server, and true to one address.

Built on httpx2, the maintained successor of httpx, which huggingface_hub brings along. No proxy,
``.netrc`` or other setting of the environment is used, so that a key goes to the endpoint that the user
named and nowhere else; certificates are verified, and redirects are never followed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import ssl
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.endpoint.events import is_stream, join_events
from gendalens.models.endpoint.faults import (
    explain_certificate,
    explain_silence,
    explain_size,
    explain_used_up,
    explain_wait,
    find_failure,
    is_used_up,
)
from gendalens.models.endpoint.line import Line, choose_line
from gendalens.models.endpoint.pace import Pace
from gendalens.models.endpoint.plain import mend_letters, read_dict, read_json
from gendalens.models.endpoint.secrets import Address, Redactor
from gendalens.models.endpoint.waits import read_wait
from gendalens.system.extras import write_install_command

if TYPE_CHECKING:
    import httpx2

#: How often a request is sent before the client gives up, and the waits between, in seconds.
MOST_ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = 0.25, 20.0
#: How long a server is asked again that wants patience, and the longest wait that it may ask for.
PATIENCE, LONGEST_ASKED_WAIT = 600.0, 300.0
#: How long answers are waited for after Ctrl-C, so that none is asked for again.
LAST_WAIT = 5.0
#: The largest response that is read, in bytes; a whole vocabulary of log-probabilities is smaller.
MOST_BYTES = 64 * 1024 * 1024
_BUSY = frozenset({408, 409, 425, 429})
# What a server cannot do, however often it is asked.
_UNABLE = frozenset({501, 505})
_OVERLOADED = frozenset({408, 429, 503, 504, 529})
# These ask for patience, so that they are no failures.
_PATIENT = frozenset({429, 503, 529})


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a route below the endpoint's address, and the body; without a body, a GET.

    With ``at_root``, the route is below the address without its ``/v1``.
    """

    route: str
    body: str = ""
    at_root: bool = False

    @classmethod
    def of(cls, route: str, body: dict[str, Any]) -> Call:
        """A call with a JSON body, written the same way every time."""
        return cls(route, json.dumps(body, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class Response:
    """The status and the text of a response, and its JSON; None if it is none.

    ``location`` if it redirects, ``server`` if it says so.
    """

    status: int
    text: str
    plain: Any = None
    location: str = ""
    server: str = ""

    @property
    def is_broken(self) -> bool:
        """Whether it looks like an answer that broke off."""
        return (
            self.status == 200
            and self.plain is None
            and (self.text.lstrip()[:1] in ("", "{") or is_stream(self.text))
        )

    @property
    def says_nothing(self) -> bool:
        """Whether it claims to be an answer and is none, but an error or JSON of another kind."""
        plain = read_dict(self.plain)
        holds_answer = "choices" in plain or "answers" in plain
        return self.status in (200, 204) and (bool(plain.get("error")) or not holds_answer)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done for an answer.

    ``attempts`` are made; with ``is_patient``, those that the server asked to repeat later do not count.
    A failure of one of the statuses in ``takes`` is a response in the end, and is not waited for. With
    ``insists``, a response without an answer is a failure for the moment.
    """

    attempts: int = MOST_ATTEMPTS
    is_patient: bool = True
    takes: frozenset[int] = frozenset()
    insists: bool = False


_FULL_EFFORT = Effort()
_INSISTING = Effort(insists=True)
#: Receives the index of a call and its response, in the client's thread, as soon as it has arrived.
Receiver = Callable[[int, Response], None]


class Client:
    """Sends calls to the addresses of one model, in a thread with an event loop of its own."""

    def __init__(
        self, addresses: Sequence[Address], redactor: Redactor, *, timeout: float, most: int
    ) -> None:
        self.lines = [Line(address) for address in addresses]
        self.redactor = redactor
        self.timeout = timeout
        self.pace = Pace(most)
        self.failed_attempts = 0
        self._is_stopping = False
        self._http: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def fetch(
        self, call: Call, effort: Effort = _FULL_EFFORT, *, address: Address | None = None
    ) -> Response:
        """The response to one call, by any server or by that at an address."""
        found: list[Response] = []
        lines = self.lines if address is None else [Line(address)]
        self._run([call], lambda _, response: found.append(response), effort, lines)
        return found[0]

    def fetch_all(self, calls: Sequence[Call], receive: Receiver) -> None:
        """Send all calls and hand over each response as it arrives.

        After an error, what is in flight is still received before the error is raised; after Ctrl-C, it
        is waited for a little, unless Ctrl-C is pressed again.
        """
        self._run(calls, receive, _INSISTING, self.lines)

    def _run(
        self, calls: Sequence[Call], receive: Receiver, effort: Effort, lines: Sequence[Line]
    ) -> None:
        loop = self._start()
        self._is_stopping = False
        fetching = self._fetch_all(calls, receive, effort, lines)
        running = asyncio.run_coroutine_threadsafe(fetching, loop)
        try:
            running.result()
        except KeyboardInterrupt:
            self._is_stopping = True
            with suppress(TimeoutError, UserError):
                running.result(timeout=LAST_WAIT)
            running.cancel()
            raise
        except BaseException:
            running.cancel()
            raise

    def close(self) -> None:
        """Close the connections and end the thread."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        if self._http is not None:
            with suppress(TimeoutError, CancelledError):
                asyncio.run_coroutine_threadsafe(self._http.aclose(), loop).result(timeout=5)
            self._http = None
        loop.call_soon_threadsafe(loop.stop)

    def _start(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._http = _open_http(self.timeout, self.pace.most)
            loop = asyncio.new_event_loop()
            threading.Thread(target=_run_loop, args=(loop,), name="endpoint", daemon=True).start()
            self._loop = loop
        return self._loop

    async def _fetch_all(
        self, calls: Sequence[Call], receive: Receiver, effort: Effort, lines: Sequence[Line]
    ) -> None:
        waiting = deque(enumerate(calls))
        errors: list[Exception] = []

        async def work() -> None:
            while waiting and not errors and not self._is_stopping:
                await self.pace.enter()
                try:
                    if not waiting or errors or self._is_stopping:
                        return
                    index, call = waiting.popleft()
                    receive(index, await self._fetch(call, effort, lines))
                except Exception as error:
                    errors.append(error)
                finally:
                    self.pace.leave()

        workers = [asyncio.ensure_future(work()) for _ in range(min(self.pace.most, len(calls)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        if errors:
            raise errors[0]

    async def _fetch(self, call: Call, effort: Effort, lines: Sequence[Line]) -> Response:
        """The response to one call, sent again while the server is busy or unreachable."""
        began, failures = monotonic(), 0
        while True:
            line = await _wait_for_line(lines)
            found = await self._try(line, call)
            failures += 1
            is_last = failures >= effort.attempts
            if isinstance(found, Response):
                if is_used_up(found):
                    raise explain_used_up(line.address, found, self.redactor)
                is_none = found.is_broken or (effort.insists and found.says_nothing)
                is_error = is_none and "error" in read_dict(found.plain)
                if not _is_busy(found.status) and not is_error and (is_last or not is_none):
                    self.pace.succeed()
                    line.busy = 0
                    return found
                if is_last and found.status in effort.takes:
                    return found
                if found.status in _OVERLOADED:
                    self.pace.slow_down()
                if found.status in _PATIENT - effort.takes and effort.is_patient:
                    failures -= monotonic() - began < PATIENCE
                    line.hold_back(_choose_wait)
            self.failed_attempts += 1
            if failures >= effort.attempts:
                raise explain_silence(line.address, found, self.redactor, self.timeout)
            if failures:
                await asyncio.sleep(_choose_wait(failures))

    async def _try(self, line: Line, call: Call) -> Response | Exception:
        """A response, or what was in its way."""
        import httpx2

        line.in_flight += 1
        try:
            async with asyncio.timeout(self.timeout):
                response, asked_wait = await self._send(line.address, call)
        except (httpx2.RequestError, TimeoutError) as error:
            if _is_about_certificate(error):
                raise explain_certificate(line.address, error) from None
            line.fail(monotonic())
            if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
                self.pace.slow_down()
            return error
        finally:
            line.in_flight -= 1
        line.succeed()
        # After an answer, a long wait is one until the whole limit is free again; a part may do.
        if response.status != 200 or asked_wait <= LONGEST_ASKED_WAIT:
            line.hold(monotonic() + asked_wait)
        return response

    async def _send(self, address: Address, call: Call) -> tuple[Response, float]:
        """The response of a server, and how long it wants to be left alone."""
        assert self._http is not None
        base = address.url.removesuffix("/v1") if call.at_root else address.url
        data = bytearray()
        async with self._http.stream(
            "POST" if call.body else "GET",
            f"{base}{call.route}",
            content=call.body.encode() if call.body else None,
            headers={
                **address.headers,
                **({"content-type": "application/json"} if call.body else {}),
            },
        ) as sent:
            async for part in sent.aiter_bytes():
                data += part
                if len(data) > MOST_BYTES:
                    raise explain_size(address, MOST_BYTES // 1024 // 1024)
        # A server may repeat what it was sent.
        text = self.redactor.clean(data.decode("utf-8-sig", errors="replace"))
        plain = self.redactor.clean_plain(_read_plain(text))
        status = sent.status_code
        response = Response(
            find_failure(plain) or status if status == 200 else status,
            text,
            plain,
            self.redactor.clean(sent.headers.get("location", "")),
            self.redactor.clean(sent.headers.get("server", "")),
        )
        return response, read_wait(sent.status_code, sent.headers)


async def _wait_for_line(lines: Sequence[Line]) -> Line:
    """The line for the next request, once it may be sent; a server may ask for more time meanwhile."""
    while True:
        line = choose_line(lines, monotonic())
        wait = line.held_until - monotonic()
        if wait <= 0:
            return line
        if wait > LONGEST_ASKED_WAIT:
            raise explain_wait(line.address, wait)
        await asyncio.sleep(wait)


def _read_plain(text: str) -> Any:
    plain = join_events(text) if is_stream(text) else read_json(text)
    if isinstance(plain, list) and len(plain) == 1 and "error" in read_dict(plain[0]):
        plain = plain[0]  # Google's servers put an error into an array
    return mend_letters(plain) if "\\ud" in text.lower() else plain


def _is_busy(status: int) -> bool:
    """Whether a request may be answered if it is sent again."""
    # Beyond the standard: 520 to 530 by Cloudflare, 529 by overloaded models.
    return status in _BUSY or (status >= 500 and status not in _UNABLE)


def _is_about_certificate(error: BaseException | None) -> bool:
    """Whether a connection failed because the server's certificate could not be verified."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _open_http(timeout: float, most: int) -> httpx2.AsyncClient:
    try:
        import httpx2
    except ModuleNotFoundError:
        raise UserError(
            "Models behind an endpoint need the package httpx2: run `{command}`.",
            command=write_install_command("endpoint"),
        ) from None
    return httpx2.AsyncClient(
        # Certificates of the user's own organisation are trusted where OpenSSL is told to.
        verify=ssl.create_default_context() if os.environ.get("SSL_CERT_FILE") else True,
        timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
        limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
        follow_redirects=False,
        trust_env=False,
        headers={"user-agent": "gendalens", "accept": "application/json"},
    )


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _choose_wait(attempt: int) -> float:
    """Twice as long each time, with jitter, so that many clients do not come back together."""
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (max(attempt, 1) - 1))
    return wait * random.uniform(0.5, 1.0)  # noqa: S311
