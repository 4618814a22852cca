"""The scorers' page: managers only; states, forms, and what a scorer says of one solution."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotator.actions import access, scoring
from annotator.models import AuditEvent, Job, Project, Score, ScoreFailure, Scorer, ScorerVersion
from annotator.scorers import http, local
from annotator.web.form_scorers import KINDS, OWN
from tests import factories as make
from tests.scorers.stub import Stub
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/scorers/"


@pytest.fixture
def stub(settings: Any) -> Any:
    server = Stub()
    settings.SCORER_HOSTS = list(server.hosts)
    yield server
    http.forget_all()
    server.kill()


def new(url: str, **more: Any) -> dict[str, Any]:
    return {"name": "judge", "kind": "vllm", "url": url, **more}


@pytest.mark.parametrize("page", [PAGE, f"{PAGE}live"])
def test_a_manager_gets_in_and_others_do_not(people: People, page: str) -> None:
    codes = [
        who.get(page).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 403, 404, 302]


@pytest.mark.parametrize("what", ["pause", "resume", "score", "cancel", "rank", "unrank", "try", "change"])
def test_nobody_but_a_manager_does_anything_to_a_scorer(people: People, project: Project, what: str) -> None:
    scorer = project.scorers.get()
    codes = [
        who.post(f"{PAGE}{scorer.pk}/{what}", {"solution": "1"}).status_code
        for who in (people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [403, 404, 302]
    assert not Job.objects.exists()


@pytest.mark.parametrize("what", ["pause", "score", "rank", "try", "change"])
def test_another_projects_scorer_is_none(people: People, what: str) -> None:
    theirs = make.project().scorers.get()
    assert people.manager.post(f"{PAGE}{theirs.pk}/{what}", {"solution": "1"}).status_code == 404
    theirs.refresh_from_db()
    assert not theirs.paused


def test_a_scorer_is_added_paused_resumed_and_cancelled(people: People, project: Project, stub: Stub) -> None:
    assert people.manager.post(f"{PAGE}add", new(stub.url, key_env="")).status_code == 302
    scorer = Scorer.objects.get(project=project, name="judge")
    assert (scorer.kind, scorer.ranks, scorer.config) == ("vllm", False, {"url": stub.url})
    assert Job.objects.filter(kind=scoring.PLAN, queue=scoring.REMOTE).count() == 1

    people.manager.post(f"{PAGE}{scorer.pk}/pause")
    scorer.refresh_from_db()
    assert scorer.paused
    assert not Job.objects.filter(kind=scoring.PLAN).exists()

    people.manager.post(f"{PAGE}{scorer.pk}/resume")
    assert Job.objects.filter(kind=scoring.PLAN).count() == 1
    people.manager.post(f"{PAGE}{scorer.pk}/cancel")
    assert not Job.objects.filter(kind=scoring.PLAN).exists()


def test_a_model_of_this_machine_is_added_by_its_folder(
    people: People, project: Project, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "installed", lambda: True)
    settings.STEPMARK_MODEL_FOLDERS = [str(tmp_path)]
    (tmp_path / "prm").mkdir()
    for name in ("config.json", "model.safetensors"):
        (tmp_path / "prm" / name).touch()
    filled = new("http://not.asked", kind="local", path="prm", family="actprm", device="cuda", votes="3")

    assert people.manager.post(f"{PAGE}add", filled).status_code == 302

    scorer = Scorer.objects.get(project=project, name="judge")
    assert scorer.config == {"path": "prm", "family": "actprm", "device": "cuda"}


def test_the_style_sheet_knows_every_kind_whose_settings_it_hides() -> None:
    sheet = (settings.BASE_DIR / "frontend" / "src" / "css" / "pages-scorers.css").read_text()

    assert all(
        f'option[value="{kind}"]:checked) .of-kinds:not([data-kinds~="{kind}"])' in sheet for kind in OWN
    )
    assert {kind for kind, _said in KINDS} == set(OWN)


def test_a_scorers_own_settings_are_shown_and_no_others(people: People, project: Project, stub: Stub) -> None:
    people.manager.post(f"{PAGE}add", new(stub.url))
    scorer = Scorer.objects.get(project=project, name="judge")

    page = people.manager.get(PAGE).content.decode()

    assert f'id="id_{scorer.pk}_pooling"' in page
    assert f'id="id_{scorer.pk}_votes"' not in page
    assert f'id="id_{scorer.pk}_path"' not in page
    assert all(f'id="id_{name}"' in page for name in ("url", "votes", "path", "threshold"))


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://gpu9:8000",
        "file:///etc/passwd",
        "http://user:secret@127.0.0.1:1",
        "http://127.0.0.1:6379",
        "gopher://127.0.0.1",
    ],
)
def test_a_server_that_is_not_on_the_list_is_refused(people: People, stub: Stub, url: str) -> None:
    answer = people.manager.post(f"{PAGE}add", new(url))
    assert answer.status_code == 422
    assert not Scorer.objects.filter(name="judge").exists()
    assert not stub.seen()


def test_a_server_that_redirects_is_not_followed(people: People, project: Project, stub: Stub) -> None:
    people.manager.post(f"{PAGE}add", new(stub.url))
    solution = make.solution(project)
    stub.tell("redirect", to="http://169.254.169.254/", models=True)
    scorer = Scorer.objects.get(name="judge")
    answer = people.manager.post(f"{PAGE}{scorer.pk}/try", {"solution": solution.external_id})
    assert answer.status_code == 422
    assert "redirects are not followed" in answer.context["try_error"]


def test_a_key_is_in_no_page_and_no_row(
    people: People,
    project: Project,
    stub: Stub,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = "sk-very-secret-1234"
    monkeypatch.setenv("STEPMARK_KEY_GPU", secret)
    settings.SCORER_KEYS = ["STEPMARK_KEY_GPU"]
    people.manager.post(f"{PAGE}add", new(stub.url, key_env="STEPMARK_KEY_GPU"))
    solution = make.solution(project)
    stub.tell("status", status=401, says=f"bad key {secret}", models=True)
    scorer = Scorer.objects.get(name="judge")

    answer = people.manager.post(f"{PAGE}{scorer.pk}/try", {"solution": solution.external_id})
    job = scoring.jobs.claim(scoring.REMOTE)
    assert job is not None
    scoring.plan(job=job)

    page = people.manager.get(PAGE)
    kept = [str(list(model.objects.values())) for model in (Scorer, Job, AuditEvent)]
    told = [answer.content.decode(), page.content.decode(), caplog.text, *kept]
    assert "does not accept the key" in told[0]
    assert "does not accept the key" in told[1]
    assert not [text for text in told if secret in text]


def test_a_variable_that_is_not_for_scorers_is_refused(people: People, stub: Stub) -> None:
    answer = people.manager.post(f"{PAGE}add", new(stub.url, key_env="SECRET_KEY"))
    assert answer.status_code == 422
    assert "STEPMARK_SCORER_KEYS" in answer.content.decode()


def test_a_scorer_is_tried_on_a_solution_and_nothing_is_kept(
    people: People, project: Project, stub: Stub
) -> None:
    people.manager.post(f"{PAGE}add", new(stub.url))
    solution = make.solution(project, ["<b>one</b>", "two"])
    scorer = Scorer.objects.get(name="judge")
    answer = people.manager.post(f"{PAGE}{scorer.pk}/try", {"solution": f"#{solution.pk}"})

    tried = answer.context["tried"]
    assert [step.value for step in tried.steps] == [0.9, 0.8]
    assert (tried.stop, tried.external_id) == (-1, solution.external_id)
    assert "&lt;b&gt;one" in answer.content.decode()
    assert not scorer.versions.exists()


def test_trying_on_another_projects_solution_finds_none(people: People, project: Project) -> None:
    theirs = make.solution(make.project())
    scorer = project.scorers.get()
    for named in (theirs.external_id, str(theirs.pk)):
        answer = people.manager.post(f"{PAGE}{scorer.pk}/try", {"solution": named})
        assert answer.status_code == 422
        assert "no solution" in answer.context["try_error"]


def test_strategies_are_saved_and_the_queue_is_re_ranked(people: People, project: Project) -> None:
    make.work(project)
    scoring.request(actor=access.operator(project))
    job = scoring.jobs.claim(scoring.QUEUE)
    assert job is not None
    scoring.score_batch(job=job)
    Job.objects.all().delete()

    form = {
        "uncertainty": "2",
        "coverage": "1",
        "error_free_floor": "0.3",
        "certain_pred": "",
        "certain_std": "",
    }
    assert people.manager.post(f"{PAGE}fill", form).status_code == 302
    project.refresh_from_db()
    assert (project.strategies, project.error_free_floor) == ({"uncertainty": 2.0, "coverage": 1.0}, 0.3)
    assert Job.objects.filter(kind="queueing.reprioritize").count() == 1


@pytest.mark.parametrize(
    "wrong",
    [{"uncertainty": "0"}, {"certain_pred": "0.95"}, {"uncertainty": "nan"}, {"error_free_floor": "2"}],
)
def test_strategies_that_make_no_order_are_refused(
    people: People, project: Project, wrong: dict[str, str]
) -> None:
    form = {"uncertainty": "1", "error_free_floor": "0.3", **wrong}
    assert people.manager.post(f"{PAGE}fill", form).status_code == 422
    project.refresh_from_db()
    assert project.strategies == {"uncertainty": 1.0}


def test_the_page_takes_as_many_queries_for_many_solutions_as_for_one(
    people: People, project: Project, django_assert_max_num_queries: Any
) -> None:
    for _ in range(30):
        make.work(project)
    with django_assert_max_num_queries(18):
        people.manager.get(PAGE)


def test_a_zero_is_kept_and_what_the_form_does_not_show_stays(
    people: People, project: Project, stub: Stub
) -> None:
    scorer = Scorer.objects.create(
        project=project,
        name="judge",
        kind="vllm",
        ranks=False,
        config={"url": stub.url, "attempts": 1, "model": "m"},
    )
    answer = people.manager.post(f"{PAGE}{scorer.pk}/change", {"url": stub.url, "threshold": "0"})
    assert answer.status_code == 302
    scorer.refresh_from_db()
    assert scorer.config == {"url": stub.url, "attempts": 1, "threshold": 0.0}


def test_a_zero_is_shown_again(people: People, project: Project, stub: Stub) -> None:
    Scorer.objects.create(
        project=project, name="judge", kind="vllm", ranks=False, config={"url": stub.url, "threshold": 0.0}
    )
    (_, form), *_rest = people.manager.get(PAGE).context["settings"]
    assert form["threshold"].value() == 0.0


def test_a_manager_chooses_the_second_pass_and_the_page_tells(people: People, project: Project) -> None:
    first = project.scorers.get()
    second = Scorer.objects.create(project=project, name="slow", kind="builtin", ranks=False)
    answer = people.manager.post(f"{PAGE}passes", {"scorer": second.pk, "refines": first.pk}, follow=True)
    second.refresh_from_db()
    assert second.refines == first
    assert f"slow refines {first.name} from now on." in answer.content.decode()
    assert "second pass over" in answer.content.decode()

    people.manager.post(f"{PAGE}passes", {"scorer": second.pk, "refines": ""})
    second.refresh_from_db()
    assert second.refines is None


def test_a_second_pass_that_makes_no_sense_is_told(people: People, project: Project) -> None:
    first = project.scorers.get()
    Scorer.objects.create(project=project, name="slow", kind="builtin", ranks=False)
    answer = people.manager.post(f"{PAGE}passes", {"scorer": first.pk, "refines": first.pk})
    assert answer.status_code == 422
    assert "over itself" in answer.content.decode()


def test_only_managers_choose_the_second_pass(people: People, project: Project) -> None:
    scorer = project.scorers.get()
    codes = [
        who.post(f"{PAGE}passes", {"scorer": scorer.pk}).status_code
        for who in (people.annotator, people.stranger)
    ]
    assert codes == [403, 404]


def test_failures_are_listed_by_reason_with_the_time_of_the_last_try(
    people: People, project: Project
) -> None:
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", threshold=0.5, status="live"
    )
    for message, day in (("Too long.", 3), ("No steps.", 2), ("Too long.", 1)):
        ScoreFailure.objects.create(
            solution=make.work(project).solution,
            version=version,
            message=message,
            failed_at=datetime(2026, 11, day, tzinfo=UTC),
        )

    said = " ".join(people.manager.get(f"{PAGE}live").content.decode().split())
    assert '2: Too long. <span class="quiet">Last tried <time datetime="2026-11-03T00:00:00+00:00"' in said
    assert '1: No steps. <span class="quiet">Last tried <time datetime="2026-11-02T00:00:00+00:00"' in said


def test_an_order_by_the_second_pass_is_the_first_ones_order(people: People, project: Project) -> None:
    first = project.scorers.get()
    second = Scorer.objects.create(project=project, name="slow", kind="critic", ranks=False, refines=first)
    versions = [
        ScorerVersion.objects.create(scorer=each, version="v1", threshold=0.5, status="live")
        for each in (first, second)
    ]
    row = make.work(project, priority=0.5)
    for version in versions:
        Score.objects.create(
            solution=row.solution, version=version, n_steps=3, values=[0.5] * 3, spread=[None] * 3,
            priority=0.5, tiebreak=0.0, predicted_stop=-1,
        )  # fmt: skip
    type(row).objects.filter(pk=row.pk).update(ranked_by=versions[1])

    assert "has scored 1 of 1 solutions." in people.manager.get(f"{PAGE}live").content.decode()
