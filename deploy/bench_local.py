"""Measures local models: solutions that a worker scores in a second, against the bare model on the same inputs.

For each family a random model of its architecture (about 4 million parameters, so that a published one spends a far
larger part of its time in the model) scores one job of generated solutions.
The bare model gets its prompts as ready tensors in the worker's own batches and does its forward pass and readout, no
more. The worker does all that a worker does: it reads the job and the solutions from the database, makes prompts and
tokens, scores, and writes scores and queue. The two take turns; the figure is the median over the pairs. Beside it
stands the same by processor time of this process, which other programs disturb less (and which leaves the database
server out).

Runs on a throwaway database of its own and prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

#: Characters of a solution.
LONGEST = 600
#: Seconds by the clock, and of this process' processor time.
Spent = tuple[float, float]
ROOT = Path(__file__).resolve().parents[1]
SIZES = {
    "hidden_size": 256,
    "intermediate_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "max_position_embeddings": 4096,
}


def main() -> int:
    """Measure all families, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--solutions", type=int, default=16)
    options = parser.parse_args()
    var = Path(tempfile.mkdtemp(prefix="stepmark-bench-"))
    sys.path.insert(0, str(ROOT))
    from annotator.embedded import hold

    services = hold(var, throwaway=True)
    os.environ.update(
        STEPMARK_ENV="test",
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        STEPMARK_MODEL_FOLDERS=str(var),
        DJANGO_SETTINGS_MODULE="annotator.config.settings",
    )
    try:
        import django

        django.setup()
        print(json.dumps(dict(_figures(var, options)), indent=2))
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 0


def _figures(var: Path, options: Any) -> Iterator[tuple[str, Any]]:
    from django.core.management import call_command

    from annotator.scorers.local.families import FAMILIES

    call_command("migrate", verbosity=0, interactive=False)
    project, solutions = _project(options.solutions)
    yield "solutions", len(solutions)
    yield "pairs", options.pairs
    for family in options.families or FAMILIES:
        measured = _pairs(_save(var / family, family), project, solutions, family, options.pairs)
        print(family, measured, file=sys.stderr, flush=True)
        yield family, measured


def _project(wanted: int) -> tuple[Any, list[int]]:
    """A project with the demo's generated solutions, those of ordinary length."""
    from annotator.actions.projects import NewProject, create
    from annotator.core.demo.generator import generate
    from annotator.core.solutions import digest
    from annotator.models import Problem, Project, Solution
    from tests.factories import batch

    project = Project.objects.get(pk=create(new=NewProject(slug="bench")).pk)
    made = []
    records = generate(20 * wanted, seed=1)
    chosen = (one for one in records if sum(len(step.text) for step in one.steps) <= LONGEST)
    for number, record in enumerate(islice(chosen, wanted)):
        problem = Problem.objects.create(
            project=project, text=record.problem.text, content_hash=digest(number), split="train"
        )
        steps = [step.to_json() for step in record.steps]
        made.append(
            Solution.objects.create(
                project=project,
                problem=problem,
                batch=batch(project),
                steps=steps,
                n_steps=len(steps),
                content_hash=digest([number]),
            )
        )
    return project, [one.pk for one in made]


def _save(folder: Path, family: str) -> Path:
    from tests.scorers import tiny_models as tiny

    builders: dict[str, tuple[Callable[..., Any], Any]] = {
        "math_shepherd": (tiny.mistral, tiny.sentencepiece_tokenizer()),
        "rlhflow": (tiny.llama, tiny.llama_tokenizer()),
        "versaprm": (tiny.llama, tiny.llama_tokenizer()),
        "mm_prm": (tiny.internvl, tiny.qwen_tokenizer()),
        "token_classifier": (tiny.classifier, tiny.qwen_tokenizer()),
    }
    build, tokenizer = builders.get(family, (tiny.qwen, tiny.qwen_tokenizer()))
    headed = family in {"qwen_prm", "skywork", "actprm"}
    head = tiny.head(family, SIZES["hidden_size"], 128) if headed else None
    return tiny.save(folder, build(tokenizer, **SIZES), tokenizer, head)


def _pairs(folder: Path, project: Any, solutions: list[int], family: str, pairs: int) -> dict[str, Any]:
    from annotator.actions import scoring
    from annotator.models import Score, Scorer

    config = {"family": family, "path": folder.name, "device": "cpu"}
    scorer = Scorer.objects.create(
        project=project, name=family.replace("_", "-"), kind="local", config=config, ranks=False
    )
    running, _ = scoring.current_version(scorer)
    bare = _bare(running, project)
    told: list[tuple[Spent, Spent]] = []
    for _ in range(pairs + 1):
        told.append((_spent(bare), _spent(lambda: _work(scorer, solutions))))
        written = Score.objects.filter(version__scorer=scorer)
        if written.count() != len(solutions):
            raise SystemExit(f"{family}: {written.count()} of {len(solutions)} solutions were scored.")
        written.delete()
    warm = told[1:]
    wall = [alone[0] / worker[0] for alone, worker in warm]
    processor = [alone[1] / worker[1] for alone, worker in warm]
    return {
        "bare_solutions_per_second": round(len(solutions) / statistics.median(one[0] for one, _ in warm), 2),
        "worker_solutions_per_second": round(
            len(solutions) / statistics.median(one[0] for _, one in warm), 2
        ),
        "ratio_median": round(statistics.median(wall), 3),
        "ratio_median_by_processor_time": round(statistics.median(processor), 3),
        "ratio_least_by_processor_time": round(min(processor), 3),
    }


def _work(scorer: Any, solutions: list[int]) -> None:
    """One job, from the outbox to its end."""
    from annotator import jobs
    from annotator.actions import scoring

    scoring.enqueue_scoring(scorer=scorer, solution_ids=solutions)
    job = jobs.claim("scoring")
    assert job is not None
    scoring.score_batch(job=job)
    jobs.finish(job)


def _bare(running: Any, project: Any) -> Callable[[], None]:
    """Forward pass and readout of the worker's own batches, from tensors that are ready."""
    import torch

    from annotator.actions.scoring import BATCH_SIZE
    from annotator.core.solutions import Step
    from annotator.models import Solution
    from annotator.scorers.base import ScoringInput
    from annotator.scorers.local import folders, loading
    from annotator.scorers.local.batches import batches

    model = loading.loaded(running.running, folders.stamp(running.running.folder))
    rows = list(Solution.objects.filter(project=project).select_related("problem").order_by("pk"))
    items = [ScoringInput(one.problem.text, tuple(map(Step.from_json, one.steps))) for one in rows]
    prompts = [model.tokens.encode(item) for item in items]
    tensors = []
    for begin in range(0, len(prompts), BATCH_SIZE):
        group = prompts[begin : begin + BATCH_SIZE]
        for batch in batches([len(one.ids) for one in group], running.running.max_tokens):
            length = max(len(group[index].ids) for index in batch)
            ids = [[*group[index].ids, *[0] * (length - len(group[index].ids))] for index in batch]
            row = [place for place, index in enumerate(batch) for _ in group[index].places]
            places = [place for index in batch for place in group[index].places]
            tensors.append((torch.tensor(ids), torch.tensor(row), torch.tensor(places)))

    def forward() -> None:
        with torch.inference_mode():
            for ids, row, places in tensors:
                model.head(model.backbone(ids, None)[row, places])

    return forward


def _spent(work: Callable[[], None]) -> Spent:
    began, used = time.monotonic(), time.process_time()
    work()
    return time.monotonic() - began, time.process_time() - used


if __name__ == "__main__":
    sys.exit(main())
