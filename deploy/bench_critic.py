"""Critics with a real, small language model on this processor: how many answers can be read, and how long it takes.

    python deploy/bench_critic.py [SOLUTIONS]

Solutions come from the demo's generator. The model is SmolLM2-135M, far too small to judge mathematics: what is shown
is that the way from solution to probability works with a model that was not written for it, and how often it does not.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(count: int) -> int:
    sys.path.insert(0, str(ROOT))
    from annotator.core.demo.generator import generate
    from annotator.scorers import critic, generative, judge
    from annotator.scorers.base import Scored, ScoringInput
    from tests.scorers.small_model import serving

    records = [one for one in generate(4 * count, seed=7) if len(one.steps) <= 5][:count]
    items = [ScoringInput(one.problem.text, tuple(one.steps)) for one in records]
    with serving() as port:
        told = {"url": f"http://127.0.0.1:{port}", "timeout": 900, "concurrency": 1}
        ways = {
            "generative, direct": generative.make({**told, "style": "direct"}, allowed_hosts=[_host(port)]),
            "generative, reasoned": generative.make(
                {**told, "votes": 1, "max_tokens": 48}, allowed_hosts=[_host(port)]
            ),
            "generative, whole": generative.make(
                {**told, "style": "whole", "votes": 1, "max_tokens": 120}, allowed_hosts=[_host(port)]
            ),
            "critic": critic.make({**told, "votes": 1, "max_tokens": 120}, allowed_hosts=[_host(port)]),
            "judge": judge.make({**told, "max_tokens": 160}, allowed_hosts=[_host(port)]),
        }
        print(f"{'way':<22}{'solutions':>10}{'scored':>8}{'answers':>9}{'unparsed':>10}{'seconds':>9}")
        for name, scorer in ways.items():
            began, done, answers, unparsed = time.monotonic(), 0, 0.0, 0.0
            for result in scorer.score(items, cancelled=lambda: False):
                if isinstance(result, Scored):
                    done += 1
                    answers += (result.usage or {}).get("votes", 0.0)
                    unparsed += (result.usage or {}).get("unparsed", 0.0)
            seconds = time.monotonic() - began
            print(
                f"{name:<22}{len(items):>10}{done:>8}{answers:>9.0f}{unparsed:>10.0f}{seconds:>9.0f}",
                flush=True,
            )
    return 0


def _host(port: int) -> str:
    return f"127.0.0.1:{port}"


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
