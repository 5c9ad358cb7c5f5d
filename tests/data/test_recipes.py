import pytest

from tests.helpers.gasoline import gasoline
from whynear.data.spectra import recipe_name, recipes
from whynear.spectra import SavitzkyGolay


def test_recipes_are_named_and_the_first_changes_nothing():
    made = recipes([f"{n}nm" for n in range(100)])
    assert [recipe_name(steps) for steps in made] == [
        "none", "smoothing", "baseline", "SNV", "first derivative", "second derivative", "SNV and first derivative"
    ]  # fmt: skip
    assert made[0] == ()
    assert recipe_name([SavitzkyGolay(order=3, derivative=3)]) == "derivative 3"


@pytest.mark.parametrize(("n_channels", "window"), [(5, 5), (100, 5), (401, 13), (3000, 25)])
def test_windows_grow_with_the_axis(n_channels, window):
    assert recipes([str(n) for n in range(n_channels)])[1][0].window == window


def test_every_recipe_takes_and_returns_a_table():
    table = gasoline(10).assign(temperature=20.0)
    channels = [name for name in table if name.endswith("nm")]
    for steps in recipes(channels):
        made = table
        for step in steps:
            made = step.fit_transform(made)
        assert list(made) == list(table)
        assert (made["temperature"] == 20.0).all()
