"""What a person at the workbench feels, measured in Chromium against a running demo: the time from a key to the
painted answer, from a submit to the painted next solution, the first load, how much jumps, and the memory.

Run by bench.py; on its own: `STEPMARK_VAR=… .venv/bin/python deploy/bench_browser.py PORT`.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from checks import HOST
from playwright.sync_api import CDPSession, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
NAME, PASSWORD = "bench", "a-bench-of-steps"
REPEATS = 100
STEPS, FORMULAS = 60, 150
SOLUTIONS, WARM = 500, 50

#: From the key's own time to the moment after the frame that shows its effect.
WATCH = """
window.painted = [];
addEventListener("keydown", (event) => {
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    const shown = () => document.getElementById("bench").dataset.assignment;
    channel.port1.onmessage = () => window.painted.push([performance.now() - event.timeStamp, shown()]);
    channel.port2.postMessage(0);
  });
}, { capture: true });
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def measure(port: int, var: Path) -> dict[str, Any]:
    """All figures, in milliseconds, bytes and megabytes."""
    _fill(var)
    with _browser(port) as page:
        figures: dict[str, Any] = {"first_load": _first_load(page, port)}
        figures["key_to_paint_ms"] = _keys(page, port)
        figures["submit_to_next_painted_ms"] = _submits(page, port)
        figures["layout_shift_of_that_visit"] = round(page.evaluate("window.shifts"), 4)
        figures["memory"] = _memory(page, port)
    return figures


def _fill(var: Path) -> None:
    """Two projects of our own: long solutions to be felt, many short ones to be counted."""
    _manage(var, "create_user", NAME, "--password", PASSWORD)
    with tempfile.TemporaryDirectory() as folder:
        for slug, count, steps, formulas in (
            ("bench-long", REPEATS + 20, STEPS, FORMULAS),
            ("bench-many", SOLUTIONS + 20, 6, 12),
        ):
            _manage(var, "create_project", slug, "--gold-rate", "0", "--labels-per-solution", "1")
            _manage(var, "create_user", NAME, "--project", slug)
            path = Path(folder) / f"{slug}.jsonl"
            path.write_text(
                "".join(json.dumps(_solution(slug, n, steps, formulas)) + "\n" for n in range(count))
            )
            _manage(var, "import_solutions", str(path), "--project", slug)


def _solution(slug: str, number: int, steps: int, formulas: int) -> dict[str, Any]:
    """Steps that share out the formulas; every fifth step has one that stands on its own line."""
    texts = []
    for index in range(steps):
        count = formulas * (index + 1) // steps - formulas * index // steps
        terms = [rf"$x_{{{index}}}^{{{k + 2}}} = \frac{{{number + k}}}{{{index + 1}}}$" for k in range(count)]
        if index % 5 == 0:
            terms[0] = (
                "\n" + rf"\[\sum_{{k=1}}^{{{index + 2}}} \sqrt{{k + {number}}} \le {number + index}\]" + "\n"
            )
        texts.append(
            f"Step {index + 1} of solution {number} follows from what precedes: " + " and ".join(terms)
        )
    problem = {"id": f"{slug}-{number}", "text": f"Problem {number} of {slug}: find $x_{{{number}}}$."}
    return {"id": f"{slug}-{number}", "problem": problem, "steps": [{"text": text} for text in texts]}


def _manage(var: Path, *words: str) -> None:
    environment = {**os.environ, "STEPMARK_VAR": str(var), "STEPMARK_ENV": "demo"}
    done = subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"manage.py {words[0]} failed: {done.stderr.strip()[-400:]}")


@contextmanager
def _browser(port: int) -> Iterator[Page]:
    found = os.environ.get("STEPMARK_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
    arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--enable-precise-memory-info",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"http://{HOST}:{port}/sign-in/")
        page.fill("#id_username", NAME)
        page.fill("#id_password", PASSWORD)
        page.press("#id_password", "Enter")
        page.wait_for_url(f"http://{HOST}:{port}/")
        page.add_init_script(WATCH)
        yield page
        browser.close()


def _until(page: Page, true: str) -> None:
    """Wait for an expression; Playwright's own way would need eval, which the page's policy forbids."""
    until = time.monotonic() + 30
    while not page.evaluate(true):
        if time.monotonic() > until:
            raise SystemExit(f"This did not come true within 30 s: {true}")
        page.wait_for_timeout(4)


def _open(page: Page, port: int, slug: str) -> None:
    page.goto(f"http://{HOST}:{port}/p/{slug}/label/")
    page.wait_for_selector("[data-step][data-active]")


def _first_load(page: Page, port: int) -> dict[str, Any]:
    """Bytes over the wire and requests with an empty cache, up to the next solution set off-screen; no fonts."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    kinds: dict[str, str] = {}
    sizes: dict[str, float] = {}

    def received(event: dict[str, Any]) -> None:
        if not event["response"]["url"].startswith("data:"):
            kinds[event["requestId"]] = event["type"]

    def finished(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.responseReceived", received)
    session.on("Network.loadingFinished", finished)
    _open(page, port, "bench-long")
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("body[data-ahead=ready]")
    counted = [request for request, kind in kinds.items() if kind != "Font"]
    session.detach()
    return {
        "bytes": round(sum(sizes.get(request, 0) for request in counted)),
        "requests": len(counted),
        "layout_shift": round(page.evaluate("window.shifts"), 4),
    }


def _keys(page: Page, port: int) -> dict[str, float]:
    """Labels through a solution of 60 steps and 150 formulas, then undo."""
    _open(page, port, "bench-long")
    _until(page, f"document.querySelectorAll('.steps .katex').length >= {FORMULAS}")
    page.wait_for_selector("body[data-ahead=ready]")
    for number in range(REPEATS):
        page.keyboard.press("1" if number < STEPS else "u")
        _until(page, f"window.painted.length > {number}")
    return _summary([took for took, _ in page.evaluate("window.painted")])


def _submits(page: Page, port: int) -> dict[str, float]:
    """Finds the error in the first step and hands in, a hundred times."""
    page.reload()
    _open(page, port, "bench-long")
    took = []
    for _ in range(REPEATS):
        page.wait_for_selector("body[data-ahead=ready]")
        page.wait_for_timeout(120)  # a person reads meanwhile
        page.keyboard.press("3")
        page.wait_for_timeout(30)
        before = page.evaluate("(window.painted = [], document.getElementById('bench').dataset.assignment)")
        page.keyboard.press("Enter")
        _until(page, "window.painted.length > 0")
        ((milliseconds, shown),) = page.evaluate("window.painted")
        if shown == before:
            raise SystemExit("The next solution was not there in the frame after the submit.")
        took.append(milliseconds)
    return _summary(took)


def _memory(page: Page, port: int) -> dict[str, float]:
    """The heap after 50 and after 500 solutions in one visit, each after a collection, in MB; and the nodes."""
    _open(page, port, "bench-many")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    figures: dict[str, float] = {}
    for number in range(1, SOLUTIONS + 1):
        page.wait_for_selector("body[data-ahead=ready]")
        page.keyboard.press("3")
        before = page.evaluate("(window.painted = [], document.getElementById('bench').dataset.assignment)")
        page.keyboard.press("Enter")
        _until(page, f"document.getElementById('bench').dataset.assignment !== '{before}'")
        if number in {WARM, SOLUTIONS}:
            figures |= _heap(session, number)
    return figures


def _heap(session: CDPSession, number: int) -> dict[str, float]:
    session.send("HeapProfiler.collectGarbage")
    metrics = {
        metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]
    }
    return {
        f"heap_mb_{number}": round(metrics["JSHeapUsedSize"] / 1e6, 2),
        f"nodes_{number}": metrics["Nodes"],
    }


def _summary(took: list[float]) -> dict[str, float]:
    ordered = sorted(took)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"median": round(statistics.median(took), 1), "p95": round(p95, 1), "n": len(took)}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), Path(os.environ["STEPMARK_VAR"])), indent=2))
