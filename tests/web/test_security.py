import pytest

from playground.web.security import may_connect, new_control, same_control


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:7860", "localhost:7860"),
        ("http://example.org", "example.org"),
        ("https://example.org", "example.org"),
        ("https://example.org", "example.org:443"),
        ("http://example.org:80", "example.org"),
        ("https://Example.ORG", "example.org"),
        ("http://[::1]:7860", "[::1]:7860"),
        ("https://example.org.", "example.org"),
    ],
)
def test_the_pages_own_host_may_connect(origin: str, host: str) -> None:
    assert may_connect([origin], host)


@pytest.mark.parametrize(
    ("origins", "host"),
    [
        (["https://evil.example"], "example.org"),
        (["https://example.org.evil.example"], "example.org"),
        (["http://localhost:3000"], "localhost:7860"),
        (["http://example.org"], "example.org:443"),
        (["https://example.org:80"], "example.org"),
        (["null"], "example.org"),
        ([""], "example.org"),
        (["file://"], "example.org"),
        (["https://user@example.org"], "example.org"),
        (["https://example.org/path"], "example.org"),
        (["https://example.org:port"], "example.org"),
        (["https://[::1"], "example.org"),
        (["https://example.org", "https://example.org"], "example.org"),
        (["https://example.org"], None),
        (["https://example.org"], ""),
    ],
)
def test_any_other_origin_may_not(origins: list[str], host: str | None) -> None:
    assert not may_connect(origins, host)


def test_a_client_without_an_origin_is_no_browser_and_may() -> None:
    assert may_connect([], "example.org")


def test_allowed_origins_may_with_their_scheme_and_port() -> None:
    allowed = ("https://friend.example", "http://localhost:3000")
    assert may_connect(["https://friend.example:443"], "example.org", allowed)
    assert may_connect(["http://localhost:3000"], "example.org", allowed)
    assert not may_connect(["http://friend.example"], "example.org", allowed)
    assert not may_connect(["null"], "example.org", (*allowed, "null"))


def test_control_tokens_are_long_and_compare() -> None:
    token = new_control()
    assert len(token) == 43
    assert token != new_control()
    assert same_control(token, token)
    assert not any(same_control(given, token) for given in (None, "", token[:-1], "é", "\ud800"))
