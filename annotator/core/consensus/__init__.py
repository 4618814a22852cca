"""What several people's labels of one solution say together.

`plurality` is the simple method. `fit_stop_rates` and `stop_posteriors` weigh people in `first_error`, `dawid_skene`
in `all_steps`; their posteriors weigh nothing until `recalibrate` has compared them with adjudicated audit items.
"""

from annotator.core.consensus.dawid_skene import DawidSkene, dawid_skene
from annotator.core.consensus.noise import noise_by_adjudication, noise_by_reannotation
from annotator.core.consensus.plurality import Agreed, plurality, rebuild
from annotator.core.consensus.recalibration import Recalibration, recalibrate
from annotator.core.consensus.stop_model import StopPosteriors, StopRates, fit_stop_rates, stop_posteriors

__all__ = [
    "Agreed",
    "DawidSkene",
    "Recalibration",
    "StopPosteriors",
    "StopRates",
    "dawid_skene",
    "fit_stop_rates",
    "noise_by_adjudication",
    "noise_by_reannotation",
    "plurality",
    "rebuild",
    "recalibrate",
    "stop_posteriors",
]
