"""How good a scorer is, against human labels.

A figure that is not defined is None with a reason (``no_data``, ``single_category``), never NaN. Intervals resample
problems, since steps of one solution and solutions of one problem resemble each other. A neutral step is no error.
"""

from annotator.core.evaluation.best_of_n import BestOfN, best_of_n
from annotator.core.evaluation.report import Evaluation, Judged, evaluate
from annotator.core.evaluation.steps import (
    ECE_BINS,
    Bin,
    StepErrors,
    auc,
    brier,
    ece,
    known_steps,
    reliability,
    step_errors,
    steps_at_risk,
    truth_of_stop,
)
from annotator.core.evaluation.stops import (
    ProcessBenchF1,
    error_class_f1,
    f1_of_sums,
    f1_rows,
    first_error_accuracy,
    processbench_f1,
)

__all__ = [
    "ECE_BINS",
    "BestOfN",
    "Bin",
    "Evaluation",
    "Judged",
    "ProcessBenchF1",
    "StepErrors",
    "auc",
    "best_of_n",
    "brier",
    "ece",
    "error_class_f1",
    "evaluate",
    "f1_of_sums",
    "f1_rows",
    "first_error_accuracy",
    "known_steps",
    "processbench_f1",
    "reliability",
    "step_errors",
    "steps_at_risk",
    "truth_of_stop",
]
