import pytest

from playground.errors import PlaygroundError
from playground.settings import Settings
from playground.web.limits import Limits


def test_sockets_are_counted_while_they_are_open() -> None:
    limits = Limits(Settings(max_sockets=2))
    with limits.socket(), limits.socket():
        with pytest.raises(PlaygroundError, match="already has 2 open sockets"), limits.socket():
            pass
        assert limits.sockets == 2
    assert limits.sockets == 0


def test_starts_are_counted_by_address() -> None:
    limits = Limits(Settings(starts_per_minute=2))
    for address in ("a", "b", "a", "b"):
        limits.start(address, going=0)
    with pytest.raises(PlaygroundError, match=r"At most 2 starts a minute .* wait \d+ s") as refusal:
        limits.start("a", going=0)
    assert refusal.value.code == "busy"


def test_a_socket_may_have_so_many_runs_going() -> None:
    limits = Limits(Settings(max_runs_per_socket=2, starts_per_minute=1))
    for _ in range(5):
        with pytest.raises(PlaygroundError, match="already has 2 runs going"):
            limits.start("a", going=2)
    limits.start("a", going=1)
