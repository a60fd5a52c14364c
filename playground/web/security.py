"""Who may: the origin of a socket compared with the host it asks for, and tokens of control."""

import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

Origin = tuple[str, str, int]
"""Scheme, host and port."""


def may_connect(origins: list[str], host: str | None, allowed: Iterable[str] = ()) -> bool:
    """Whether a handshake may go on: its Origin is the host it asks for, or one of `allowed`.

    Browsers always send an Origin with a socket, and no cross-site rule holds them back otherwise. A client without
    one is no browser and may connect. Scheme differences are left aside, since a proxy may have taken TLS off.
    """
    if not origins:
        return True
    origin = _origin(origins[0]) if len(origins) == 1 else None
    if origin is None:
        return False
    scheme, name, port = origin
    own = _origin(f"{scheme}://{host}") if host else None
    return (own is not None and own[1:] == (name, port)) or origin in map(_origin, allowed)


def new_control() -> str:
    """A token that lets its holder steer a run: 256 random bits."""
    return secrets.token_urlsafe(32)


def same_control(given: str | None, expected: str) -> bool:
    """Compare tokens in constant time."""
    return given is not None and secrets.compare_digest(given.encode(errors="replace"), expected.encode())


def _origin(text: str) -> Origin | None:
    """The parts of an origin, ports filled in; none for what is not one, such as `null`."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path not in ("", "/"):
        return None
    if parts.query or parts.fragment or "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname.rstrip("."), DEFAULT_PORTS[parts.scheme] if port is None else port
