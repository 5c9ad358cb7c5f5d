"""The page of a study inside another page, such as a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import escape

from whynear.utils.checks import whole


@dataclass(frozen=True)
class PageFrame:
    """The report of a study in a frame, which a notebook shows.

    The frame is a sandbox: what runs in it reaches neither the notebook nor a network.

    Attributes
    ----------
    page : str
        The report.
    title : str
        What the frame is called, for readers who do not see it.
    height : int
        The height of the frame in pixels.
    """

    page: str = field(repr=False)
    title: str
    height: int = 900

    def __post_init__(self) -> None:
        whole("height", self.height, 1)

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0" srcdoc="{escape(self.page)}"></iframe>'
        )
