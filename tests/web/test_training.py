"""The training page: managers only; lineage, runs, rules, the way back, and what labels cost."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.actions import scoring
from annotator.models import Job, Project, Scorer
from annotator.queries.training_state import TrainingState, keep_state
from tests import factories as make
from tests.actions.lessons import generation, labelled
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/scorers/training/"


@pytest.fixture
def scorer(project: Project) -> Scorer:
    scorer = project.scorers.get()
    scoring.current_version(scorer)
    return scorer


def shown(people: People) -> str:
    reply = people.manager.get(PAGE)
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


@pytest.mark.parametrize("page", [PAGE, f"{PAGE}live"])
def test_a_manager_gets_in_and_others_do_not(people: People, page: str) -> None:
    codes = [
        who.get(page).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 403, 404, 302]


@pytest.mark.parametrize("what", ["train", "cancel", "back", "prices", "use/1", "rules"])
def test_nobody_but_a_manager_does_anything(people: People, scorer: Scorer, what: str) -> None:
    path = f"{PAGE}rules" if what == "rules" else f"{PAGE}{scorer.pk}/{what}"
    codes = [
        who.post(path, {"every": "1"}).status_code
        for who in (people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [403, 404, 302]
    assert not Job.objects.exists()


@pytest.mark.parametrize("what", ["train", "cancel", "back", "prices", "use/1"])
def test_another_projects_scorer_is_none(people: People, scorer: Scorer, what: str) -> None:
    theirs = make.project().scorers.get()
    assert people.manager.post(f"{PAGE}{theirs.pk}/{what}").status_code == 404
    assert not Job.objects.exists()


def test_before_the_first_run_the_page_says_what_there_is(people: People, scorer: Scorer) -> None:
    labelled(scorer.project)
    page = shown(people)
    assert "builtin scores as it came; nothing was trained yet." in page
    assert "It was never trained here; 1 label waits for it." in page
    assert "The holdout has 0 of the 1,000 labelled solutions" in page


def test_without_a_scorer_that_can_be_trained_the_page_says_so(people: People, scorer: Scorer) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(kind="vllm")
    assert "Nothing to train" in shown(people)


def test_a_run_is_asked_for_and_given_up(people: People, scorer: Scorer) -> None:
    people.manager.post(f"{PAGE}{scorer.pk}/train")
    assert Job.objects.get().kind == "training.run"
    page = shown(people)
    assert "A run waits for a worker." in page
    assert 'hx-trigger="every 3s"' in page
    assert "Train now" not in page
    people.manager.post(f"{PAGE}{scorer.pk}/cancel")
    page = shown(people)
    assert not Job.objects.exists()
    assert "It was cancelled." in page
    assert "hx-trigger" not in page


def test_a_second_run_is_refused_in_words(people: People, scorer: Scorer) -> None:
    people.manager.post(f"{PAGE}{scorer.pk}/train")
    reply = people.manager.post(f"{PAGE}{scorer.pk}/train", follow=True)
    assert "A run is on already." in reply.content.decode()


def test_a_run_shows_how_far_it_is(people: People, scorer: Scorer) -> None:
    people.manager.post(f"{PAGE}{scorer.pk}/train")
    state = TrainingState("running", stage="out of fold", done=2, total=6)
    keep_state(scorer.project, scorer.pk, state)
    page = shown(people)
    assert '<progress max="6" value="2"' in page
    assert "out of fold: 2 / 6" in page


def test_a_run_that_failed_for_good_says_why(people: People, scorer: Scorer) -> None:
    people.manager.post(f"{PAGE}{scorer.pk}/train")
    Job.objects.update(state="failed", error="MemoryError: too much")
    page = shown(people)
    assert "MemoryError: too much" in page
    assert "Train now" in page


def test_the_lineage_has_figures_with_intervals_and_the_decision_in_words(
    people: People, scorer: Scorer
) -> None:
    generation(scorer, 120, 0.42)
    page = shown(people)
    for told in ("0.420", "0.400–0.440", "0.370", "+1.0", "−1.5 to +3.4", "first 7 by judges"):
        assert told in page
    assert "waits for more evidence" in page
    assert "It could be worse, so the champion stays." in page
    assert "Use it anyway" in page


def test_a_champion_is_shown_and_can_be_taken_back(people: People, scorer: Scorer) -> None:
    shipped = scorer.versions.get()
    champion = generation(scorer, 300, 0.5, "live")
    page = shown(people)
    assert "scores by what 300 labelled solutions taught it, F1 0.50 (0.48–0.52)" in page
    assert f"Go back to {shipped.version}" in page
    people.manager.post(f"{PAGE}{scorer.pk}/back")
    scorer.refresh_from_db()
    champion.refresh_from_db()
    assert (scorer.champion, champion.status) == (None, "retired")
    assert "Go back to" not in shown(people)


def test_a_challenger_is_used_by_a_managers_word(people: People, scorer: Scorer) -> None:
    waiting = generation(scorer, 120, 0.42)
    people.manager.post(f"{PAGE}{scorer.pk}/use/{waiting.pk}")
    scorer.refresh_from_db()
    assert scorer.champion == waiting
    page = shown(people)
    assert "champion, by a manager&#x27;s word" in page
    assert "Use it anyway" not in page


def test_going_back_where_there_is_nothing_is_refused_in_words(people: People, scorer: Scorer) -> None:
    reply = people.manager.post(f"{PAGE}{scorer.pk}/back", follow=True)
    assert "There is no version to go back to." in reply.content.decode()


def test_rules_are_saved_and_shown(people: People, project: Project) -> None:
    data = {"every": "200", "hours": "", "target": "0.6"}
    assert people.manager.post(f"{PAGE}rules", data).status_code == 302
    project.refresh_from_db()
    assert project.retraining == {"every": 200, "target": 0.6, "automatic": False}
    assert 'name="every" type="text" inputmode="decimal" class="is-number" value="200"' in shown(people)


@pytest.mark.parametrize("wrong", [{"every": "0"}, {"every": "many"}, {"hours": "0.5"}, {"target": "1.5"}])
def test_rules_that_make_no_sense_are_refused_beside_their_field(
    people: People, project: Project, wrong: dict[str, str]
) -> None:
    reply = people.manager.post(f"{PAGE}rules", wrong)
    (typed,) = wrong.values()
    assert reply.status_code == 422
    assert f'value="{typed}"' in reply.content.decode()
    assert reply.content.decode().count('class="field-error"') == 1
    project.refresh_from_db()
    assert project.retraining == {}


def test_prices_are_saved_and_0_is_a_price(people: People, scorer: Scorer) -> None:
    people.manager.post(f"{PAGE}{scorer.pk}/prices", {"input_per_million": "0", "per_hour": "1.5"})
    scorer.refresh_from_db()
    assert scorer.prices == {"input_per_million": 0.0, "per_hour": 1.5}
    reply = people.manager.post(f"{PAGE}{scorer.pk}/prices", {"per_hour": "-2"})
    assert reply.status_code == 422
    scorer.refresh_from_db()
    assert scorer.prices["per_hour"] == 1.5


def test_three_generations_make_a_curve_and_a_forecast(people: People, scorer: Scorer) -> None:
    for n in (100, 200, 400):
        generation(scorer, n, 1 - n**-0.25, "live")
    Project.objects.filter(pk=scorer.project_id).update(retraining={"target": 0.8})
    page = shown(people)
    assert "From 100 to 400 labelled solutions the F1 went from 0.68 to 0.78." in page
    assert "An F1 of 0.80 takes about 625 labelled solutions in all" in page


def test_with_too_little_to_go_by_there_is_no_forecast(people: People, scorer: Scorer) -> None:
    assert "There is no forecast yet" in shown(people)
    generation(scorer, 100, 0.5)
    assert "It takes 3 generations with different numbers of labels; there are 1." in shown(people)


def test_the_number_of_queries_does_not_grow(people: People, scorer: Scorer) -> None:
    generation(scorer, 100, 0.5, "live")
    people.manager.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        people.manager.get(PAGE)
    for n in (200, 300, 400):
        generation(scorer, n, 0.5, "live")
        labelled(scorer.project)
    with CaptureQueriesContext(connection) as many:
        people.manager.get(PAGE)
    assert len(many) == len(few)
