"""A worker that buys continuations is killed: what was paid for is known to the next one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from annotator.models import Project, Rollouts, Score
from tests import factories as make
from tests.files import bring, native, word
from tests.scorers.stub import Stub
from tests.tasks.workers import Worker, beat, half_a_minute_passes, no_jobs_left, until, working

pytestmark = pytest.mark.django_db(transaction=True)
#: Solutions, prefixes of each, continuations of a prefix, and requests at a time.
MANY, STEPS, K, AT_ONCE = 40, 3, 2, 4


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    server = Stub()
    server.tell("slow", seconds=0.05, answers=["So \\boxed{4}.", "So \\boxed{5}."])
    monkeypatch.setenv("STEPMARK_SCORER_HOSTS", ",".join(server.hosts))
    yield server
    server.kill()


@pytest.fixture
def project(stub: Stub) -> Project:
    made = make.project()
    config = {"url": stub.url, "concurrency": AT_ONCE, "rollouts": K}
    made.scorers.update(kind="monte_carlo", name="rolling", config=config, ranks=False)
    problems = [{"text": f"What is the {word(n)} thing?", "answer": "4"} for n in range(MANY)]
    bring(made, *[native(n, problem=problem) for n, problem in enumerate(problems)])
    return made


def test_nothing_that_was_paid_for_is_bought_again(broker: str, project: Project, stub: Stub) -> None:
    beat()
    worker = Worker(broker)
    try:
        until(lambda: Rollouts.objects.count() > 5, "it has begun", log=worker.log)
    finally:
        worker.kill()
    assert Rollouts.objects.count() < MANY * STEPS, "the worker was too quick to be killed in the middle"
    half_a_minute_passes()

    with working(broker) as worker:
        until(no_jobs_left, "all jobs are done", log=worker.log)
    assert Score.objects.count() == MANY
    assert set(Rollouts.objects.values_list("tried", "right")) == {(K, 1)}
    asked = Counter(one["body"]["prompt"] for one in stub.seen("/v1/completions"))
    assert len(asked) == MANY * STEPS
    # What the killed worker had under way, its replies not yet kept, is all that is asked for twice.
    assert sum(asked.values()) - len(asked) <= AT_ONCE
