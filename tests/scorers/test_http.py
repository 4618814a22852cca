"""The client behind every remote scorer: what it refuses, retries, waits for and gives up on."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from annotator.scorers import http
from annotator.scorers.breaker import Breaker, Circuit, CircuitOpen
from annotator.scorers.endpoint import endpoint
from annotator.scorers.http import BadReply, Client, RequestRefused, ServerUnavailable, Stopped, TimedOut
from annotator.scorers.transport import Limits
from tests.scorers.stub import Stub

QUESTION = {"messages": [{"content": "a<extra_0>"}]}
MakeClient = Callable[..., Client]


@pytest.fixture
def client(stub: Stub) -> Callable[..., Client]:
    made: list[Client] = []

    def make(url: str | None = None, hosts: tuple[str, ...] | None = None, **given: object) -> Client:
        names = {"key_env", "breaker", "resolver"}
        others = {name: given.pop(name) for name in names & given.keys()}
        limits = Limits(**{"seconds": 5.0, "attempts": 3, **given})  # type: ignore[arg-type]
        made.append(Client(endpoint(url or stub.url, hosts or stub.hosts), limits=limits, **others))  # type: ignore[arg-type]
        return made[-1]

    yield make  # type: ignore[misc]
    for one in made:
        one.close()


# Where requests may go; test_endpoint.py has the rules


def test_a_name_is_resolved_once_and_the_checked_address_is_the_one_connected_to(
    stub: Stub, client: MakeClient
) -> None:
    """DNS rebinding: a second look-up would have led elsewhere, and there is none."""
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    name = f"gpu1.invalid:{stub.port}"
    rebinding = client(f"http://{name}", (name,), resolver=lambda *_: next(answers))

    assert rebinding.post("/pooling", QUESTION)["model"] == "prm"
    rebinding.close()
    with pytest.raises(ServerUnavailable, match="credentials"):
        rebinding.post("/pooling", QUESTION)
    assert stub.seen()[0]["headers"]["Host"] == name


def test_redirects_are_not_followed(stub: Stub, client: MakeClient) -> None:
    stub.tell("redirect", to=f"{stub.url}/pooling")

    with pytest.raises(ServerUnavailable, match="not followed"):
        client().post("/pooling", QUESTION)
    assert len(stub.seen()) == 1


def test_a_proxy_named_in_the_environment_is_not_used(
    stub: Stub, client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert client().post("/pooling", QUESTION)


def test_a_server_without_a_valid_certificate_is_refused(stub: Stub, client: MakeClient) -> None:
    with pytest.raises(ServerUnavailable, match="No secure connection"):
        client(stub.url.replace("http:", "https:")).post("/pooling", QUESTION)


# Keys


def test_the_key_comes_from_the_environment_and_only_its_name_is_known(
    stub: Stub, client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRM_KEY", "sk-very-secret")
    made = client(key_env="PRM_KEY")
    made.post("/pooling", QUESTION)

    assert stub.seen()[0]["headers"]["Authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in repr(vars(made))


def test_a_key_that_the_server_repeats_is_in_no_error_and_no_log(
    stub: Stub, client: MakeClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PRM_KEY", "sk-very-secret")
    stub.tell("status", status=401, says="bad key sk-very-secret!")
    made = client(key_env="PRM_KEY")

    with (
        caplog.at_level(logging.DEBUG),
        pytest.raises(ServerUnavailable, match=r"bad key \[key\]!") as caught,
    ):
        made.post("/pooling", QUESTION)
    assert "sk-very-secret" not in str(caught.value) + caplog.text + str(made.state)


@pytest.mark.parametrize(("value", "reason"), [(None, "is not set"), ("bad\nkey", "characters")])
def test_a_key_that_is_missing_or_broken_is_told_by_its_variable(
    client: MakeClient, monkeypatch: pytest.MonkeyPatch, value: str | None, reason: str
) -> None:
    monkeypatch.delenv("PRM_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("PRM_KEY", value)

    with pytest.raises(ServerUnavailable, match=f"PRM_KEY.*{reason}"):
        client(key_env="PRM_KEY").post("/pooling", QUESTION)


def test_a_key_does_not_cross_the_internet_unencrypted(
    client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRM_KEY", "sk-very-secret")
    far = client(
        "http://prm.example.org", ("prm.example.org",), key_env="PRM_KEY", resolver=lambda *_: ["8.8.8.8"]
    )

    with pytest.raises(ServerUnavailable, match="use https"):
        far.post("/pooling", QUESTION)


# Time and size


@pytest.mark.parametrize("fault", ["hang", "drip", "slow"])
def test_the_time_cap_holds_for_the_whole_answer(stub: Stub, client: MakeClient, fault: str) -> None:
    stub.tell(fault, seconds=5)
    began = time.monotonic()

    with pytest.raises(TimedOut, match=r"within 0\.5 s"):
        client(seconds=0.5).post("/pooling", QUESTION)
    assert time.monotonic() - began < 2
    assert len(stub.seen()) == 1  # a server that is too slow is not given the same work again


@pytest.mark.parametrize("fault", ["huge", "declared_huge"])
def test_the_size_cap_holds(stub: Stub, client: MakeClient, fault: str) -> None:
    stub.tell(fault)
    with pytest.raises(BadReply, match="larger than the cap"):
        client(reply_bytes=100_000).post("/pooling", QUESTION)


def test_a_compressed_answer_is_not_unpacked(stub: Stub, client: MakeClient) -> None:
    stub.tell("compressed")
    with pytest.raises(BadReply, match="compressed"):
        client().post("/pooling", QUESTION)


def test_a_question_that_is_too_long_is_not_sent(stub: Stub, client: MakeClient) -> None:
    with pytest.raises(RequestRefused, match="too long"):
        client(request_bytes=1000).post("/pooling", {"input": "x" * 1000})
    assert stub.seen() == []


@pytest.mark.parametrize("fault", ["garbage", "deep"])
def test_what_is_not_json_is_told(stub: Stub, client: MakeClient, fault: str) -> None:
    stub.tell(fault)
    with pytest.raises(BadReply, match="not JSON"):
        client().post("/pooling", QUESTION)


def test_what_is_not_http_is_told(stub: Stub, client: MakeClient) -> None:
    stub.tell("no_http")
    with pytest.raises(ServerUnavailable, match="HTTP"):
        client().post("/pooling", QUESTION)


# Retries


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_asks_for_patience_is_asked_again(stub: Stub, client: MakeClient, status: int) -> None:
    stub.tell("status", status=status, times=2)
    assert client().post("/pooling", QUESTION)["model"] == "prm"
    assert len(stub.seen()) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 500])
def test_no_other_status_is_retried(stub: Stub, client: MakeClient, status: int) -> None:
    stub.tell("status", status=status, times=1)
    with pytest.raises(http.RequestFailed, match="as told"):
        client().post("/pooling", QUESTION)
    assert len(stub.seen()) == 1


def test_attempts_are_counted(stub: Stub, client: MakeClient) -> None:
    stub.tell("status", status=503)
    with pytest.raises(ServerUnavailable, match="status 503"):
        client(attempts=2).post("/pooling", QUESTION)
    assert len(stub.seen()) == 2


@pytest.mark.parametrize("date", [False, True])
def test_retry_after_is_kept_to(stub: Stub, client: MakeClient, date: bool) -> None:
    wanted = formatdate(time.time() + 2, usegmt=True) if date else "1"
    stub.tell("status", status=429, retry_after=wanted, times=1)
    began = time.monotonic()

    client().post("/pooling", QUESTION)
    assert time.monotonic() - began >= 0.9


def test_a_wait_longer_than_a_job_is_left_to_a_later_one(stub: Stub, client: MakeClient) -> None:
    stub.tell("status", status=429, retry_after="3600")
    with pytest.raises(ServerUnavailable, match="slow down"):
        client().post("/pooling", QUESTION)
    assert len(stub.seen()) == 1


@pytest.mark.parametrize("fault", ["drop", "cut"])
def test_a_broken_connection_is_tried_again_since_requests_only_read(
    stub: Stub, client: MakeClient, fault: str
) -> None:
    stub.tell(fault, times=2)
    assert client().post("/pooling", QUESTION)["model"] == "prm"


def test_a_dead_server_is_told_in_words(stub: Stub, client: MakeClient) -> None:
    stub.kill()
    with pytest.raises(ServerUnavailable, match="connection refused"):
        client(attempts=2).post("/pooling", QUESTION)


def test_whoever_waits_for_the_next_attempt_can_be_stopped(stub: Stub, client: MakeClient) -> None:
    stub.tell("status", status=503, retry_after="20")
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()

    with pytest.raises(Stopped):
        client().post("/pooling", QUESTION, stop=stop)
    assert time.monotonic() - began < 3


# Connections


def test_connections_are_used_again(stub: Stub, client: MakeClient) -> None:
    made = client()
    for _ in range(5):
        made.post("/pooling", QUESTION)
    assert len({one["peer"][1] for one in stub.seen()}) == 1


def test_a_connection_that_comes_back_after_the_client_was_closed_is_closed_too(
    stub: Stub, client: MakeClient
) -> None:
    one = client()
    one.post("/pooling", QUESTION)
    under_way = one._pool.take()
    assert under_way.sock is not None
    one.close()
    one._pool.give_back(under_way)
    assert under_way.sock is None


def test_a_connection_that_the_server_closed_meanwhile_costs_no_attempt(client: MakeClient) -> None:
    first = Stub()
    made = client(first.url, first.hosts, attempts=1)
    made.post("/pooling", QUESTION)
    first.kill()
    second = Stub(first.port)
    try:
        assert made.post("/pooling", QUESTION)["model"] == "prm"
    finally:
        second.kill()


def test_no_more_requests_run_at_once_than_allowed(stub: Stub, client: MakeClient) -> None:
    stub.tell("slow", seconds=0.1)
    made = client(concurrency=2)
    threads = [threading.Thread(target=made.post, args=("/pooling", QUESTION)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert stub.most_busy() == 2
    assert len({one["peer"][1] for one in stub.seen()}) == 2


# The circuit


def test_a_server_that_keeps_failing_is_left_alone_and_tried_again_later(
    stub: Stub, client: MakeClient
) -> None:
    now = [0.0]
    made = client(breaker=Breaker(failures=2, pause=10.0, clock=lambda: now[0]), attempts=1)
    stub.tell("status", status=500, says="out of memory")
    for _ in range(2):
        with pytest.raises(ServerUnavailable):
            made.post("/pooling", QUESTION)
    with pytest.raises(CircuitOpen, match=r"left alone for 10 s after 2 failures.*out of memory"):
        made.post("/pooling", QUESTION)
    assert len(stub.seen()) == 2

    stub.tell()
    now[0] = 10.0
    made.post("/pooling", QUESTION)
    assert made.state.circuit is Circuit.CLOSED


def test_a_solution_that_is_refused_does_not_open_the_circuit(stub: Stub, client: MakeClient) -> None:
    made = client(breaker=Breaker(failures=1))
    stub.tell("status", status=400, says="too many tokens")
    with pytest.raises(RequestRefused, match="too many tokens"):
        made.post("/pooling", QUESTION)
    assert made.state.circuit is Circuit.CLOSED


def test_a_busy_server_does_not_open_the_circuit(stub: Stub, client: MakeClient) -> None:
    made = client(breaker=Breaker(failures=1), attempts=1)
    stub.tell("status", status=429)
    with pytest.raises(ServerUnavailable):
        made.post("/pooling", QUESTION)
    assert made.state.circuit is Circuit.CLOSED


def test_one_process_shares_a_servers_client(stub: Stub) -> None:
    server = endpoint(stub.url, stub.hosts)
    assert http.shared(server) is http.shared(server)
    assert http.shared(server, key_env="PRM_KEY") is not http.shared(server)
    assert [address for address, _ in http.states()] == [stub.url, stub.url]
