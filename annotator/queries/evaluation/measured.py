"""A scorer's version measured on what is known: the figures, where its threshold is from, and overlap with training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotator.core.evaluation import Evaluation, evaluate
from annotator.core.intervals import Figure
from annotator.core.labels import NO_ERROR
from annotator.core.uncertainty import EVEN_ODDS, Values
from annotator.models import Project, Scorer, ScorerVersion
from annotator.queries.evaluation.known import Against, Known, has_any, known, said_by
from annotator.scorers.builtin import shipped
from annotator.scorers.builtin.fit import tune_threshold

#: So many versions stand side by side at most.
MOST_VERSIONS = 12
TUNED = "tuned on what is evaluated: optimistic"


class NoSuchScorer(ValueError):
    """The project has no such scorer, or it has no version yet; the message says which."""


@dataclass(frozen=True)
class Measured:
    """``found`` over all ``known`` solutions that the version scored; ``unseen`` over those of problems that it was
    not trained on, None where it saw none of them (or nothing else). ``unscored``: known, but without a score."""

    scorer: str
    version: str
    status: str
    measures: str
    against: Against
    threshold_from: str
    overlap: int
    unscored: int
    found: Evaluation
    unseen: Evaluation | None


def version_of(project: Project, scorer: str, version: str | None = None) -> ScorerVersion:
    """The version in force, or the one that is named. Raises NoSuchScorer."""
    one = Scorer.objects.filter(project=project, name=scorer).first()
    if one is None:
        names = ", ".join(sorted(Scorer.objects.filter(project=project).values_list("name", flat=True)))
        raise NoSuchScorer(f"The project has no scorer '{scorer}'. It has: {names or 'none'}.")
    versions = ScorerVersion.objects.filter(scorer=one).select_related("scorer")
    found = (
        versions.filter(version=version).first()
        if version is not None
        else one.champion or versions.in_force().first()
    )
    if found is None:
        missing = f"no version '{version}'" if version else "scored nothing yet; run score_solutions first"
        raise NoSuchScorer(f"The scorer '{scorer}' has {missing}.")
    return found


def usual(project: Project) -> Against:
    """What is measured against unless somebody says: the holdout, where it has labels, else what there is."""
    return next((each for each in Against if has_any(project, each)), Against.HOLDOUT)


def measured(version: ScorerVersion, against: Against, *, tuned: bool = False) -> Measured:
    """A constant number of queries. ``tuned``: with the threshold that is best on these very labels."""
    solutions = known(version.scorer.project, against)
    said = said_by([version], [each.solution for each in solutions])
    return of_known(version, against, solutions, said[version.pk], tuned=tuned)


def compared(project: Project, against: Against) -> list[Measured]:
    """The newest versions of a project's scorers, by scorer, the newest first: those that scored anything known.

    A constant number of queries.
    """
    solutions = known(project, against)
    versions = list(
        ScorerVersion.objects.filter(scorer__project=project)
        .select_related("scorer")
        .order_by("-pk")[:MOST_VERSIONS]
    )
    said = said_by(versions, [each.solution for each in solutions])
    shown = sorted((each for each in versions if said[each.pk]), key=lambda one: (one.scorer.name, -one.pk))
    return [of_known(version, against, solutions, said[version.pk]) for version in shown]


def of_known(
    version: ScorerVersion,
    against: Against,
    solutions: Sequence[Known],
    said: Mapping[int, Values],
    *,
    tuned: bool = False,
) -> Measured:
    """The same for solutions and values that were read before."""
    scored = [each for each in solutions if each.solution in said]
    threshold = version.threshold
    source = threshold_from(version)
    if tuned:
        threshold, source = _best(scored, said, threshold), TUNED
    seen = trained_on(version)
    new = [each for each in scored if each.problem_hash not in seen]
    overlap = len(scored) - len(new)
    return Measured(
        scorer=version.scorer.name,
        version=version.version,
        status=version.status,
        measures=version.measures,
        against=against,
        threshold_from=source,
        overlap=overlap,
        unscored=len(solutions) - len(scored),
        found=evaluate([each.judged(said[each.solution], threshold) for each in scored], threshold),
        unseen=evaluate([each.judged(said[each.solution], threshold) for each in new], threshold)
        if overlap and new
        else None,
    )


def trained_on(version: ScorerVersion) -> frozenset[str]:
    """Hashes of the problems that a version has learned from; empty where nobody told."""
    problems: Sequence[str] = version.training.get("problems", [])
    weights = shipped()
    if version.scorer.kind == "builtin" and (version.version == weights.version or problems):
        # What is trained here goes on from the shipped numbers.
        return frozenset(problems) | frozenset(weights.provenance.get("problem_hashes", ()))
    return frozenset(problems)


def threshold_from(version: ScorerVersion) -> str:
    """Where the threshold was set, in a few words."""
    weights = shipped()
    if version.version == weights.version:
        return str(weights.provenance.get("threshold_from", "the shipped weights"))
    if version.training:
        return str(version.training.get("threshold_from", "out-of-fold values of its training labels"))
    if version.scorer.config.get("threshold") is not None:
        return "the scorer's settings"
    return "even odds, not tuned" if version.threshold == EVEN_ODDS else "the scorer itself"


def _best(solutions: Sequence[Known], said: Mapping[int, Values], otherwise: float) -> float:
    """The threshold of the highest F1 on these; ``otherwise`` where one kind is missing."""
    rows, stops = [], []
    for each in solutions:
        values = said[each.solution]
        stop = each.judged(values, otherwise).stop
        if stop is not None and (stop == NO_ERROR or values[stop] is not None):
            rows.append([value for value in values if value is not None])
            at = sum(value is not None for value in values[:stop])
            stops.append(NO_ERROR if stop == NO_ERROR else at)
    both = NO_ERROR in stops and any(stop != NO_ERROR for stop in stops)
    return tune_threshold(rows, stops) if both else otherwise


def plain(one: Measured) -> dict[str, Any]:
    """For programs. AUC, Brier score and ECE are numbers; their intervals stand under ``intervals``."""
    unseen = None if one.unseen is None else {"solutions": one.unseen.solutions, **_figures(one.unseen)}
    return {
        "scorer": one.scorer,
        "version": one.version,
        "status": one.status,
        "measures": one.measures,
        "against": one.against.value,
        "solutions": one.found.solutions,
        "problems": one.found.problems,
        "steps": one.found.steps,
        "unscored": one.unscored,
        "overlap_with_training": one.overlap,
        "threshold": one.found.threshold,
        "threshold_from": one.threshold_from,
        **_figures(one.found),
        "without_overlap": unseen,
    }


def _figures(found: Evaluation) -> dict[str, Any]:
    f1, errors = found.processbench_f1, found.errors
    spread = {"step_auc": found.step_auc, "brier": found.brier, "ece": found.ece}
    return {
        "processbench_f1": asdict(f1),
        **{name: figure.value for name, figure in spread.items()},
        "prm_score": _figure(errors.prm_score),
        "step_precision": _figure(errors.precision),
        "step_recall": _figure(errors.recall),
        "error_detection_rate": _figure(errors.recall),
        "first_error_accuracy": _figure(found.first_error_exact),
        "first_error_within_one": _figure(found.first_error_within_one),
        "intervals": {name: _figure(figure) for name, figure in spread.items()},
        "reliability": [asdict(each) for each in found.bins],
        "best_of_n": {
            "n": found.best_of_n.n,
            **{how.value: _figure(figure) for how, figure in found.best_of_n.by.items()},
            "random": _figure(found.best_of_n.lot),
            "oracle": _figure(found.best_of_n.best),
        },
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "reason": figure.reason,
    }
