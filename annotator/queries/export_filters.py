"""Which solutions an export is about: filters that the database carries out, whatever the labels come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from enum import StrEnum
from typing import Any

from django.db.models import (
    Avg,
    Case,
    Count,
    Exists,
    FloatField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)

from annotator.core.details import is_text
from annotator.core.identities import contradicted
from annotator.core.labels import CENSORED
from annotator.models import Adjudication, Annotation, Membership, Solution, Split
from annotator.queries.label_sources import where_both_agree


class LabelsFrom(StrEnum):
    """CONSENSUS: adjudicated where somebody decided, else what people agree on. ALL: every annotation. AUTOMATIC: no
    person's, but where a judge and Monte-Carlo agree on the first error's place."""

    CONSENSUS = "consensus"
    ADJUDICATED = "adjudicated"
    ALL = "all"
    REFERENCE = "reference"
    AUTOMATIC = "automatic"


class LabelSource(StrEnum):
    """Where one solution's exported labels come from, as ``label_source`` says it in a file."""

    HUMAN = "human"
    CONSENSUS = "consensus"
    ADJUDICATED = "adjudicated"
    GOLD = "gold"
    IMPORTED = "imported"


class BadChoice(ValueError):
    """A filter or an option that can't be; the message names it and says what it takes."""


@dataclass(frozen=True)
class Only:
    """Filters, each None (or empty) for any: what doesn't pass was not asked for and is not counted as left out.

    ``since`` and ``until``: somebody handed in their current labels on these days (UTC), both included.
    ``min_agreement``: the least share of counted labels that put the first error where the consensus does;
    ``min_posterior``: the least posterior of the consensus. What was adjudicated, and gold, passes both.
    ``min_people``: so many counted labels. ``people``: pseudonyms, one of whom labelled it; with every annotation,
    theirs alone. ``sources``: where the labels come from. ``automatic``: "agree" where a judge and Monte-Carlo put the
    first error in the same place. ``checks``: "contradicted" where an equation in a step does not hold, "clean" where
    none is known not to. ``exclude_benchmarks``: problems that no known benchmark holds; None as for the others.
    """

    split: str | None = None
    domain: str = ""
    since: date | None = None
    until: date | None = None
    min_agreement: float | None = None
    min_posterior: float | None = None
    min_people: int | None = None
    people: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    automatic: str = ""
    checks: str = ""
    exclude_benchmarks: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """The filters that are set, as JSON holds them."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        plain = {name: _plain(value) for name, value in named.items()}
        return {name: value for name, value in plain.items() if value not in (None, "", [])}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Only:
        """Filters from a form, a command or a stored recipe; other names are passed over. Raises BadChoice."""
        return cls(
            **{name: read(name, given[name]) for name, read in READERS.items() if _said(given.get(name))}
        )


def _said(value: Any) -> bool:
    return value is not None and value not in ("", [], ())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if isinstance(value, date) else value


def _share(name: str, given: Any) -> float:
    try:
        value = float(given)
    except (TypeError, ValueError):
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise BadChoice(f"{name} is a number from 0 to 1, such as 0.8.")
    return value


def _number(name: str, given: Any) -> int:
    try:
        value = int(given)
    except (TypeError, ValueError):
        value = 0
    if not 1 <= value <= 1_000:
        raise BadChoice(f"{name} is a whole number from 1 to 1,000.")
    return value


def _day(name: str, given: Any) -> date:
    try:
        return given if isinstance(given, date) else date.fromisoformat(given)
    except (TypeError, ValueError):
        raise BadChoice(f"{name} is a day such as 2026-03-01.") from None


def _text(name: str, given: Any) -> str:
    if not is_text(given):
        raise BadChoice(f"{name} holds characters that no text has.")
    return str(given)


def words(name: str, given: Any) -> tuple[str, ...]:
    """Words apart by commas, or a list of them; each once."""
    parts = given.split(",") if isinstance(given, str) else list(given)
    parts = [_text(name, part) for part in parts]
    return tuple(dict.fromkeys(str(part).strip() for part in parts if str(part).strip()))


def _sources(name: str, given: Any) -> tuple[str, ...]:
    found = words(name, given)
    if not set(found) <= set(LabelSource):
        raise BadChoice(f"{name} are among: {', '.join(LabelSource)}.")
    return found


def _yes(name: str, given: Any) -> bool | None:
    if given in (True, "1", "true", "True", "on", "yes"):
        return True
    if given in (False, "0", "false", "False", "off", "no"):
        return None  # as if it had not been said
    raise BadChoice(f"{name} is yes or no.")


def _split(name: str, given: Any) -> str:
    if given not in Split.values:
        raise BadChoice(f"{name} is one of: {', '.join(Split.values)}.")
    return str(given)


def _one_of(*words: str) -> Any:
    def read(name: str, given: Any) -> str:
        if given not in words:
            raise BadChoice(f"{name} is one of: {', '.join(words)}.")
        return str(given)

    return read


AGREE, CONTRADICTED, CLEAN = "agree", "contradicted", "clean"
READERS: Mapping[str, Any] = {
    "exclude_benchmarks": _yes,
    "split": _split,
    "domain": _text,
    "since": _day,
    "until": _day,
    "min_agreement": _share,
    "min_posterior": _share,
    "min_people": _number,
    "people": words,
    "sources": _sources,
    "automatic": _one_of(AGREE),
    "checks": _one_of(CONTRADICTED, CLEAN),
}


def unknown_people(project_id: int, people: tuple[str, ...]) -> list[str]:
    """Pseudonyms that nobody in the project has."""
    known = Membership.objects.filter(project_id=project_id, pseudonym__in=people)
    return sorted(set(people) - set(known.values_list("pseudonym", flat=True)))


def passing(solutions: QuerySet[Solution], only: Only, labels: LabelsFrom) -> QuerySet[Solution]:
    """Those that pass the filters."""
    if labels is not LabelsFrom.ALL:  # what was cut otherwise since is there once, as it is cut now
        solutions = solutions.filter(superseded_at=None)
    if only.split is not None:
        solutions = solutions.filter(problem__split=only.split)
    if only.domain:
        solutions = solutions.filter(problem__domain=only.domain)
    if only.since is not None or only.until is not None:
        solutions = solutions.filter(Exists(_handed_in(only)))
    if only.people:
        theirs = Annotation.objects.filter(
            solution=OuterRef("pk"), current=True, member__pseudonym__in=only.people
        )
        solutions = solutions.filter(Exists(theirs))
    if only.exclude_benchmarks:
        solutions = solutions.filter(problem__benchmarks=[])
    if only.sources:
        solutions = solutions.filter(_from_sources(only.sources, labels))
    if only.automatic == AGREE:
        solutions = where_both_agree(solutions)
    return _trusted(solutions, only)


def passes_checks(steps: Sequence[Mapping[str, Any]], only: Only) -> bool:
    """Whether a solution's text passes ``checks``: arithmetic that no database does."""
    if not only.checks:
        return True
    wrong = any(contradicted(step["text"]) for step in steps if step["judged"])
    return wrong == (only.checks == CONTRADICTED)


def _handed_in(only: Only) -> QuerySet[Annotation]:
    rows = Annotation.objects.filter(solution=OuterRef("pk"), current=True)
    if only.since is not None:
        rows = rows.filter(submitted_at__date__gte=only.since)
    if only.until is not None:
        rows = rows.filter(submitted_at__date__lte=only.until)
    return rows


def _trusted(solutions: QuerySet[Solution], only: Only) -> QuerySet[Solution]:
    """Those that enough people labelled, and labelled alike."""
    decided = Q(gold__isnull=False) | Exists(Adjudication.objects.filter(solution=OuterRef("pk")))
    if only.min_posterior is not None:
        solutions = solutions.filter(decided | Q(consensus__posterior__gte=only.min_posterior))
    if only.min_agreement is not None:
        same = Avg(Case(When(stop=OuterRef("consensus__stop"), then=Value(1.0)), default=Value(0.0)))
        share = _speaking().annotate(share=same).values("share")
        solutions = solutions.annotate(agreeing=Subquery(share, output_field=FloatField()))
        solutions = solutions.filter(decided | Q(agreeing__gte=only.min_agreement))
    if only.min_people is not None:
        number = Subquery(_speaking().annotate(n=Count("member_id", distinct=True)).values("n"))
        solutions = solutions.annotate(n_people=number).filter(n_people__gte=only.min_people)
    return solutions


def _speaking() -> Any:
    """A solution's counted labels of people who came to an end, as one group."""
    rows = Annotation.objects.filter(solution=OuterRef("pk"), current=True, counted=True)
    ended = rows.exclude(finish_reason__in=[reason.value for reason in CENSORED])
    return ended.order_by().values("solution")


def _from_sources(sources: tuple[str, ...], labels: LabelsFrom) -> Q:
    """Where the labels that would be exported come from one of these."""
    adjudicated = Q(Exists(Adjudication.objects.filter(solution=OuterRef("pk"))))
    places = {
        LabelSource.ADJUDICATED: adjudicated,
        LabelSource.HUMAN: Q(consensus__n_annotations=1) & ~adjudicated,
        LabelSource.CONSENSUS: Q(consensus__n_annotations__gt=1) & ~adjudicated,
    }
    if labels is LabelsFrom.REFERENCE:
        places = {LabelSource.IMPORTED: Q(reference__isnull=False)}
    found = Q(gold__isnull=False) if LabelSource.GOLD in sources else Q(pk__in=[])
    for source, where in places.items():
        if source in sources:
            found |= where & Q(gold=None)
    return found
