"""The HTTP client: many requests in flight, patient with a busy server, and true to one address.

Built on httpx2, the maintained successor of httpx, which huggingface_hub brings along. No proxy,
``.netrc`` or other setting of the environment is used, so that a key goes to the endpoint that the user
named and nowhere else; certificates are verified, and redirects are never followed.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import count
from time import time
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.endpoint.faults import explain_silence
from gendalens.models.endpoint.pace import Pace
from gendalens.models.endpoint.secrets import Address, Redactor

if TYPE_CHECKING:
    import httpx2

#: How often a request is sent before the client gives up, and the waits between, in seconds.
MOST_ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED_WAIT = 0.25, 20.0, 120.0
#: The largest response that is read, in bytes; a whole vocabulary of log-probabilities is smaller.
MOST_BYTES = 64 * 1024 * 1024
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_OVERLOADED = frozenset({408, 429, 503, 504, 529})


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
    """The status and the text of a response; ``location`` if it redirects, ``server`` if it says so."""

    status: int
    text: str
    location: str = ""
    server: str = ""

    @property
    def plain(self) -> Any:
        """The JSON of the text; None if it is none."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None


#: Receives the index of a call and its response, in the client's thread, as soon as it has arrived.
Receiver = Callable[[int, Response], None]


class Client:
    """Sends calls to the addresses of one model, in a thread with an event loop of its own."""

    def __init__(
        self, addresses: Sequence[Address], redactor: Redactor, *, timeout: float, most: int
    ) -> None:
        self.addresses = addresses
        self.redactor = redactor
        self.timeout = timeout
        self.pace = Pace(most)
        self.failed_attempts = 0
        self._turns = count()
        self._http: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def fetch(self, call: Call, *, attempts: int = MOST_ATTEMPTS) -> Response:
        """The response to one call."""
        found: list[Response] = []
        self.fetch_all([call], lambda _, response: found.append(response), attempts=attempts)
        return found[0]

    def fetch_all(
        self, calls: Sequence[Call], receive: Receiver, *, attempts: int = MOST_ATTEMPTS
    ) -> None:
        """Send all calls and hand over each response as it arrives.

        After an error, what is in flight is still received before the error is raised; Ctrl-C cancels.
        """
        loop = self._start()
        running = asyncio.run_coroutine_threadsafe(self._fetch_all(calls, receive, attempts), loop)
        try:
            running.result()
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

    async def _fetch_all(self, calls: Sequence[Call], receive: Receiver, attempts: int) -> None:
        waiting = deque(enumerate(calls))
        errors: list[Exception] = []

        async def work() -> None:
            while waiting and not errors:
                await self.pace.enter()
                try:
                    if not waiting or errors:
                        return
                    index, call = waiting.popleft()
                    receive(index, await self._fetch(call, attempts))
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

    async def _fetch(self, call: Call, attempts: int) -> Response:
        """The response to one call, sent again while the server is busy or unreachable."""
        import httpx2

        problem: Exception | Response | None = None
        for attempt in range(attempts):
            if attempt:
                await asyncio.sleep(_choose_wait(attempt))
            address = self.addresses[next(self._turns) % len(self.addresses)]
            try:
                async with asyncio.timeout(self.timeout):
                    response, asked_wait = await self._send(address, call)
            except (httpx2.TransportError, TimeoutError) as error:
                problem = error
                self.failed_attempts += 1
                if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
                    self.pace.slow_down()
                continue
            if response.status not in _BUSY:
                self.pace.succeed()
                return response
            self.failed_attempts += 1
            problem = response
            if response.status in _OVERLOADED:
                self.pace.slow_down()
            if asked_wait and attempt + 1 < attempts:
                await asyncio.sleep(min(asked_wait, LONGEST_ASKED_WAIT))
        raise explain_silence(address, problem, self.redactor)

    async def _send(self, address: Address, call: Call) -> tuple[Response, float]:
        assert self._http is not None
        base = address.url.removesuffix("/v1") if call.at_root else address.url
        sent = await self._http.request(
            "POST" if call.body else "GET",
            f"{base}{call.route}",
            content=call.body.encode() if call.body else None,
            headers={
                **address.headers,
                **({"content-type": "application/json"} if call.body else {}),
            },
        )
        if len(sent.content) > MOST_BYTES:
            raise UserError(
                "{server} answers with more than {size} MB: it is not an endpoint of a language model.",
                server=address.host,
                size=MOST_BYTES // 1024 // 1024,
            )
        headers = sent.headers
        return (
            Response(
                sent.status_code,
                # A server may repeat what it was sent.
                self.redactor.clean(sent.content.decode(errors="replace")),
                headers.get("location", ""),
                headers.get("server", ""),
            ),
            _read_wait(headers.get("retry-after", "")),
        )


def _open_http(timeout: float, most: int) -> httpx2.AsyncClient:
    try:
        import httpx2
    except ModuleNotFoundError:
        raise UserError(
            "Models behind an endpoint need the package httpx2: run pip install 'gendalens[endpoint]'."
        ) from None
    return httpx2.AsyncClient(
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
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311


def _read_wait(text: str) -> float:
    """The seconds of a Retry-After header; 0 if there is none."""
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except (TypeError, ValueError):
        return 0.0
