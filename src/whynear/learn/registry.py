"""The learners by the names that commands and studies call them."""

from typing import Any

from whynear.learn.feature_weights import DIET, BackwardElimination, ForwardSelection, LPWeights
from whynear.learn.gmlvq import GMLVQ, LGMLVQ
from whynear.learn.grlvq import GRLVQ, LGRLVQ
from whynear.learn.lann import LANN
from whynear.learn.lmnn import LMNN
from whynear.learn.slider import Slider

KINDS = (GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LMNN, LANN, Slider, DIET, ForwardSelection, BackwardElimination, LPWeights)
LEARNERS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in KINDS}
