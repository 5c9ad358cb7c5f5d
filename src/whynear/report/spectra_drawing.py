"""The figure of spectra: mean spectra with their bands, and the weights of the channels. It computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from whynear.utils.axes import CLASS_COLORS, short_name, tidy
from whynear.verdict.rules import INDISPENSABLE, REPLACEABLE
from whynear.verdict.verdicts import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from whynear.study.spectra import Spectra
    from whynear.verdict import Verdicts

SHADED = {INDISPENSABLE: "..", REPLACEABLE: "//"}  # hatches, for grey print
LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))  # of the classes, for grey print
UP_COLOUR, DOWN_COLOUR = "#1f5f8b", "#e08a1e"


def draw_spectrum(spectra: Spectra, verdicts: Verdicts, figure: Figure) -> None:
    """Draw mean spectra over the axis, bands shaded by verdict, and the weights of the channels below."""
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    _shade_bands(spectra, verdicts, (top, bottom))
    positions = spectra.axis.positions
    for (label, values), colour, line in zip(spectra.means.items(), CLASS_COLORS, LINES, strict=False):
        top.plot(positions, values, color=colour, linestyle=line, linewidth=1.6, label=short_name(str(label)))
    if len(spectra.means.columns) > 1:
        for text in top.legend(frameon=False, fontsize="small", loc="upper right").get_texts():
            text.set_parse_math(False)
    top.set_ylabel("mean spectrum")
    weights = spectra.weights.tolist()
    up, down = [max(weight, 0.0) for weight in weights], [min(weight, 0.0) for weight in weights]
    for colour, hatch, part in ((UP_COLOUR, "", up), (DOWN_COLOUR, "//", down)):
        if any(part):
            look = {"facecolor": colour, "edgecolor": "w" if hatch else colour, "linewidth": 0.0}
            bottom.fill_between(positions, part, step="mid", hatch=hatch, **look)
    bottom.axhline(0.0, color="0.5", linewidth=0.8)
    bottom.set_ylabel("signed weight" if spectra.upwards else "weight")
    bottom.set_xlabel(spectra.axis.label)
    for ax in (top, bottom):
        tidy(ax, "y")
    top.set_xlim(positions[0], positions[-1])


def _shade_bands(spectra: Spectra, verdicts: Verdicts, axes: tuple[Axes, Axes]) -> None:
    """Draw the edges of all bands, shade those that carry information, and mark those of the smallest set."""
    words = dict(zip(verdicts.feature_names, verdicts.verdict, strict=True))
    edges = spectra.axis.edges
    shown = set()
    for name, (first, last) in zip(spectra.bands.names, spectra.bands.ranges, strict=True):
        ends, word = (float(edges[first]), float(edges[last + 1])), str(words[name])
        for ax in axes:
            ax.axvline(ends[1], color="0.8", linewidth=0.6, zorder=0)
            if word in SHADED:
                shown.add(word)
                ax.axvspan(*ends, facecolor=STYLES[word]["color"], alpha=0.2, linewidth=0, zorder=0)
                ax.axvspan(*ends, facecolor="none", edgecolor=STYLES[word]["color"], alpha=0.35, hatch=SHADED[word],
                           linewidth=0, zorder=0)  # fmt: skip
        if name in verdicts.sets.best and len(verdicts.sets.best) < len(verdicts.feature_names):
            axes[0].plot(ends, [1.02, 1.02], color="k", linewidth=4, solid_capstyle="butt", clip_on=False,
                         transform=axes[0].get_xaxis_transform())  # fmt: skip
    handles = [
        Patch(facecolor=STYLES[word]["color"], alpha=0.35, hatch=hatch, label=word)
        for word, hatch in SHADED.items()
        if word in shown
    ]
    if handles:
        figure = axes[0].get_figure()
        assert figure is not None, "axes are made with a figure"
        figure.legend(handles=handles, frameon=False, fontsize="small", loc="outside upper left", ncols=3)
