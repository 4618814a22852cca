"""Connections to one checked server: pooled, each request under one deadline, replies under a size cap."""

from __future__ import annotations

import errno
import http.client
import io
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotator.scorers.endpoint import (
    PORTS,
    Endpoint,
    EndpointRefused,
    Resolver,
    checked_addresses,
    is_public,
    resolve,
)

#: Seconds after which an idle connection is not trusted any more.
IDLE_SECONDS = 30.0
#: What is read of an answer that only explains an error.
ERROR_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one server. Seconds are for one request with its answer; ``concurrency`` counts requests at a time."""

    connect_seconds: float = 5.0
    seconds: float = 60.0
    request_bytes: int = 4 * 2**20
    reply_bytes: int = 16 * 2**20
    concurrency: int = 8
    attempts: int = 3


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ReplyTooLarge(Exception):
    """The answer is larger than its cap."""


class _UntilDeadline(io.RawIOBase):
    """Reads a socket, and never later than the deadline: a server that sends a byte a second gains nothing."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__()
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Reading:
    """What http.client needs of a socket to read an answer."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_UntilDeadline(self._sock, self._deadline))


class Connection(http.client.HTTPConnection):
    """One connection; ``fresh`` until its first answer. It follows no redirect and knows no proxy."""

    def __init__(
        self, server: Endpoint, limits: Limits, resolver: Resolver, context: ssl.SSLContext | None
    ) -> None:
        super().__init__(server.host, server.port, timeout=limits.connect_seconds)
        self.default_port = PORTS[server.scheme]  # so that the Host header leaves out the usual port
        self._server, self._limits, self._resolver, self._context = server, limits, resolver, context
        self._deadline = 0.0
        self.fresh = True
        self.secret = False
        self.response_class = self._response  # type: ignore[assignment]  # http.client only calls it

    def connect(self) -> None:
        """Connect to an address that was checked just now."""
        addresses = checked_addresses(self._server, self._resolver)
        if self.secret and self._context is None and any(map(is_public, addresses)):
            raise EndpointRefused("The key would cross the internet unencrypted; use https://.")
        raw = self._dial(addresses)
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            context = self._context
            self.sock = context.wrap_socket(raw, server_hostname=self._server.host) if context else raw
        except OSError:
            raw.close()
            raise

    def _dial(self, addresses: list[str]) -> socket.socket:
        problem: OSError | None = None
        for address in addresses:
            left = min(self._limits.connect_seconds, self._deadline - time.monotonic())
            try:
                return socket.create_connection((address, self._server.port), timeout=max(left, 0.001))
            except TimeoutError:
                problem = ConnectionAbortedError(errno.ETIMEDOUT, "it took too long to connect")
            except OSError as error:
                problem = error
        raise problem or ConnectionAbortedError(errno.EADDRNOTAVAIL, "there is no address to connect to")

    def _response(self, sock: Any, *_: Any, method: str | None = None, **__: Any) -> http.client.HTTPResponse:
        return http.client.HTTPResponse(_Reading(sock, self._deadline), method=method)  # type: ignore[arg-type]

    def exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """One request and its whole answer. Raises OSError, HTTPException, EndpointRefused or ReplyTooLarge."""
        self._deadline = time.monotonic() + self._limits.seconds
        self.secret = "Authorization" in headers
        if self.sock is not None:
            self.sock.settimeout(self._limits.seconds)
        self.request(method, self._server.prefix + path, body=body, headers=dict(headers))
        response = self.getresponse()
        with response:
            cap = self._limits.reply_bytes if response.status == http.HTTPStatus.OK else ERROR_BYTES
            content = self._read(response, cap)
        if response.will_close:
            self.close()
        self.fresh = False
        found = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, found, content)

    def _read(self, response: http.client.HTTPResponse, cap: int) -> bytes:
        declared = response.length or 0
        content = response.read(cap + 1) if declared <= cap else b""
        if declared <= cap and len(content) <= cap:
            if response.length:  # http.client says nothing when less came than was declared
                raise http.client.IncompleteRead(content, response.length)
            return content
        self.close()
        if response.status == http.HTTPStatus.OK:
            raise ReplyTooLarge
        return b""


class Pool:
    """Idle connections to one server, the one used last first."""

    def __init__(self, server: Endpoint, limits: Limits, resolver: Resolver = resolve) -> None:
        self.server, self.limits, self._resolver = server, limits, resolver
        self._context = ssl.create_default_context() if server.scheme == "https" else None
        self._idle: list[tuple[Connection, float]] = []
        self._closed = False
        self._lock = threading.Lock()

    def take(self, *, fresh: bool = False) -> Connection:
        """An idle connection, or a new one that connects at its first request."""
        with self._lock:
            while self._idle and not fresh:
                connection, since = self._idle.pop()
                if time.monotonic() - since < IDLE_SECONDS:
                    return connection
                connection.close()
        return Connection(self.server, self.limits, self._resolver, self._context)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request where there is room; none once the pool was closed."""
        with self._lock:
            room = not self._closed and len(self._idle) < self.limits.concurrency
            if connection.sock is not None and room:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    def close(self) -> None:
        """Close what is idle, and what is given back from now on."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()
