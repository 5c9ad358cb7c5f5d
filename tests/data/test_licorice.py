import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from whynear.datasets import make_licorice


def in_cylinder(data):
    """Place along its cylinder's axis, and the vector across it, of every point."""
    from_center = data.X.to_numpy() - data.centers[data.cylinder]
    axis = data.axes[data.cylinder]
    along = (from_center * axis).sum(axis=1)
    return along, from_center - along[:, None] * axis


@pytest.mark.parametrize("n", [10, 53, 1000])
def test_cylinders_and_classes_are_balanced(n):
    data = make_licorice(n, random_state=0)
    sizes = np.bincount(2 * data.cylinder + data.y, minlength=10)
    assert sizes.max() - sizes.min() <= 1
    assert data.target_names == ["inside", "outside"]


def test_the_class_is_the_distance_from_the_axis():
    data = make_licorice(2000, random_state=1)
    along, across = in_cylinder(data)
    radius = np.linalg.norm(across, axis=1)
    assert (np.abs(along) <= data.half_length).all()
    assert_array_equal(data.y == 0, radius <= data.core_radius + 1e-12)
    shell = radius[data.y == 1]
    assert shell.min() >= data.shell_radii[0] - 1e-12
    assert shell.max() <= data.shell_radii[1] + 1e-12


def test_directions_are_units_and_all_different():
    axes = make_licorice(10, random_state=0).axes
    cosines = np.abs(axes @ axes.T)
    assert_allclose(np.diag(cosines), 1)
    assert cosines[~np.eye(5, dtype=bool)].max() < 0.9


def test_cylinders_do_not_overlap():
    data = make_licorice(5000, random_state=2)
    reach = np.hypot(data.half_length, data.shell_radii[1])
    gaps = np.linalg.norm(data.centers[:, None] - data.centers, axis=2)[~np.eye(5, dtype=bool)]
    assert gaps.min() > 2 * reach
    nearest_center = np.linalg.norm(data.X.to_numpy()[:, None] - data.centers, axis=2).argmin(axis=1)
    assert_array_equal(nearest_center, data.cylinder)


def test_looking_across_the_axes_beats_one_metric_for_all():
    data = make_licorice(1000, random_state=3)
    _, across = in_cylinder(data)
    knn = KNeighborsClassifier(5, weights="distance")
    plain = cross_val_score(knn, data.X, data.y, cv=5).mean()
    local = cross_val_score(knn, data.centers[data.cylinder] + across, data.y, cv=5).mean()
    assert local > 0.97
    assert plain < 0.9
