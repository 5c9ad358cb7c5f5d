"""What the docstrings of the learners of vector quantization say alike."""

from collections.abc import Callable
from typing import TypeVar

Learner = TypeVar("Learner", bound=type)

PARAMETERS = """\
squashing : {"identity", "sigmoid", "swish"}, default="sigmoid"
        The function of the relative distance that is summed: itself, 1 / (1 + exp(-sigma mu)), or
        mu / (1 + exp(-sigma mu)).
    sigma : float, default=5.0
        Its steepness; a steep one is approached from a gentle one. A large one with ``"sigmoid"`` counts errors
        (Strickert et al. use 50). ``"swish"`` cares little about cases that are predicted right: often a little more
        accurate, with more weight on useless features.
    prototype_init : {"auto", "means", "kmeans"}, default="auto"
        Where prototypes start: at the mean of their class, or at cluster centres, which ``"auto"`` takes for classes
        with several.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        All cases in every iteration, or passes in random batches for very many cases.
    max_iter : int, default=1000
        Most iterations of L-BFGS, or passes over the cases.
    tol : float, default=1e-6
        Learning ends when an iteration lowers the loss by less than this share of it.
    batch_size : int, default=256
        Cases per step of ``"adam"`` and of `partial_fit`.
    learning_rate : float, default=0.01
        Step size of ``"adam"`` and of `partial_fit`.
    verbose : bool, default=False
        Whether to print the loss after every iteration.
    callback : callable, default=None
        Called after every iteration with a step that has ``n_iter`` and ``loss``; what it raises ends the fit.
    random_state : int or RandomState, default=None
        Seed of random starts and batches."""

ATTRIBUTES = """\
prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Their classes.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    certainty_ : float
        The factor between relative distances and the exponents of the probabilities.
    loss_curve_ : list of float
        The loss after every iteration, under the squashing of that iteration.
    n_iter_ : int
        Number of iterations."""


def documented(**texts: str) -> Callable[[Learner], Learner]:
    """Fill in what the docstrings of several learners say alike."""

    def fill(learner: Learner) -> Learner:
        doc = learner.__doc__ or ""
        for name, text in {"parameters": PARAMETERS, "attributes": ATTRIBUTES, **texts}.items():
            doc = doc.replace(f"{{{name}}}", text)
        learner.__doc__ = doc
        return learner

    return fill
