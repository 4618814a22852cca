"""Runs the loop at full size: people who err label generated solutions, a scorer that begins with nothing is trained
three times in between, and each challenger meets the champion on the holdout by the real rule.

Runs on a throwaway database of its own and prints one JSON object. ``--labels`` says after how many labels each
generation is trained, ``--train`` and ``--holdout`` how many generated solutions each side has at least.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Simulate, then print what each generation came to and what was gained from the first to the last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=int, default=2_000)
    parser.add_argument("--holdout", type=int, default=1_100)
    parser.add_argument("--labels", default="200,700,2000")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--fill-holdout", action="store_true", help="write its labels at once, unclaimed")
    chosen = parser.parse_args()
    var = Path(tempfile.mkdtemp(prefix="stepmark-bench-"))
    sys.path[:0] = [str(ROOT)]
    from annotator.embedded import hold

    services = hold(var, throwaway=True)
    os.environ.update(
        STEPMARK_ENV="test",
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        DJANGO_SETTINGS_MODULE="annotator.config.settings",
    )
    try:
        import django

        django.setup()
        sizes = [int(each) for each in chosen.labels.split(",")]
        print(
            json.dumps(
                _figures(chosen.train, chosen.holdout, sizes, chosen.seed, fill=chosen.fill_holdout), indent=2
            )
        )
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 0


def _figures(train: int, holdout: int, sizes: list[int], seed: int, *, fill: bool) -> dict[str, Any]:
    from django.core.management import call_command

    from annotator.core import promotion
    from annotator.models import ScorerVersion
    from deploy import simulated_loop as simulated

    call_command("migrate", verbosity=0, interactive=False)
    began = time.monotonic()
    loop = simulated.begin(train, holdout, seed=seed, say=_say)
    _say(f"{len(loop.truth):,} solutions imported and scored, {time.monotonic() - began:.0f} s")
    start = ScorerVersion.objects.filter(scorer=loop.scorer).in_force().get()
    labelled = simulated.fill_holdout(loop) if fill else simulated.label_holdout(loop)
    versions = [start]
    for size in sizes:
        simulated.label_train(loop, size)
        simulated.next_generation(loop)
        versions.append(ScorerVersion.objects.get(scorer=loop.scorer, version=loop.marks[-1]["version"]))
    gains = {
        f"{name}, {'planted errors' if truth else 'labels of people'}": simulated.compared(
            loop, before, versions[-1], by_truth=truth
        )
        for name, before in (("first to last", versions[1]), ("nothing to last", start))
        for truth in (False, True)
    }
    return {
        "solutions": len(loop.truth),
        "holdout": labelled,
        "rule": {"fewest": promotion.FEWEST, "margin": promotion.MARGIN},
        "generations": loop.marks,
        "gains": gains,
        "seconds": round(time.monotonic() - began),
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
