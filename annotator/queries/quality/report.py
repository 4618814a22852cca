"""The whole report, from one load of the project's annotations."""

from __future__ import annotations

from annotator.core.agreement import stop_agreement
from annotator.core.labels import Mode
from annotator.models import Project
from annotator.queries.quality import crew, gold, headline
from annotator.queries.quality.choosing import choose, in_sample, independent
from annotator.queries.quality.shapes import Report
from annotator.queries.quality.tables import load
from annotator.queries.quality.truth import truth
from annotator.queries.standings import records, rule_of


def build(project: Project) -> Report:
    """Compute the quality report. A constant number of queries."""
    tables = load(project)
    own = independent(tables, project)
    sampled = in_sample(tables)
    everything = choose(tables, own & sampled)
    chosen, these = headline.agreement_of(tables, own & sampled)
    crowd, crowd_stops = headline.agreement_of(tables, own)
    checks, rule, items = records(project), rule_of(project), gold.gold_items(project)
    return Report(
        mode=project.mode,
        sample=headline.sample(tables, own & sampled, these),
        stop=stop_agreement(these),
        steps=headline.steps(tables, everything),
        finish=headline.finish(tables, everything),
        groups=headline.groups(tables, chosen, project),
        gold=gold.against_gold(tables, items),
        truth=truth(tables, project, own, sampled),
        people=crew.people(tables, project, checks, rule, crowd, crowd_stops),
        heat=crew.heat(crowd_stops, crowd, project),
        confusion=gold.taken_for(tables, items, until_first_error=project.mode == Mode.FIRST_ERROR),
        gold_health=gold.health(project, items, checks),
        threshold=rule.threshold,
    )
