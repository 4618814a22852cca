"""Measures what a person notices: the two starts of the demo, how many requests its web server answers, and how long
the quality report of a large project takes.

Works in a folder of its own and prints one JSON object.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench_browser import measure
from checks import HOST

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("/readyz", "/sign-in/")
CLIENTS, SECONDS = 8, 5.0


def main() -> int:
    var = Path(tempfile.mkdtemp(prefix="stepmark-bench-"))
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    figures: dict[str, Any] = {}
    try:
        demo, figures["first_start_seconds"] = _start(var, port)
        _stop(demo)
        demo, figures["second_start_seconds"] = _start(var, port)
        figures["requests"] = {page: _load(port, page) for page in PAGES}
        figures["workbench"] = measure(port, var)
        figures["stop_seconds"] = _stop(demo)
        figures["quality"] = _quality()
    finally:
        shutil.rmtree(var, ignore_errors=True)
    print(json.dumps(figures, indent=2))
    return 0


def _quality() -> dict[str, Any]:
    """The report and the consensus of 800,000 labels, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "deploy/bench_quality.py"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _start(var: Path, port: int) -> tuple[subprocess.Popen[str], float]:
    """A running demo and the seconds it took to print its address."""
    began = time.monotonic()
    demo = subprocess.Popen(
        [sys.executable, "deploy/demo.py", "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, "STEPMARK_VAR": str(var)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    for line in demo.stdout:
        if "is ready" in line:
            return demo, round(time.monotonic() - began, 2)
    raise SystemExit(f"The demo did not start; see {var / 'log'}.")


def _stop(demo: subprocess.Popen[str]) -> float:
    began = time.monotonic()
    demo.send_signal(signal.SIGINT)
    demo.communicate()
    return round(time.monotonic() - began, 2)


def _load(port: int, page: str) -> dict[str, float]:
    """Requests a second and the 95th percentile in milliseconds; the clients share the server's cores."""
    took: list[float] = []
    failed: list[int] = []
    end = time.monotonic() + SECONDS

    def client() -> None:
        connection = http.client.HTTPConnection(HOST, port, timeout=10)
        while (began := time.monotonic()) < end:
            connection.request("GET", page)
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                took.append(time.monotonic() - began)
            else:
                failed.append(answer.status)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    p95 = sorted(took)[int(0.95 * len(took))] if took else float("nan")
    return {"per_second": round(len(took) / SECONDS), "p95_ms": round(p95 * 1000, 1), "failed": len(failed)}


if __name__ == "__main__":
    sys.exit(main())
