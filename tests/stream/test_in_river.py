"""The learner among those of river: its checks and its streams."""

import pytest

import whynear as wn

REASON = "needs river, which does not install with the oldest packages"
base, checks, datasets = (
    pytest.importorskip(f"river.{name}", reason=REASON) for name in ("base", "checks", "datasets")
)


class InRiver(wn.SelfAdjustingMemory, base.Classifier):
    """The learner as river's checks take it."""

    @property
    def _multiclass(self):
        return True


@pytest.mark.slow
@pytest.mark.parametrize("check", [pytest.param(check, id=check.__name__) for check in checks.yield_checks(InRiver())])
def test_it_passes_the_checks_of_river(check):
    check(InRiver())


def test_river_streams_run(real_data):
    model = wn.SelfAdjustingMemory()
    right = total = 0
    for x, y in datasets.Phishing().take(300):
        right, total = right + (model.predict_one(x) == y), total + 1
        model.learn_one(x, y)
    assert right / total > 0.8
