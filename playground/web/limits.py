"""How much one address and one process may ask for."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from playground.errors import PlaygroundError
from playground.settings import Settings

REFUSALS_PER_MINUTE = 120
"""Messages that one socket may have refused in a minute."""

WRONG_CODES_PER_MINUTE = 60
"""Codes of no room that one address may try in a minute; a class behind one address may mistype."""

ROOMS_PER_MINUTE = 10
"""Rooms that one address may open in a minute."""

SWITCHES_PER_MINUTE = 6
"""Of the model, for one address."""

UPLOADS_PER_MINUTE = 30
"""Of one address."""


class Limits:
    """Counts sockets, starts and refusals. Addresses are what the server says, behind proxies that it trusts."""

    def __init__(self, settings: Settings) -> None:
        self.sockets = 0
        self._max_sockets = settings.max_sockets
        self._max_runs = settings.max_runs_per_socket
        self._max_runs_of_address = settings.max_runs_per_address
        self._starts = RateLimitItemPerMinute(settings.starts_per_minute)
        self._refusals = RateLimitItemPerMinute(REFUSALS_PER_MINUTE)
        self._wrong_codes = RateLimitItemPerMinute(WRONG_CODES_PER_MINUTE)
        self._rooms = RateLimitItemPerMinute(ROOMS_PER_MINUTE)
        self._uploads = RateLimitItemPerMinute(UPLOADS_PER_MINUTE)
        self._switches = RateLimitItemPerMinute(SWITCHES_PER_MINUTE)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    @contextmanager
    def socket(self) -> Iterator[None]:
        """Count a socket as open. Raises `PlaygroundError` (`busy`) if there are too many."""
        if self.sockets >= self._max_sockets:
            raise PlaygroundError("busy", f"The server already has {self._max_sockets} open sockets, its most.")
        self.sockets += 1
        try:
            yield
        finally:
            self.sockets -= 1

    def refusal(self, socket: str) -> bool:
        """Count a refused message of a socket; whether there may be more."""
        return self._limiter.hit(self._refusals, "refusal", socket)

    def upload(self, address: str) -> None:
        """Count an upload from an address. Raises `PlaygroundError` (`busy`)."""
        if not self._limiter.hit(self._uploads, "upload", address):
            message = f"At most {self._uploads.amount} uploads a minute are allowed from one address; wait a little."
            raise PlaygroundError("busy", message)

    def start(self, address: str, going: int, going_of_address: int = 0) -> None:
        """Count a start from an address, by a socket with so many runs going; on all sockets of the address so many.

        Raises `PlaygroundError` (`busy`).
        """
        if going >= self._max_runs:
            runs = f"{going} run{'s' if going > 1 else ''}"
            message = f"This socket already has {runs} going, its most; wait for one to end, or cancel one."
            raise PlaygroundError("busy", message)
        if going_of_address >= self._max_runs_of_address:
            runs = f"{going_of_address} run{'s' if going_of_address > 1 else ''}"
            message = f"Your address already has {runs} going, its most; wait for one to end, or cancel one."
            raise PlaygroundError("busy", message)
        self._count(self._starts, "starts", address)

    def wrong_code(self, address: str) -> None:
        """Count a code of no room. Raises `PlaygroundError` (`busy`)."""
        self._count(self._wrong_codes, "wrong codes", address)

    def room(self, address: str) -> None:
        """Count a room that is opened. Raises `PlaygroundError` (`busy`)."""
        self._count(self._rooms, "new rooms", address)

    def switch(self, address: str) -> None:
        """Count a switch of the model. Raises `PlaygroundError` (`busy`)."""
        self._count(self._switches, "switches of the model", address)

    def _count(self, item: RateLimitItemPerMinute, what: str, address: str) -> None:
        if not self._limiter.hit(item, what, address):
            reset = self._limiter.get_window_stats(item, what, address).reset_time
            wait = max(1, math.ceil(reset - time.time()))
            message = f"At most {item.amount} {what} a minute are allowed from one address; wait {wait} s."
            raise PlaygroundError("busy", message)
