"""How far people agree, among themselves and with gold.

`first_error`: `stops.stop_agreement` first, then step figures over steps that both reached (labels are simply
missing elsewhere) by depth, labelled "at risk". Any other judgement (steps in `all_steps`, finish reasons) goes
through `ratings` and a measure.
"""

from annotator.core.agreement.many_raters import (
    AC1,
    ALPHA,
    ALPHA_ORDINAL,
    FLEISS,
    PABAK,
    PERCENT,
    ac1_standard_error,
    brennan_prediger,
    specific,
)
from annotator.core.agreement.measures import Measure, by_group, figure, from_counts
from annotator.core.agreement.people import PersonEffect, against_the_rest
from annotator.core.agreement.ratings import STEP_LABELS, InvalidRatings, Ratings, pairs, ratings
from annotator.core.agreement.steps import NOT_JUDGED, step_ratings
from annotator.core.agreement.stops import (
    StopAgreement,
    Stops,
    beside_gold,
    judged_place,
    only,
    stop_agreement,
    stops,
)
from annotator.core.agreement.two_raters import (
    HeatMap,
    cohen,
    cohen_of_table,
    cohen_standard_error,
    heat_map,
    scott,
    scott_values,
)

__all__ = [
    "AC1",
    "ALPHA",
    "ALPHA_ORDINAL",
    "FLEISS",
    "NOT_JUDGED",
    "PABAK",
    "PERCENT",
    "STEP_LABELS",
    "HeatMap",
    "InvalidRatings",
    "Measure",
    "PersonEffect",
    "Ratings",
    "StopAgreement",
    "Stops",
    "ac1_standard_error",
    "against_the_rest",
    "beside_gold",
    "brennan_prediger",
    "by_group",
    "cohen",
    "cohen_of_table",
    "cohen_standard_error",
    "figure",
    "from_counts",
    "heat_map",
    "judged_place",
    "only",
    "pairs",
    "ratings",
    "scott",
    "scott_values",
    "specific",
    "step_ratings",
    "stop_agreement",
    "stops",
]
