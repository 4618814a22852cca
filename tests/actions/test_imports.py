"""Bringing solutions in."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from annotator.actions import access, import_chunks, imports
from annotator.actions.access import NotAllowed
from annotator.actions.imports import Report, Source
from annotator.core.codecs import UnknownFormat
from annotator.core.codecs.detect import FormatNotDetected
from annotator.models import (
    ImportBatch,
    Job,
    Problem,
    Project,
    QueueRow,
    ReferenceLabels,
    Role,
    Scorer,
    Solution,
)
from tests import factories as make
from tests.files import Lines, bring, jsonl, native, processbench

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.read, report.imported, report.duplicates, report.rejected


def test_a_problem_and_its_steps_are_enough(project: Project) -> None:
    report = bring(project, {"problem": {"text": "1 + 1?"}, "steps": ["It is 2."]})

    solution = Solution.objects.get()
    assert counts(report) == (1, 1, 0, 0)
    assert (solution.problem.text, solution.n_steps, solution.steps[0]["text"]) == ("1 + 1?", 1, "It is 2.")


def test_a_whole_text_is_cut_by_the_rule_that_was_named(project: Project) -> None:
    bring(project, {"problem": {"text": "?"}, "solution": "One.\nTwo.\nThree."}, segment_rule="line")

    assert [step["text"] for step in Solution.objects.get().steps] == ["One.", "Two.", "Three."]


def test_auto_recognises_the_format_and_says_how(project: Project) -> None:
    report = bring(project, processbench(0), processbench(1))

    assert report.format == "processbench"
    assert "2 of the first 2 rows" in report.reason


def test_everything_a_native_row_says_of_the_solution_is_kept(project: Project) -> None:
    row = native(generator={"model": "m", "sampling": {"t": 1}}, final_answer="7", answer_correct=False)
    row["problem"] |= {"id": "p", "answer": "8", "solution": "s", "domain": "math", "subject": "algebra"}
    bring(project, row | {"meta": {"a": 1}, "unheard": "of"})

    solution, problem = Solution.objects.get(), Problem.objects.get()
    assert (solution.external_id, solution.generator["model"], solution.final_answer) == ("n0", "m", "7")
    assert (solution.answer_correct, solution.meta) == (False, {"a": 1, "unheard": "of"})
    assert (problem.external_id, problem.answer, problem.solution) == ("p", "8", "s")
    assert (problem.domain, problem.subject) == ("math", "algebra")


def test_an_answer_that_is_not_known_stays_unknown(project: Project) -> None:
    bring(project, native())

    assert (Problem.objects.get().answer, Solution.objects.get().answer_correct) == (None, None)


def test_reference_labels_are_kept_and_fill_no_slot(project: Project) -> None:
    bring(project, processbench(label=1))

    reference, row = ReferenceLabels.objects.get(), QueueRow.objects.get()
    assert (reference.labels, reference.first_error) == ([1, -1, None], 1)
    assert row.taken == 0


def test_solutions_of_one_problem_share_it(project: Project) -> None:
    bring(project, native(0), native(0, steps=["Another way."]))

    assert (Problem.objects.count(), Solution.objects.count()) == (1, 2)


def test_the_same_file_again_brings_nothing_new(project: Project) -> None:
    rows = [native(n) for n in range(5)]
    bring(project, *rows)
    jobs = Job.objects.count()

    assert counts(bring(project, *rows)) == (5, 0, 5, 0)
    assert (Solution.objects.count(), Job.objects.count()) == (5, jobs)


@pytest.mark.parametrize("chunk", [2, 500])
def test_a_solution_that_stands_twice_in_a_file_is_imported_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(imports, "CHUNK", chunk)

    assert counts(bring(project, native(0), native(0), native(1), native(0))) == (4, 2, 2, 0)


def test_another_id_or_other_labels_do_not_make_another_solution(project: Project) -> None:
    bring(project, native(0, 1, 1, 1))

    assert bring(project, native(0, 1, 1, -1, id="other")).duplicates == 1


def test_another_segmentation_is_another_solution(project: Project) -> None:
    bring(project, native(steps=["One. Two."]))

    assert bring(project, native(steps=["One.", "Two."])).imported == 1


def test_a_project_knows_nothing_of_anothers_solutions(project: Project) -> None:
    bring(project, native())

    assert bring(make.project(), native()).imported == 1


def broken() -> list[tuple[bytes | dict[str, Any], str]]:
    """Seven bad lines, and the field that each error must name; "" where the line is no object."""
    good = processbench(0)
    return [
        (b'{"id": "cut off', ""),
        (
            {key: value for key, value in good.items() if key != "final_answer_correct"},
            "final_answer_correct",
        ),
        (good | {"label": 3}, "label"),
        (good | {"steps": []}, "steps"),
        (good | {"steps": "One. Two."}, "steps"),
        (good | {"problem": "NUL \0 inside"}, "problem"),
        (b'{"id": "caf\xe9"}', ""),
    ]


def test_seven_broken_lines_among_a_hundred_are_named_and_the_rest_is_kept(project: Project) -> None:
    rows: list[dict[str, Any] | bytes] = [processbench(n) for n in range(100)]
    places = [3, 17, 18, 40, 55, 81, 99]
    for place, (bad, _) in zip(places, broken(), strict=True):
        rows[place] = bad

    report = bring(project, *rows)

    assert counts(report) == (100, 93, 0, 7)
    assert [(error.line, error.field) for error in report.errors] == [
        (place + 1, field) for place, (_, field) in zip(places, broken(), strict=True)
    ]
    assert all(error.message for error in report.errors)


def test_the_batch_tells_what_the_report_tells(project: Project) -> None:
    report = bring(project, processbench(0), processbench(0), processbench(1, label=9))

    batch = ImportBatch.objects.get(pk=report.batch)
    assert (batch.state, batch.read, batch.imported, batch.duplicates, batch.rejected) == ("done", 3, 1, 1, 1)
    assert [(error["line"], error["field"]) for error in batch.errors] == [(3, "label")]
    assert batch.finished_at is not None


def test_all_errors_are_counted_though_only_the_first_are_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "KEPT_ERRORS", 2)
    report = bring(project, *[native(n, 5, 5, 5) for n in range(4)])

    assert (report.rejected, [error.line for error in report.errors]) == (4, [1, 2])


def test_an_import_that_breaks_off_keeps_what_was_written_and_counts_no_more(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 2)
    write, calls = import_chunks.write_labels, []

    def fail_at_the_second(*args: Any) -> None:
        calls.append(args)
        if len(calls) == 2:
            raise RuntimeError("the disk is full")
        write(*args)

    monkeypatch.setattr(import_chunks, "write_labels", fail_at_the_second)
    with pytest.raises(RuntimeError, match="the disk is full"):
        bring(project, *[native(n) for n in range(6)])

    batch = ImportBatch.objects.get()
    assert (batch.state, batch.read, batch.imported, Solution.objects.count()) == ("failed", 2, 2, 2)


def test_an_import_that_broke_off_is_completed_by_running_it_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [native(n) for n in range(6)]
    bring(project, *rows[:2])

    assert counts(bring(project, *rows)) == (6, 4, 2, 0)


def test_chunks_are_taken_for_new_until_one_holds_a_known_solution(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(project, native(5))
    monkeypatch.setattr(imports, "CHUNK", 2)
    known, asked = import_chunks._known, []
    monkeypatch.setattr(import_chunks, "_known", lambda *args: asked.append(args) or known(*args))

    assert counts(bring(project, *[native(n) for n in range(10)])) == (10, 9, 1, 0)
    assert len(asked) == 1 + 3  # the first chunk, the third once it was refused, and all behind it
    assert Solution.objects.count() == Problem.objects.count() == QueueRow.objects.count() == 10


@pytest.mark.parametrize(("format_name", "error"), [("xml", UnknownFormat), ("auto", FormatNotDetected)])
def test_a_format_that_is_not_known_leaves_no_trace(
    project: Project, format_name: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        bring(project, {"what": "is this"}, format=format_name)

    assert not ImportBatch.objects.exists()


def test_an_annotator_cannot_import(project: Project) -> None:
    with pytest.raises(NotAllowed):
        imports.run(actor=make.actor(project), source=Source(file=jsonl(native()), filename="x"))


def test_a_managers_import_bears_their_name(project: Project) -> None:
    manager = make.actor(project, Role.MANAGER)
    report = imports.run(actor=manager, source=Source(file=jsonl(native()), filename="x.jsonl"))

    assert ImportBatch.objects.get(pk=report.batch).member_id == manager.member


def test_each_new_solution_is_in_one_scoring_job_for_each_scorer(project: Project) -> None:
    Scorer.objects.create(project=project, name="second", kind="builtin", ranks=False)
    bring(project, *[native(n) for n in range(130)])

    for scorer in Scorer.objects.filter(project=project):
        jobs = Job.objects.filter(kind="scoring.score_batch", payload__scorer_id=scorer.pk)
        asked = [pk for job in jobs for pk in job.payload["solution_ids"]]
        assert sorted(asked) == sorted(Solution.objects.values_list("pk", flat=True))


def test_near_duplicates_are_on_one_side_of_the_split(project: Project) -> None:
    texts = [f"{greeting} has {n} apples." for n in range(20) for greeting in ("Tom", "TOM ")]
    bring(project, *[native(problem={"text": text}) for text in texts])

    assert Problem.objects.count() == 40
    assert len(set(Problem.objects.values_list("split", flat=True))) == 1


def test_a_tenth_of_the_problems_is_held_out(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(split_key="fixed, so that chance breaks nothing")
    project.refresh_from_db()
    bring(project, *[native(n) for n in range(600)])

    held_out = Problem.objects.filter(split="holdout").count()
    assert 36 <= held_out <= 84  # 60 expected, 3.3 standard errors each way
    assert QueueRow.objects.filter(holdout=True).count() == held_out


def test_each_side_wants_its_number_of_labels(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_chunks, "in_holdout", lambda key, text: "b thing" in text)
    bring(project, native(0), native(1))

    rows = QueueRow.objects.order_by("pk").values_list("holdout", "wanted", "audit_owed")
    assert list(rows) == [(False, 1, 2), (True, 3, 0)]


def test_reading_never_runs_ahead_of_writing_by_more_than_a_chunk(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 10)
    file = Lines(native(n) for n in range(95))
    ahead: list[int] = []

    def look(report: Report) -> None:
        ahead.append(file.given - report.read)

    source = Source(file=file, filename="x.jsonl", format="native")
    imports.run(actor=access.operator(project), source=source, progress=look)

    assert len(ahead) == 10
    assert max(ahead) <= imports.CHUNK


def test_memory_does_not_grow_with_the_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "CHUNK", 10)
    file = Lines(native(n, steps=["x" * 40_000]) for n in range(400))  # 16 MB
    source = Source(file=file, filename="x.jsonl", format="native")
    tracemalloc.start()
    try:
        imports.run(actor=access.operator(project), source=source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 6_000_000


@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_file_at_once_bring_each_solution_once() -> None:
    project = make.project()
    rows = [native(n) for n in range(40)]

    def bring_in(_: int) -> Report:
        try:
            return bring(project, *rows)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        reports = list(pool.map(bring_in, range(3)))

    assert sum(report.imported for report in reports) == Solution.objects.count() == 40
    assert sum(report.duplicates for report in reports) == 80


def test_a_zip_of_files_is_imported_with_its_bad_rows_named_by_file(project: Project) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("one.jsonl", b'{"problem": {"text": "1?"}, "steps": ["1"]}\n{\n')
        archive.writestr(
            "two.json", b'[{"problem": {"text": "2?"}, "steps": ["2"]}, {"problem": {"text": "3?"}}]'
        )
    held.seek(0)
    report = imports.run(actor=access.operator(project), source=Source(file=held, filename="all.zip"))
    assert (report.read, report.imported, report.rejected) == (4, 2, 2)
    assert [(each.part, each.line) for each in report.errors] == [("one.jsonl", 2), ("two.json", 2)]
