"""One server's line: how many requests it has in hand, whether it is down, and until when it is held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from gendalens.models.endpoint.secrets import Address

#: Failures to connect in a row after which a server is left out, and for how long, in seconds.
MOST_FAILURES, REST = 3, 30.0


class Line:
    """The requests to one address."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.in_flight = 0
        self.held_until = 0.0
        #: How often in a row the server asked for patience.
        self.busy = 0
        self._failures = 0
        self._down_until = 0.0

    def is_down(self, now: float) -> bool:
        """Whether the server has failed so often that it is left out for a while."""
        return now < self._down_until

    def succeed(self) -> None:
        """An answer came."""
        self._failures = 0
        self._down_until = 0.0

    def fail(self, now: float) -> None:
        """No answer came."""
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._down_until = now + REST

    def hold(self, until: float) -> None:
        """Send nothing before a time, as the server asked."""
        self.held_until = max(self.held_until, until)

    def hold_back(self, choose_wait: Callable[[int], float]) -> None:
        """Send nothing for a while, longer each time, if the server did not say for how long."""
        now = monotonic()
        # All that was in flight is turned away together, and counts once.
        if now >= self.held_until:
            self.busy += 1
            self.hold(now + choose_wait(self.busy))


def choose_line(lines: Sequence[Line], now: float) -> Line:
    """The line for the next request: one that is up and not held, and of those the least loaded."""
    return min(
        lines,
        key=lambda line: (line.is_down(now), max(line.held_until - now, 0.0), line.in_flight),
    )
