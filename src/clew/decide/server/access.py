"""Who may ask: holders of the key, and no web page that a person happens to have open.

A page of another site can make a browser send requests to this machine: straight away (then the browser names the
page's origin), or under a name of its own that it points at 127.0.0.1 (then the Host header holds that name).
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from clew.decide.server.refusals import Forbidden, NotAuthenticated

_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class Headers(Protocol):
    """Headers of a request."""

    def get_all(self, name: str) -> list[str] | None:
        """All values of a header; None if it was not sent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rules for one listening address.

    Attributes:
        address: where the server listens.
        key: what clients must send as bearer token; None asks for nothing.
    """

    address: str
    key: str | None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches the address."""
        address = ipaddress.ip_address(self.address.split("%")[0])
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (mapped or address).is_loopback

    def check_sender(self, headers: Headers, *, is_reading: bool) -> None:
        """Refuse what a page of another site has sent.

        Args:
            is_reading: the request changes and reveals nothing to a page of another origin (GET, HEAD).

        Raises:
            Forbidden: the request names another host, or comes from another origin.
        """
        hosts = headers.get_all("Host") or []
        if self.is_loopback and any(_host_name(host) not in {*_LOCAL_NAMES, self.address} for host in hosts):
            raise Forbidden("This server is reached by localhost, 127.0.0.1 or [::1] only, not by another name.")
        origins = [] if is_reading else headers.get_all("Origin") or []
        if any(not hosts or _place(origin) != hosts[0].lower() for origin in origins):
            raise Forbidden("Pages of other origins may not ask this server.")

    def check_key(self, headers: Headers) -> None:
        """Compare a request's Authorization header with the key. Raises NotAuthenticated."""
        if self.key is None:
            return
        given = (headers.get_all("Authorization") or [""])[0]
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated("Send the key as a bearer token.")
        if not hmac.compare_digest(
            token.strip().encode("latin-1", "replace"), self.key.encode("utf-8", "surrogateescape")
        ):
            raise NotAuthenticated("The key is not the right one.")


def _host_name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _place(origin: str) -> str | None:
    """Host and port of an origin; None for one that names none, such as "null"."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
