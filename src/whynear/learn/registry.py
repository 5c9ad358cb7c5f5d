"""The learners by the names that commands and studies call them."""

from typing import Any

from whynear.learn.lann.estimator import LANN
from whynear.learn.lmnn.estimator import LMNN
from whynear.learn.lvq.gmlvq import GMLVQ, LGMLVQ
from whynear.learn.lvq.grlvq import GRLVQ, LGRLVQ
from whynear.learn.slider.estimator import Slider
from whynear.learn.slider.rivals import DIET, BackwardElimination, ForwardSelection, LPWeights

KINDS = (GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LMNN, LANN, Slider, DIET, ForwardSelection, BackwardElimination, LPWeights)
LEARNERS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in KINDS}
