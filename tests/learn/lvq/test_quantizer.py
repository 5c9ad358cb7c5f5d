import numpy as np
import pytest

import whynear as wn
from tests.helpers.lvq import IRIS


def test_a_metric_of_another_kind_is_learned_further_or_refused():
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    local = wn.LocalMetric(model.prototypes_, weights=np.ones((3, 4)))
    others = [wn.LinearMetric(np.eye(2, 4)), wn.DiagonalMetric(np.ones(4)), local]
    for other in others:
        twin = model.with_metric(other).partial_fit(X, y)
        assert type(twin.metric_) is type(other)
        assert twin.score(X, y) > 0.8
    for learner in (model, wn.GRLVQ().fit(X, y)):
        twin = learner.with_metric(wn.LocalMetric(learner.prototypes_, weights=np.ones((3, 4))))
        for use in (twin.transform, lambda _, twin=twin: twin.get_feature_names_out()):
            with pytest.raises(TypeError, match="LocalMetric is not one map for all cases"):
                use(X)
    along = wn.GMLVQ(effective_dim=2).fit(X, y)
    for other in (wn.DiagonalMetric(np.ones(4)), wn.LocalMetric(along.prototypes_, weights=np.ones((3, 4)))):
        with pytest.raises(TypeError, match=r"weighs columns, and the learner learns along 2 directions"):
            along.with_metric(other).partial_fit(X, y)
