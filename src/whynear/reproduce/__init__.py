"""The tables and figures of the papers: the published values as data, and the code that computes ours."""

from typing import TYPE_CHECKING

from whynear.utils.lazy import make_lazy

__all__ = make_lazy(
    __name__,
    {
        "whynear.reproduce.catalog": ("EXPERIMENTS", "names_of"),
        "whynear.reproduce.flow": ("reproduce",),
        "whynear.reproduce.outcome": ("Line", "Outcome"),
    },
    submodules=("wording",),
)

if TYPE_CHECKING:
    from whynear.reproduce import wording as wording
    from whynear.reproduce.catalog import EXPERIMENTS as EXPERIMENTS
    from whynear.reproduce.catalog import names_of as names_of
    from whynear.reproduce.flow import reproduce as reproduce
    from whynear.reproduce.outcome import Line as Line
    from whynear.reproduce.outcome import Outcome as Outcome
