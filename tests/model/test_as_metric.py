import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from tests.helpers.learners import Holder
from tests.helpers.strategies import cases, metrics

import whynear as wn
from whynear import DiagonalMetric, LinearMetric, LocalMetric, as_metric
from whynear.model.as_metric import metric_of_table
from whynear.spectra import Baseline, SavitzkyGolay, StandardNormalVariate
from whynear.testing import check_metric

X, y = load_iris(return_X_y=True, as_frame=True)
NAMES = tuple(X.columns)


def euclidean(Z):
    Z = np.asarray(Z)
    return ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)


TRANSFORMERS = [
    NeighborhoodComponentsAnalysis(n_components=2, max_iter=5, random_state=0),
    PCA(2),
    PCA(3, whiten=True),
    IncrementalPCA(2),
    TruncatedSVD(2, random_state=0),
    FastICA(2, random_state=0),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen", n_components=1),
    PLSRegression(2),
    PLSCanonical(1),
    CCA(1),
    PLSRegression(2, scale=False),
    FunctionTransformer(),
    GaussianRandomProjection(2, random_state=0),
    SparseRandomProjection(2, random_state=0, density=0.9),
    StandardScaler(),
    StandardScaler(with_mean=False, with_std=False),
    MinMaxScaler((-1, 3)),
    MaxAbsScaler(),
    RobustScaler(),
    SelectKBest(k=2),
]


@pytest.mark.parametrize("step", TRANSFORMERS, ids=lambda step: type(step).__name__)
@pytest.mark.parametrize("scaler", ["passthrough", StandardScaler(), RobustScaler()], ids=["raw", "z", "robust"])
def test_distances_equal_distances_after_the_transformer(step, scaler):
    pipeline = make_pipeline(scaler, step).fit(X, y)
    metric = as_metric(pipeline)
    expected = euclidean(pipeline.transform(X))
    assert_allclose(metric.sq_distances(X), expected, rtol=1e-8, atol=1e-10 * expected.max())
    assert metric.feature_names == NAMES
    check_metric(metric, X)


def test_a_scaler_is_folded_in_and_kept():
    pipeline = make_pipeline(StandardScaler(), PCA(2)).fit(X)
    metric = as_metric(pipeline)
    assert_allclose(metric.scale, pipeline[0].scale_)
    assert_allclose(metric.as_learned().omega, pipeline[-1].components_)
    assert_allclose(metric.omega, pipeline[-1].components_ / pipeline[0].scale_)


def test_a_column_that_was_left_out_has_no_relevance_and_an_infinite_scale():
    table = X.assign(constant=7.0)
    pipeline = make_pipeline(VarianceThreshold(), StandardScaler(), PCA(2)).fit(table)
    metric = as_metric(pipeline)
    assert metric.relevances()[-1] == 0
    assert np.isinf(metric.scale[-1])
    assert np.isfinite(metric.scale[:-1]).all()
    assert_allclose(metric.sq_distances(table), euclidean(pipeline.transform(table)), rtol=1e-8, atol=1e-10)


def test_the_scale_is_that_before_the_first_mixing_step():
    pipeline = make_pipeline(MaxAbsScaler(), StandardScaler(), PCA(3), StandardScaler(), PCA(2)).fit(X)
    metric = as_metric(pipeline)
    assert_allclose(metric.scale, pipeline[0].scale_ * pipeline[1].scale_)
    assert_allclose(metric.sq_distances(X), euclidean(pipeline.transform(X)), rtol=1e-8, atol=1e-10)


def test_a_diagonal_metric_stays_diagonal_behind_a_scaler():
    weights = np.array([1.0, 0.0, 2.0, 3.0])
    pipeline = make_pipeline(StandardScaler(), Holder(DiagonalMetric(weights))).fit(X)
    metric = as_metric(pipeline)
    assert isinstance(metric, DiagonalMetric)
    assert_allclose(metric.as_learned().weights, weights)


@given(metrics(st.just(4)), cases(4, st.integers(2, 6)))
def test_a_learned_metric_behind_a_pipeline_measures_what_the_learner_measures(metric, table):
    for steps in ([StandardScaler()], [MinMaxScaler()], [RobustScaler(), StandardScaler()]):
        pipeline = make_pipeline(*steps, Holder(metric)).fit(table)
        expected = metric.sq_distances(pipeline[:-1].transform(table))
        got = as_metric(pipeline).sq_distances(table)
        # A standardised column of offset o and deviation s carries a rounding error of o / s.
        spread = np.abs(table).max() / max(table.std(axis=0)[table.std(axis=0) > 0].min(initial=np.inf), 1e-12)
        assert_allclose(got, expected, rtol=1e-6, atol=1e-13 * (1 + min(spread, 1e6)) ** 2 * (1 + expected.max()))


@pytest.mark.parametrize("kind", ["weights", "omegas"])
def test_a_local_metric_behind_principal_components_keeps_its_distances(kind):
    pca = PCA(2).fit(X)
    Z = pca.transform(X)
    rng = np.random.default_rng(8)
    maps = rng.exponential(size=(5, 2)) if kind == "weights" else rng.standard_normal((5, 1, 2))
    local = LocalMetric(Z[:5], **{kind: maps})
    metric = as_metric(make_pipeline(StandardScaler(with_std=False), PCA(2), Holder(local)).fit(X))
    assert_allclose(metric.sq_distances(X), local.sq_distances(Z), rtol=1e-7, atol=1e-9)
    assert metric.feature_names == NAMES


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_a_complete_table_passes_an_imputer_unchanged_and_empty_columns_are_left_out():
    table = X.assign(empty=np.nan)[["empty", *NAMES]]
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), PCA(2)).fit(table)
    metric = as_metric(pipeline)
    assert metric.relevances()[0] == 0
    filled = table.fillna(0.0)
    assert_allclose(metric.sq_distances(filled), euclidean(pipeline.transform(table)), rtol=1e-8, atol=1e-10)


def test_a_nearest_neighbour_classifier_at_the_end_measures_by_euclid():
    nca = NeighborhoodComponentsAnalysis(n_components=2, max_iter=3, random_state=0)
    pipeline = make_pipeline(StandardScaler(), nca, KNeighborsClassifier()).fit(X, y)
    assert as_metric(pipeline) == as_metric(pipeline[:-1])
    with pytest.raises(TypeError, match="manhattan"):
        as_metric(make_pipeline(StandardScaler(), KNeighborsClassifier(p=1)).fit(X, y))


def test_arrays_and_values():
    assert as_metric([[1.0, 2.0]], ["a", "b"]) == LinearMetric([[1.0, 2.0]], ["a", "b"])
    assert as_metric([1.0, 2.0]) == DiagonalMetric([1.0, 2.0])
    metric = LinearMetric([[1.0]])
    assert as_metric(metric) is metric
    assert as_metric(Holder(metric).fit(None)) == metric


def test_names_come_from_the_table_or_are_made_up():
    assert as_metric(PCA(1).fit(X)).feature_names == NAMES
    assert as_metric(PCA(1).fit(X.to_numpy())).feature_names == ("x0", "x1", "x2", "x3")
    assert as_metric(PCA(1).fit(X.to_numpy()), NAMES).feature_names == NAMES
    pandas_inside = Pipeline([("z", StandardScaler()), ("pca", PCA(1))]).set_output(transform="pandas").fit(X)
    assert as_metric(pandas_inside).feature_names == NAMES


def test_an_unfitted_learner_is_refused():
    with pytest.raises(NotFittedError):
        as_metric(PCA())
    with pytest.raises(TypeError, match="metric_ of Holder must be a metric value"):
        as_metric(Holder("euclidean").fit(pd.DataFrame()))


def test_whitened_components_of_fewer_rows_than_columns():
    wide = np.random.default_rng(0).standard_normal((20, 50))
    wide[:, 7] = 3.0
    with pytest.raises(ValueError, match=r"1 direction in which the data do not vary .* n_components=19"):
        as_metric(PCA(whiten=True).fit(wide))
    pca = PCA(19, whiten=True).fit(wide)
    assert_allclose(as_metric(pca).sq_distances(wide), euclidean(pca.transform(wide)), rtol=1e-8, atol=1e-9)


def test_nested_pipelines_and_searches_have_the_metric_of_their_steps():
    inner = make_pipeline(StandardScaler(), make_pipeline(PCA(3), "passthrough"))
    pipeline = make_pipeline(inner, NeighborhoodComponentsAnalysis(2, max_iter=3, random_state=0)).fit(X, y)
    expected = euclidean(pipeline.transform(X))
    assert_allclose(as_metric(pipeline).sq_distances(X), expected, rtol=1e-8, atol=1e-10)
    search = GridSearchCV(make_pipeline(PCA(), KNeighborsClassifier()), {"pca__n_components": [2]}).fit(X, y)
    assert as_metric(search) == as_metric(search.best_estimator_)
    with pytest.raises(TypeError, match="'passthrough' steps alone"):
        as_metric(Pipeline([("a", "passthrough")]).fit(X))


def test_names_given_must_not_contradict_those_known():
    assert as_metric(DiagonalMetric([1.0, 2.0]), ["a", "b"]).feature_names == ("a", "b")
    assert as_metric(pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])).feature_names == ("a", "b")
    with pytest.raises(ValueError, match="feature_names has the columns in another order"):
        as_metric(PCA(1).fit(X), NAMES[::-1])


def test_what_holds_no_metric_is_refused_by_what_it_is():
    with pytest.raises(TypeError, match="got the class PCA"):
        as_metric(PCA)
    with pytest.raises(TypeError, match="sparse"):
        as_metric(csr_array(np.eye(2)))


SMOOTH = np.cumsum(np.random.default_rng(0).standard_normal((40, 12)), axis=1)


@pytest.mark.parametrize("steps", [(SavitzkyGolay(5, 2, 1),), (Baseline(1), SavitzkyGolay(5))], ids=str)
@pytest.mark.parametrize("learner", [wn.GRLVQ(random_state=0), wn.GMLVQ(random_state=0)], ids=str)
def test_linear_preprocessing_becomes_a_part_of_the_metric_of_the_table(steps, learner):
    model = make_pipeline(*steps, StandardScaler(), learner).fit(SMOOTH, np.arange(40) % 2)
    preprocessed = model[: len(steps)].transform(SMOOTH)
    of_table = metric_of_table(model, as_metric(model))
    expected = as_metric(model).sq_distances(preprocessed)
    assert_allclose(of_table.sq_distances(SMOOTH), expected, rtol=1e-6, atol=1e-8)


def test_preprocessing_that_is_not_linear_leaves_no_metric_of_the_table():
    model = make_pipeline(StandardNormalVariate(), wn.GRLVQ(random_state=0)).fit(SMOOTH, np.arange(40) % 2)
    with pytest.raises(TypeError, match="StandardNormalVariate divides each row by its own deviation"):
        metric_of_table(model, as_metric(model))


def test_without_preprocessing_the_metric_of_the_table_is_the_metric():
    model = make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)).fit(SMOOTH, np.arange(40) % 2)
    assert metric_of_table(model, as_metric(model)) == as_metric(model)
    assert metric_of_table(as_metric(model), as_metric(model)) == as_metric(model)


def test_linear_preprocessing_behind_other_steps_is_composed():
    model = make_pipeline(StandardScaler(), SavitzkyGolay(5), wn.GMLVQ(random_state=0)).fit(SMOOTH, np.arange(40) % 2)
    seen = model[:2].transform(SMOOTH)
    assert_allclose(as_metric(model).sq_distances(SMOOTH), model[-1].metric_.sq_distances(seen), rtol=1e-6, atol=1e-8)
