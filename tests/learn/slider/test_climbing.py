import whynear as wn
from tests.helpers.slider import rows


def test_threads_do_not_change_the_result():
    X, y = rows()
    one, two = (wn.Slider(random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.metric_ == two.metric_
    assert one.loss_curve_ == two.loss_curve_


def test_more_starts_never_rank_worse():
    X, y = rows()
    few, many = (wn.Slider(random_state=0, n_restarts=n).fit(X, y) for n in (1, 2))
    assert many.mean_rank_ <= few.mean_rank_
    assert many.uniform_rank_ == few.uniform_rank_
