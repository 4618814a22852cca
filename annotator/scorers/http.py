"""The one client through which scorers reach servers: JSON in, JSON out, every failure a sentence.

All requests only read (a score changes nothing on the server), so a request whose connection broke may be sent
again. Nothing else is retried but the statuses with which a server asks for it.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import os
import random
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any

import orjson

from annotator.scorers.breaker import Breaker, BreakerState
from annotator.scorers.endpoint import Endpoint, EndpointRefused, NameNotFound, Resolver, resolve
from annotator.scorers.transport import Limits, Pool, Reply, ReplyTooLarge

RETRIED = frozenset({429, 502, 503, 504})
#: These say that the server as a whole won't do what we ask; another solution would fare no better.
REFUSALS = {
    401: "The server does not accept the key.",
    403: "The server does not let us in.",
    404: "The server has no {path}; is it the right kind of server, and the right model?",
    405: "The server does not take requests at {path}; is it the right kind of server?",
}
FIRST_DELAY = 0.25
LONGEST_DELAY = 8.0
#: A server that asks to wait longer is left to a later job.
LONGEST_WAIT = 30.0


class RequestFailed(Exception):
    """A request that brought no usable answer; ``temporary`` says whether a later one may."""

    temporary = False


class ServerUnavailable(RequestFailed):
    """The server can't be reached, fails, or would not serve anybody with these settings."""

    temporary = True


class TimedOut(ServerUnavailable):
    """No full answer within the time."""


class RequestRefused(RequestFailed):
    """The server would not do this one request."""


class BadReply(RequestFailed):
    """The answer is not what the interface promises."""


class Stopped(Exception):
    """The caller asked to stop before the request was sent."""


class _TryAgain(Exception):
    """Worth another attempt; ``after`` is what the server asked for, in seconds."""

    def __init__(self, reason: str, *, after: float = 0.0, broken: bool = True) -> None:
        super().__init__(reason)
        self.after = after
        self.broken = broken


class Client:
    """One server. Threads share it: at most ``limits.concurrency`` requests run at a time.

    ``key_env`` names the environment variable that holds the key. It is read for each request and kept nowhere.
    """

    def __init__(
        self,
        server: Endpoint,
        *,
        key_env: str | None = None,
        limits: Limits | None = None,
        breaker: Breaker | None = None,
        resolver: Resolver = resolve,
    ) -> None:
        self.server = server
        self.limits = limits or Limits()
        self.breaker = breaker or Breaker()
        self._key_env = key_env
        self._pool = Pool(server, self.limits, resolver)
        self._slots = threading.BoundedSemaphore(self.limits.concurrency)

    @property
    def state(self) -> BreakerState:
        """The circuit, for a page."""
        return self.breaker.state

    def get(self, path: str, *, stop: threading.Event | None = None) -> Any:
        """The JSON at a path. Raises RequestFailed, CircuitOpen or Stopped."""
        return self._send("GET", path, None, stop or threading.Event())

    def post(self, path: str, body: Mapping[str, Any], *, stop: threading.Event | None = None) -> Any:
        """The JSON answer to a JSON question. Raises RequestFailed, CircuitOpen or Stopped."""
        try:
            content = orjson.dumps(body)
        except TypeError as error:
            raise RequestRefused("The text holds characters that JSON cannot carry.") from error
        if len(content) > self.limits.request_bytes:
            raise RequestRefused(f"The solution is too long to send: {len(content):,} bytes.")
        return self._send("POST", path, content, stop or threading.Event())

    def close(self) -> None:
        """Close idle connections; the next request opens new ones."""
        self._pool.close()

    def _send(self, method: str, path: str, body: bytes | None, stop: threading.Event) -> Any:
        attempt = 0
        while True:
            attempt += 1
            with self._slots:
                if stop.is_set():
                    raise Stopped
                self.breaker.enter()
                try:
                    reply = self._attempt(method, path, body)
                    self.breaker.succeeded()
                    return _json(reply)
                except _TryAgain as error:
                    # The trial is over before we sleep, else nobody else could learn that the server is back.
                    last = attempt >= self.limits.attempts or error.after > LONGEST_WAIT
                    if last and error.broken:
                        self.breaker.failed(str(error))
                    else:
                        self.breaker.gave_up()
                    if last:
                        raise ServerUnavailable(str(error)) from error
                    delay = max(error.after, _jittered(attempt))
                except ServerUnavailable as error:
                    self.breaker.failed(str(error))
                    raise
                except RequestFailed:
                    self.breaker.succeeded()
                    raise
            if stop.wait(delay):
                raise Stopped

    def _attempt(self, method: str, path: str, body: bytes | None) -> Reply:
        key = self._key()
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "stepmark"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return _usable(self._exchange(method, path, body, headers), path, key)

    def _key(self) -> str | None:
        if self._key_env is None:
            return None
        key = os.environ.get(self._key_env, "").strip()
        if not key:
            raise ServerUnavailable(
                f"The environment variable {self._key_env}, which should hold the key, is not set where this runs."
            )
        if not (key.isascii() and key.isprintable()):
            raise ServerUnavailable(f"The key in {self._key_env} holds characters that no key has.")
        return key

    def _exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """One request; http.client's and the system's errors become ours."""
        try:
            return self._over_a_good_connection(method, path, body, headers)
        except TimeoutError as error:
            raise TimedOut(f"The server did not answer in full within {self.limits.seconds:g} s.") from error
        except EndpointRefused as error:
            raise ServerUnavailable(str(error)) from error
        except ReplyTooLarge as error:
            cap = self.limits.reply_bytes
            raise BadReply(f"The server's answer is larger than the cap of {cap:,} bytes.") from error
        except ssl.SSLError as error:
            raise ServerUnavailable(
                f"No secure connection: {error.reason or 'the handshake failed'}."
            ) from error
        except NameNotFound as error:
            raise _TryAgain(str(error)) from error
        except (OSError, http.client.IncompleteRead) as error:
            raise _TryAgain(f"The connection to the server failed: {_reason(error)}.") from error
        except http.client.HTTPException as error:
            raise ServerUnavailable("The server does not answer in HTTP.") from error

    def _over_a_good_connection(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], *, fresh: bool = False
    ) -> Reply:
        """A pooled connection may have been closed by the server meanwhile; that costs no attempt."""
        connection = self._pool.take(fresh=fresh)
        try:
            reply = connection.exchange(method, path, body, headers)
        except (ConnectionError, http.client.IncompleteRead):
            connection.close()
            if connection.fresh:
                raise
            return self._over_a_good_connection(method, path, body, headers, fresh=True)
        except (OSError, ValueError, http.client.HTTPException, ReplyTooLarge):
            connection.close()
            raise
        self._pool.give_back(connection)
        return reply


def _usable(reply: Reply, path: str, key: str | None) -> Reply:
    """A reply of status 200. Raises _TryAgain, ServerUnavailable, RequestRefused or BadReply for any other."""
    said = _said(reply.body, key)
    if reply.status == http.HTTPStatus.OK:
        if reply.headers.get("content-encoding", "identity").lower() != "identity":
            raise BadReply("The server sent a compressed answer, which was not asked for.")
        return reply
    if reply.status in RETRIED:
        busy = reply.status == http.HTTPStatus.TOO_MANY_REQUESTS
        what = (
            "The server asks us to slow down" if busy else f"The server is not ready (status {reply.status})"
        )
        raise _TryAgain(what + said, after=_retry_after(reply), broken=not busy)
    if 300 <= reply.status < 400:
        raise ServerUnavailable("The server redirects to another address; redirects are not followed.")
    if reply.status in REFUSALS:
        raise ServerUnavailable(REFUSALS[reply.status].format(path=path).removesuffix(".") + said)
    if 400 <= reply.status < 500:
        raise RequestRefused(f"The server refused the request (status {reply.status})" + said)
    raise ServerUnavailable(f"The server failed (status {reply.status})" + said)


def _said(body: bytes, key: str | None) -> str:
    """What the server's error says, in one line without the key, or just a full stop."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return "."
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    if not isinstance(value, str):
        return "."
    text = "".join(letter if letter.isprintable() else " " for letter in value)
    if key is not None:
        text = text.replace(key, "[key]")
    return f": {text[:200].strip().rstrip('.')}."


def _json(reply: Reply) -> Any:
    # The standard parser takes NaN and Infinity, so that a step's score can be named as the culprit.
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise BadReply("The server's answer is not JSON.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "the answer broke off"
    if isinstance(error, http.client.RemoteDisconnected):
        return "it was closed without an answer"
    return (getattr(error, "strerror", None) or type(error).__name__).lower()


def _retry_after(reply: Reply) -> float:
    """Seconds that the Retry-After header asks for (RFC 9110, 10.2.3), 0 where it is absent or unreadable."""
    value = reply.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _jittered(attempt: int) -> float:
    """Seconds before the next attempt: uniform below a doubling ceiling, so that workers don't return in step."""
    return random.SystemRandom().uniform(0.0, min(LONGEST_DELAY, FIRST_DELAY * 2**attempt))


_clients: dict[tuple[Endpoint, str | None, Limits], Client] = {}
_clients_lock = threading.Lock()


def shared(server: Endpoint, *, key_env: str | None = None, limits: Limits | None = None) -> Client:
    """The process's client for these settings, so that pool, concurrency and circuit outlive a job."""
    wanted = (server, key_env, limits or Limits())
    with _clients_lock:
        if wanted not in _clients:
            _clients[wanted] = Client(server, key_env=key_env, limits=wanted[2])
        return _clients[wanted]


def states() -> list[tuple[str, BreakerState]]:
    """Address and circuit of every server that this process has talked to."""
    with _clients_lock:
        return [(str(client.server), client.state) for client in _clients.values()]


def forget_all() -> None:
    """Close and forget every client; for a process that ends, and between tests."""
    with _clients_lock:
        for client in _clients.values():
            client.close()
        _clients.clear()
