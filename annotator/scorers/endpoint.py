"""Which server a scorer or a webhook may talk to: hosts that the operator lists, and a check of every address.

The address is checked where the connection is made, and the checked address is the one connected to, so a name
that resolves differently a moment later gains nothing. Addresses that hand out a machine's credentials are never
connected to, whatever the list says.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], list[str]]

PORTS = {"http": 80, "https": 443}
#: Where clouds serve credentials to whoever asks, beside the link-local ranges.
METADATA = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"))
)
#: IPv6 prefixes that carry an IPv4 address in their last 32 bits.
_CARRIES_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96")))


class EndpointRefused(ValueError):
    """This server may not be used; the message says which rule it breaks."""


class NameNotFound(OSError):
    """The host's name does not resolve."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What servers are talked to for, and the setting that lists them; ``keeps_path``: the address is used as it is."""

    whom: str
    setting: str
    keeps_path: bool = False


SCORERS = Purpose("scorers", "STEPMARK_SCORER_HOSTS")
WEBHOOKS = Purpose("webhooks", "STEPMARK_WEBHOOK_HOSTS", keeps_path=True)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server: scheme, lower-case host, port, and a path prefix without its last slash. ``private`` says whether
    its addresses may be private ones."""

    scheme: str
    host: str
    port: int
    prefix: str
    private: bool
    purpose: Purpose = SCORERS

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"


def endpoint(url: str, allowed_hosts: Iterable[str], purpose: Purpose = SCORERS) -> Endpoint:
    """The server that a URL names. Raises EndpointRefused unless an entry of the list allows it.

    An entry is ``host:port``, or ``host`` for ports 80 and 443, or ``*.domain`` for the names below a domain. A
    host listed by its own name or address may be private; one that a ``*`` allows may not. A last ``/v1`` is left
    out: paths are added by the scorers.

    >>> str(endpoint("http://GPU1:8000/v1/", ["gpu1:8000"]))
    'http://gpu1:8000'
    >>> endpoint("http://gpu1:6379", ["gpu1"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    annotator.scorers.endpoint.EndpointRefused: gpu1:6379 is not among the hosts that this installation allows ...
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise EndpointRefused("The server's address is not a URL.") from error
    if parts.scheme not in PORTS:
        raise EndpointRefused("The server's address must start with http:// or https://.")
    if parts.username is not None or parts.password is not None:
        raise EndpointRefused(
            "The server's address may hold no password; name an environment variable instead."
        )
    if parts.query or parts.fragment or not parts.hostname:
        raise EndpointRefused("The server's address is a scheme, a host and a port, with no ? or #.")
    host = parts.hostname.rstrip(".")
    port = port or PORTS[parts.scheme]
    private = _allowed(host, port, allowed_hosts, purpose)
    if purpose.keeps_path:
        return Endpoint(parts.scheme, host, port, _path(parts.path), private, purpose)
    prefix = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return Endpoint(parts.scheme, host, port, prefix, private, purpose)


def _path(path: str) -> str:
    """A path that can stand in a request line. Raises EndpointRefused."""
    if not (path.isascii() and path.isprintable()) or " " in path:
        raise EndpointRefused("The server's address holds characters that must be percent-encoded.")
    return path or "/"


def _allowed(host: str, port: int, allowed_hosts: Iterable[str], purpose: Purpose) -> bool:
    """Whether the host may have private addresses. Raises EndpointRefused unless it is on the list."""
    matches = [_entry(entry) for entry in allowed_hosts]
    fitting = [name for name, ports in matches if port in ports and _fits(host, name)]
    if not fitting:
        raise EndpointRefused(
            f"{host}:{port} is not among the hosts that this installation allows for {purpose.whom}. "
            f"Ask its operator to add it to {purpose.setting}."
        )
    return any(not name.startswith("*.") for name in fitting)


def _entry(entry: str) -> tuple[str, tuple[int, ...]]:
    """An entry's host and ports: ``gpu1:8000``, ``gpu1``, ``[::1]:8000``, ``::1``."""
    entry = entry.strip().lower()
    if entry.count(":") > 1 and not entry.startswith("["):
        return entry, tuple(PORTS.values())
    host, colon, port = entry.rpartition(":")
    if colon and port.isdecimal():
        return host.strip("[]"), (int(port),)
    return entry.strip("[]"), tuple(PORTS.values())


def _fits(host: str, name: str) -> bool:
    if name.startswith("*."):
        return len(name) > 2 and host.endswith(name[1:]) and len(host) > len(name) - 1
    return host == name.rstrip(".")


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name, in the system's order. Raises NameNotFound."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise NameNotFound(f"The name {host} does not resolve to an address.") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def checked_addresses(server: Endpoint, resolver: Resolver = resolve) -> list[str]:
    """The addresses to connect to. Raises EndpointRefused unless *every* one is allowed, or NameNotFound."""
    addresses = resolver(server.host, server.port)
    if not addresses:
        raise NameNotFound(f"The name {server.host} does not resolve to an address.")
    for address in addresses:
        _check(ipaddress.ip_address(address.partition("%")[0]), server)
    return addresses


def is_public(address: str) -> bool:
    """Whether packets to this address leave for the internet."""
    return _plain(ipaddress.ip_address(address.partition("%")[0])).is_global


def _plain(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that carries it, else the same."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if carried is not None:
            return carried
        if int(address) > 1 and any(address in network for network in _CARRIES_IPV4):
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _check(given: Address, server: Endpoint) -> None:
    address = _plain(given)
    if address in METADATA or given in METADATA or address.is_link_local:
        raise EndpointRefused(f"{server.host} leads to {given}, which may hand out a machine's credentials.")
    if address.is_multicast or address.is_unspecified or (address.is_reserved and not address.is_loopback):
        raise EndpointRefused(f"{server.host} leads to {given}, which is no server's address.")
    if not address.is_global and not server.private:
        raise EndpointRefused(
            f"{server.host} leads to the private address {given}. A host on a private network must be listed "
            f"in {server.purpose.setting} by its own name."
        )
