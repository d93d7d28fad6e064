"""How many requests may be in flight: more while all goes well, half when the server is overloaded."""

from __future__ import annotations

import asyncio

FIRST = 8


class Pace:
    """A limit on simultaneous requests that adapts to the server.

    It grows by one for each window of successes, and is halved, at most once a window, when the server
    asks for patience or does not answer in time.
    """

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self.limit = float(min(FIRST, self.most))
        self.in_flight = 0
        self._spared = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def enter(self) -> None:
        """Wait until one more request may be sent."""
        while self.in_flight >= int(self.limit):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self.in_flight += 1

    def leave(self) -> None:
        """One request less is in flight."""
        self.in_flight -= 1
        self._wake()

    def succeed(self) -> None:
        """An answer came: the limit may grow."""
        self._spared = max(0, self._spared - 1)
        self.limit = min(float(self.most), self.limit + 1 / self.limit)

    def slow_down(self) -> None:
        """The server is overloaded: halve the limit."""
        if self._spared:
            return
        self.limit = max(1.0, self.limit / 2)
        self._spared = int(self.limit)

    def _wake(self) -> None:
        while self._waiting and self.in_flight < int(self.limit):
            turn = self._waiting.pop()
            if not turn.done():
                turn.set_result(None)
                return
