"""A model server in its own process that speaks the documented shapes, and fails in the ways it is told to.

``POST /control`` sets a fault: ``{"fault": "slow", "seconds": 1, "times": 2, "when": "words in the prompt"}``. Without
``when`` it hits every request but those for the list of models; with ``"models": true`` those too. ``GET /seen`` lists
what was asked. Started as a script, it prints its port.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TAG, TAG_ID = "<extra_0>", 151651
SHEPHERD_TAG = "ки"
WELL = {"fault": None, "model": "prm", "root": "org/prm-7b", "answers": ["\\boxed{-1}"]}
state: dict[str, Any] = dict(WELL)
seen: list[dict[str, Any]] = []
lock = threading.Lock()
busy = most_busy = 0


def good(place: int) -> float:
    """The probability that the stub gives to the step at a place."""
    return round(0.9 - 0.1 * place, 3)


def tokens(text: str) -> list[int]:
    """The tag is one token, as is every other word."""
    return [TAG_ID if part == TAG else 7 for part in re.findall(r"<extra_0>|(?:(?!<extra_0>)\S)+", text)]


def text_of(body: dict[str, Any]) -> str:
    said = [part for one in body.get("messages", []) for part in _parts(one["content"])]
    return "\n".join(said) or "\n".join(body.get("items", [body.get("prompt", "")]))


def _parts(content: Any) -> list[str]:
    """A message's words: a text, or the texts among its parts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content if part["type"] == "text"]


def pairs(count: int, fault: str | None) -> list[list[Any]]:
    rows: list[list[Any]] = [[round(1 - good(place), 3), good(place)] for place in range(count)]
    if fault == "short":
        return rows[:-1]
    if fault == "long":
        return [*rows, [0.5, 0.5]]
    if rows:
        rows[0] = {"nan": [float("nan")] * 2, "out_of_range": [-3.1, 4.2], "words": ["a", "b"]}.get(
            str(fault), rows[0]
        )
    return rows


def pooling(body: dict[str, Any], fault: str | None) -> dict[str, Any]:
    if "input" in body:
        count = 0
        rows = []
        for token in body["input"]:
            rows.append([0.5, 0.5] if token != TAG_ID else [round(1 - good(count), 3), good(count)])
            count += token == TAG_ID
        rows = rows[:-1] if fault == "short" else rows
    else:
        rows = pairs(text_of(body).count(TAG), fault)
    data = [{"index": 0, "object": "pooling", "data": rows}]
    return {
        "id": "pool-1",
        "object": "list",
        "model": state["model"],
        "data": data,
        "usage": {"prompt_tokens": 9},
    }


def score(body: dict[str, Any], fault: str | None) -> dict[str, Any]:
    rows = [list(reversed(row)) for row in pairs(body["items"][0].count(SHEPHERD_TAG), fault)]
    return {"scores": [rows], "model": state["model"], "object": "scoring", "usage": {"prompt_tokens": 7}}


def chat(body: dict[str, Any], _: str | None) -> dict[str, Any]:
    """As many of the told answers as were asked for, or one where the server draws no more.

    ``by_words`` tells other answers to questions that hold certain words.
    """
    asked = text_of(body)
    told = (told for words, told in state.get("by_words", {}).items() if words in asked)
    answers = next(told, state["answers"])
    count = 1 if state.get("one_at_a_time") else body["n"]
    start = body["seed"] if state.get("one_at_a_time") else 0
    chosen = [answers[(start + i) % len(answers)] for i in range(count)]
    choices = [{"index": i, "message": {"role": "assistant", "content": one}} for i, one in enumerate(chosen)]
    for choice in choices:
        choice["logprobs"] = state.get("logprobs")
    usage = {"prompt_tokens": 11, "completion_tokens": 5 * count}
    return {"object": "chat.completion", "model": state["model"], "choices": choices, "usage": usage}


def completions(body: dict[str, Any], _: str | None) -> dict[str, Any]:
    """Continuations told for the last words of ``endings`` that the prompt holds, else the told answers, in turn."""
    prompt = body["prompt"]
    endings = state.get("endings", {})
    at, words = max(((prompt.rfind(words), words) for words in endings), default=(-1, ""))
    told = endings[words] if at >= 0 else state["answers"]
    count = 1 if state.get("one_at_a_time") else body["n"]
    start = body["seed"]
    choices = [
        {"index": i, "text": told[(start + i) % len(told)], "finish_reason": state.get("finish", "stop")}
        for i in range(count)
    ]
    usage = {"prompt_tokens": 20, "completion_tokens": 5 * count}
    return {"object": "text_completion", "model": state["model"], "choices": choices, "usage": usage}


def tokenize(body: dict[str, Any], _: str | None) -> dict[str, Any]:
    found = tokens(text_of(body))
    return {"count": len(found), "max_model_len": state.get("max_model_len", 4096), "tokens": found}


ANSWERS = {
    "/pooling": pooling,
    "/tokenize": tokenize,
    "/v1/score": score,
    "/v1/chat/completions": chat,
    "/v1/completions": completions,
    "/hook": lambda _body, _fault: {},
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/seen":
            return self.answer(200, {"requests": seen, "most_busy": most_busy})
        fault = self.fault("") if state.get("models") else None
        if fault is not None and not self.misbehave(fault):
            return None
        model = {"id": state["model"], "object": "model", "root": state["root"]}
        return self.answer(200, {"object": "list", "data": [model, *state.get("others", [])]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/reset":
            self.forget()
            return self.answer(200, {"busy": busy})
        if self.path == "/control":
            with lock:
                for name in ("times", "when", "seconds", "status", "retry_after", "says", "models"):
                    state.pop(name, None)
                state.update(body)
            return self.answer(200, {})
        self.busier(1)
        try:
            self.serve(body)
        finally:
            self.busier(-1)
        return None

    def serve(self, body: dict[str, Any]) -> None:
        with lock:
            seen.append(
                {"path": self.path, "body": body, "headers": dict(self.headers), "peer": self.client_address}
            )
        fault = self.fault(text_of(body))
        if fault is not None and not self.misbehave(fault):
            return
        if self.path not in ANSWERS:
            self.answer(404, {"error": {"message": "no such path"}})
            return
        self.answer(200, ANSWERS[self.path](body, fault))

    def forget(self) -> None:
        """As if just started."""
        global most_busy  # noqa: PLW0603
        with lock:
            state.clear()
            state.update(WELL)
            seen.clear()
            most_busy = 0

    def busier(self, by: int) -> None:
        global busy, most_busy  # noqa: PLW0603
        with lock:
            busy += by
            most_busy = max(most_busy, busy)

    def fault(self, text: str) -> str | None:
        """The fault that hits this request, used up by one."""
        with lock:
            wanted = state["fault"]
            if wanted is None or state.get("when", "") not in text or state.get("times", 1) == 0:
                return None
            if "times" in state:
                state["times"] -= 1
            return str(wanted)

    def misbehave(self, fault: str) -> bool:
        """Do what the fault says. True where the usual answer still follows."""
        act = getattr(self, f"be_{fault}", None)
        if act is None:
            return True
        act()
        return fault == "slow"

    def be_slow(self) -> None:
        time.sleep(state["seconds"])

    def be_status(self) -> None:
        extra = {"Retry-After": state["retry_after"]} if "retry_after" in state else {}
        self.answer(state["status"], {"error": {"message": state.get("says", "as told")}}, **extra)

    def be_redirect(self) -> None:
        self.answer(302, {}, Location=state["to"])

    def be_huge(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b" " * 5_000_000)

    def be_declared_huge(self) -> None:
        self.answer(200, {}, length=10**9)

    def be_garbage(self) -> None:
        self.raw(b"<html>")

    def be_deep(self) -> None:
        self.raw(b"[" * 100_000)

    def be_list(self) -> None:
        self.raw(b"[1]")

    def be_compressed(self) -> None:
        self.answer(200, {}, **{"Content-Encoding": "gzip"})

    def be_hang(self) -> None:
        self.close_connection = True
        time.sleep(state.get("seconds", 30))

    def be_drip(self) -> None:
        """A byte now and then, each soon enough for whoever counts only the time between two."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b" ")
            time.sleep(0.1)

    def be_cut(self) -> None:
        self.close_connection = True
        self.answer(200, {}, length=100)

    def be_drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def be_no_http(self) -> None:
        self.close_connection = True
        self.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")

    def be_die(self) -> None:
        os._exit(9)

    def raw(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def answer(self, status: int, value: Any, length: int | None = None, **headers: str) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, one in headers.items():
            self.send_header(name, one)
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hung up is what many tests are about."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
