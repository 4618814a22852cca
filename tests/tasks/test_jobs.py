"""The outbox: jobs are claimed once, survive their workers, and never wait for the broker."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from annotator import jobs, tasks
from annotator.jobs import Claimed, LeaseLost
from annotator.models import Job
from tests.brokers import DEAD, broker_at

pytestmark = pytest.mark.django_db

KIND = "labeling.follow_up"


def add(subject: str = "annotation 1", **fields: Any) -> None:
    jobs.enqueue(kind=fields.pop("kind", KIND), subject=subject, **fields)


def claim(queue: str = "default") -> Claimed:
    job = jobs.claim(queue)
    assert job is not None
    return job


def let_leases_run_out() -> None:
    Job.objects.filter(state="claimed").update(lease_expires_at=Now() - timedelta(seconds=1))


def states() -> dict[str, int]:
    return dict(Counter(Job.objects.values_list("state", flat=True)))


def test_a_job_is_claimed_with_all_it_says() -> None:
    add(payload={"annotation_id": 1})

    job = claim()
    assert (job.kind, job.subject, job.payload, job.attempts) == (
        KIND,
        "annotation 1",
        {"annotation_id": 1},
        1,
    )


def test_a_claimed_job_is_nobody_elses() -> None:
    add()
    claim()

    assert jobs.claim("default") is None


def test_what_is_due_longest_comes_first() -> None:
    add("young"), add("old")
    Job.objects.filter(subject="old").update(due_at=Now() - timedelta(minutes=1))

    assert [claim().subject, claim().subject] == ["old", "young"]


def test_what_is_not_due_yet_waits() -> None:
    add()
    Job.objects.update(due_at=Now() + timedelta(minutes=1))

    assert jobs.claim("default") is None


def test_a_queue_knows_nothing_of_anothers_jobs() -> None:
    add(queue="scoring")

    assert jobs.claim("default") is None
    assert claim("scoring").kind == KIND


@pytest.mark.django_db(transaction=True)
def test_workers_that_claim_at_once_never_get_the_same_job() -> None:
    for number in range(60):
        add(f"annotation {number}")

    def take_all(_: int) -> list[int]:
        got = []
        try:
            while (job := jobs.claim("default")) is not None:
                got.append(job.id)
        finally:
            connection.close()
        return got

    with ThreadPoolExecutor(6) as pool:
        taken = [pk for got in pool.map(take_all, range(6)) for pk in got]

    assert len(taken) == len(set(taken)) == 60


def test_the_same_job_twice_is_queued_once_with_what_was_said_last() -> None:
    add(payload={"annotation_id": 1}), add(payload={"annotation_id": 2})

    assert Job.objects.get().payload == {"annotation_id": 2}


def test_asking_again_brings_a_job_that_waits_for_its_next_try_forward() -> None:
    add()
    jobs.fail(claim(), "no luck")
    add()

    assert claim().attempts == 2


def test_a_change_during_a_run_queues_another_run() -> None:
    add()
    claim()
    add()

    assert states() == {"claimed": 1, "queued": 1}


@pytest.mark.django_db(transaction=True)
def test_a_queued_job_is_not_claimed_before_the_change_that_asks_for_it_again_is_there() -> None:
    add()

    def claim_elsewhere() -> Claimed | None:
        try:
            return jobs.claim("default")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            add()
            assert pool.submit(claim_elsewhere).result() is None
        assert pool.submit(claim_elsewhere).result() is not None


def test_a_job_that_is_done_is_gone() -> None:
    add()
    jobs.finish(claim())

    assert states() == {}


def test_a_job_that_raised_is_tried_again_later_and_keeps_the_error() -> None:
    add()
    jobs.fail(claim(), "no luck")

    job = Job.objects.get()
    assert (job.state, job.error, job.attempts) == ("queued", "no luck", 1)
    assert job.due_at > timezone.now() + timedelta(seconds=1)


def test_the_pauses_double_up_to_two_minutes() -> None:
    pauses = []
    add()
    for _ in range(jobs.MAX_ATTEMPTS - 1):
        jobs.fail(claim(), "no luck")
        pauses.append(round((Job.objects.get().due_at - timezone.now()).total_seconds()))
        Job.objects.update(due_at=Now())

    assert pauses == sorted(pauses)
    assert (pauses[0], max(pauses)) == (2, 128)


def test_after_the_last_attempt_a_job_stays_as_failed() -> None:
    add()
    Job.objects.update(attempts=jobs.MAX_ATTEMPTS - 1)
    jobs.fail(claim(), "x" * 5_000)

    assert (Job.objects.get().state, len(Job.objects.get().error)) == ("failed", 2_000)
    assert jobs.claim("default") is None


def test_progress_forgives_earlier_attempts() -> None:
    add()
    Job.objects.update(attempts=jobs.MAX_ATTEMPTS - 1)
    job = claim()
    jobs.extend(job)
    jobs.fail(job, "no luck after all")

    assert Job.objects.get().state == "queued"


def test_a_job_that_raised_leaves_the_work_to_a_twin_that_was_queued_meanwhile() -> None:
    add()
    job = claim()
    add(payload={"annotation_id": 2})
    jobs.fail(job, "no luck")

    assert (states(), Job.objects.get().payload) == ({"queued": 1}, {"annotation_id": 2})


def stolen() -> tuple[Claimed, Claimed]:
    """A job whose first worker was too slow, so that a second one has it now."""
    add()
    slow = claim()
    let_leases_run_out()
    jobs.reconcile()
    return slow, claim()


def test_a_job_whose_worker_died_runs_again() -> None:
    slow, quick = stolen()

    assert (slow.id, quick.attempts) == (quick.id, 2)


def test_a_lease_that_has_not_run_out_is_left_alone() -> None:
    add()
    claim()
    jobs.reconcile()

    assert states() == {"claimed": 1}


def test_a_worker_that_lost_its_lease_cannot_extend_it() -> None:
    slow, quick = stolen()
    with pytest.raises(LeaseLost):
        jobs.extend(slow)
    jobs.extend(quick)


def test_a_worker_that_lost_its_lease_cannot_finish_the_others_run() -> None:
    slow, _ = stolen()
    jobs.finish(slow)

    assert states() == {"claimed": 1}


def test_a_worker_that_lost_its_lease_cannot_fail_the_others_run() -> None:
    slow, quick = stolen()
    jobs.fail(slow, "too slow")

    assert (states(), Job.objects.get().claim_token) == ({"claimed": 1}, quick.token)


def test_a_job_that_kills_each_worker_stays_as_failed() -> None:
    add()
    for _ in range(jobs.MAX_ATTEMPTS):
        claim()
        let_leases_run_out()
        jobs.reconcile()

    job = Job.objects.get()
    assert (job.state, job.error) == ("failed", "its worker died each time it was tried")


def test_a_job_whose_worker_died_leaves_the_work_to_a_twin_that_was_queued_meanwhile() -> None:
    add()
    claim()
    add()
    let_leases_run_out()
    jobs.reconcile()

    assert states() == {"queued": 1}


def test_the_reconcile_wakes_each_queue_with_due_work() -> None:
    add("a"), add("b"), add("c", queue="scoring"), add("d", queue="later")
    Job.objects.filter(queue="later").update(due_at=Now() + timedelta(hours=1))

    assert jobs.reconcile() == ["default", "scoring"]


def test_a_dead_broker_costs_a_request_little_once_and_then_nothing() -> None:
    with broker_at(DEAD):
        started = time.monotonic()
        first = jobs.wake("default")
        paused = time.monotonic()
        rest = [jobs.wake("default") for _ in range(1_000)]

    assert (first, any(rest)) == (False, False)
    assert paused - started < 1.5
    assert time.monotonic() - paused < 0.1


def test_the_broker_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with broker_at(DEAD):
        jobs.wake("default")
    # The broker is back, but this process doesn't know yet.
    monkeypatch.setattr(jobs, "_silent_until", time.monotonic() + 0.2)
    assert not jobs.wake("nobody-listens")
    time.sleep(0.21)

    assert jobs.wake("nobody-listens")


def test_with_a_dead_broker_nobody_works() -> None:
    started = time.monotonic()
    with broker_at(DEAD):
        assert not jobs.someone_works(timeout=1.0)

    assert time.monotonic() - started < 3.0


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Subjects in the order in which they were done; "bad" raises, "slow" loses its lease."""
    done: list[str] = []

    def handle(job: Claimed) -> None:
        if job.subject == "bad":
            raise RuntimeError("no luck")
        if job.subject == "slow":
            raise LeaseLost(job.subject)
        done.append(job.subject)

    monkeypatch.setitem(tasks.HANDLERS, KIND, handle)
    return done


def test_one_wake_up_does_all_that_is_due(handled: list[str]) -> None:
    add("a"), add("b"), add("c", queue="scoring")

    assert tasks.run_jobs("default") == 2
    assert (handled, states()) == (["a", "b"], {"queued": 1})


def test_a_job_that_raises_does_not_stop_the_others(handled: list[str]) -> None:
    add("a"), add("bad"), add("b")
    tasks.run_jobs("default")

    assert handled == ["a", "b"]
    assert Job.objects.get().error == "RuntimeError: no luck"


def test_a_kind_that_nobody_knows_is_kept_with_the_reason(handled: list[str]) -> None:
    add("a", kind="unheard.of")
    tasks.run_jobs("default")

    assert "unheard.of" in Job.objects.get().error


def test_a_run_that_lost_its_lease_leaves_the_job_to_who_has_it(handled: list[str]) -> None:
    add("slow")
    tasks.run_jobs("default")

    assert (states(), Job.objects.get().error) == ({"claimed": 1}, "")


def test_after_its_time_is_up_a_run_hands_over_to_a_fresh_message(
    handled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(tasks, "BUDGET_SECONDS", 0.0)
    monkeypatch.setattr(jobs, "wake", woken.append)
    add("a"), add("b")
    Job.objects.update(due_at=F("due_at") - timedelta(seconds=1))

    assert tasks.run_jobs("default") == 1
    assert (handled, woken) == (["a"], ["default"])
