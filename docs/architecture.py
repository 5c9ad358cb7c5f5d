"""Draw the folders of the library from its import contract and its imports: ``python -m docs.architecture``."""

import ast
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
DRAWING = HERE / "architecture.svg"

# The types that data flow through, each with the class or function of the core that it is.
TYPES = {
    "Settings": "StudySettings",
    "Problem": "Problem",
    "Model": "FittedPipeline",
    "Metric": "Metric",
    "Evidence": "Verdicts",
    "Study": "Study",
    "page": "render",
}

WIDTH, LEFT, GAP, PAD = 1200, 24, 12, 8
LINE, LETTER = 14, 5.9  # of the small text: height of a line, mean width of a letter
COLOURS = {"command line": "#fbe9d0", "doors": "#f3e6f5", "wings": "#dcebf7", "core": "#e4f1e1"}


@dataclass(frozen=True)
class Library:
    """The folders of the import contract, from top to bottom, and what they import.

    Attributes
    ----------
    layers : list of list of str
        The folders, without the name of the library, by the lines of the contract.
    imports : dict of str to set of str
        The folders that each folder imports.
    about : dict of str to str
        The first line of the docstring of each folder.
    places : dict of str to list of str
        The modules that define a class or function of the outermost level, by its name.
    """

    layers: list[list[str]]
    imports: dict[str, set[str]]
    about: dict[str, str]
    places: dict[str, list[str]]

    def below(self, folders: set[str]) -> set[str]:
        """Return these folders and all that they import, also through others."""
        found, new = set(folders), set(folders)
        while new:
            new = {used for folder in new for used in self.imports[folder]} - found
            found |= new
        return found

    def folder_of(self, module: str) -> str | None:
        """Return the folder of the contract that holds a module; the longest name fits."""
        known = [name for layer in self.layers for name in layer if f"{module}.".startswith(f"{name}.")]
        return max(known, key=len, default=None)

    def place_of(self, kind: str) -> str:
        """Return the only module of the core that defines one of `TYPES`."""
        found = [place for place in self.places.get(TYPES[kind], []) if self.folder_of(place) in self.core()]
        if len(found) != 1:
            raise LookupError(f"{TYPES[kind]!r}, the {kind} of docs/architecture.py, is in {found or 'no module'}.")
        return found[0]

    def core(self) -> set[str]:
        """Return the folders of the layer that makes the page, and of all below it."""
        return {name for layer in self.layers[self._first_of_core() :] for name in layer}

    def _first_of_core(self) -> int:
        ends = {self.folder_of(place) for kind in ("Study", "page") for place in self.places[TYPES[kind]]}
        return next(number for number, layer in enumerate(self.layers) if ends & set(layer))

    def storeys(self) -> dict[str, list[list[str]]]:
        """Return the rows of each storey: the commands, public doors, the wings beside each other, and the core."""
        first = self._first_of_core()
        storeys = {
            "command line": self.layers[:1],
            "doors": self.layers[1 : first - 1],
            "wings": self.layers[max(1, first - 1) : first],
            "core": self.layers[first:],
        }
        return {name: rows for name, rows in storeys.items() if rows}

    def direct_imports(self, folder: str) -> list[str]:
        """Return the folders that a folder imports, without those below another one of them, from top to bottom."""
        used = self.imports[folder]
        return [name for layer in self.layers for name in layer if name in used - self.below(used - {name})]


def library(root: Path) -> Library:
    """Read the contract in ``pyproject.toml`` and the modules in ``src`` of a copy of the repository."""
    tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    name, source = tool["root_package"], root / "src" / tool["root_package"]
    contract = next(contract for contract in tool["contracts"] if contract["type"] == "layers")
    layers = [
        [part.strip(" ()").removeprefix(f"{name}.") for part in layer.replace(":", "|").split("|")]
        for layer in contract["layers"]
    ]
    folders = [folder for layer in layers for folder in layer]
    trees = {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix("__init__").strip("."): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in sorted(source.rglob("*.py"))
    }
    read = Library(layers, {folder: set() for folder in folders}, {}, {})
    public = dict(_names(trees[""], name, {}))
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                read.places.setdefault(node.name, []).append(module)
        if (folder := read.folder_of(module)) is not None:
            used = {read.folder_of(origin) for _, origin in _names(tree, name, public)}
            read.imports[folder] |= used - {folder, None}
    for folder in folders:
        read.about[folder] = (ast.get_docstring(trees[folder]) or "").partition("\n")[0]
    return read


def _names(tree: ast.Module, library: str, public: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a module takes from the library: names, and the modules that they come from."""
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == library:
            origin = node.module.partition(".")[2]
            yield from ((alias.name, origin or public.get(alias.name, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.startswith(f"{library}."):
                    yield name.name, name.name.partition(".")[2]
                elif name.name == library:
                    roots.add(name.asname or name.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in roots:
            yield node.attr, public.get(node.attr, node.attr)


def drawing(read: Library) -> str:
    """Return the drawing as SVG: the types on top, and the storeys below, with what each folder is and imports."""
    y = 100.0
    shapes = [*_flow(read, 24.0)]
    for storey, rows in read.storeys().items():
        boxes, bottom = [], y + 28
        for row in rows:
            drawn, height = _row(read, row, bottom, COLOURS[storey])
            boxes += drawn
            bottom += height + GAP
        shapes.append(_rect(8, y, WIDTH - 16, bottom - y, "#ffffff", COLOURS[storey], 'rx="5" stroke-width="3"'))
        shapes += [_text(LEFT, y + 19, storey, 'class="storey"'), *boxes]
        y = bottom + GAP
    legend = "Imports lead down only. \u2193: what a folder imports, without what it also gets through these folders."
    return "\n".join([_head(y + 24), *shapes, _text(LEFT, y + 8, legend), "</svg>"]) + "\n"


def _flow(read: Library, y: float) -> Iterator[str]:
    """Yield the types from left to right, each with the module that defines it."""
    step = (WIDTH - 2 * LEFT + 30) / len(TYPES)
    width = step - 30
    for number, kind in enumerate(TYPES):
        x = LEFT + step * number
        yield _rect(x, y, width, 44, "#ffffff", "#5c6670", 'rx="22"')
        yield _text(x + width / 2, y + 19, kind, 'class="name" text-anchor="middle"')
        yield _text(x + width / 2, y + 34, read.place_of(kind), 'text-anchor="middle"')
        if number:
            yield f'<path class="flow" d="M{x - 28:.1f} {y + 22:.1f}H{x - 5:.1f}"/>'


def _row(read: Library, names: list[str], y: float, colour: str) -> tuple[list[str], float]:
    """Return the boxes of folders beside each other, and their height, which is that of the longest text."""
    width = (WIDTH - 2 * LEFT - GAP * (len(names) - 1)) / len(names)
    letters = int((width - 2 * PAD) / LETTER)
    about = [textwrap.wrap(read.about[name], letters) for name in names]
    used = [textwrap.wrap(", ".join(read.direct_imports(name)), letters, initial_indent="\u2193 ") for name in names]
    height = 32 + LINE * max(len(text) + len(below) for text, below in zip(about, used, strict=True))
    shapes = []
    for number, name in enumerate(names):
        x = LEFT + (width + GAP) * number
        shapes += [_rect(x, y, width, height, colour, "#5c6670"), _text(x + PAD, y + 19, name, 'class="name"')]
        held = ", ".join(kind for kind in TYPES if read.folder_of(read.place_of(kind)) == name)
        shapes.append(_text(x + width - PAD, y + 19, held, 'class="type" text-anchor="end"'))
        lines = [*((line, "") for line in about[number]), *((line, 'class="used"') for line in used[number])]
        shapes += [_text(x + PAD, y + 36 + LINE * place, line, more) for place, (line, more) in enumerate(lines)]
    return shapes, height


def _rect(x: float, y: float, width: float, height: float, fill: str, stroke: str, more: str = 'rx="5"') -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}" {more}/>'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(text, quote=False)}</text>'


def _head(height: float) -> str:
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img">
<style>
text {{font: 11px "DejaVu Sans", Verdana, sans-serif; fill: #1f2933}}
.name {{font-size: 14px; font-weight: bold}}
.storey {{font-size: 13px; fill: #5c6670}}
.used {{fill: #5c6670}}
.type {{font-style: italic}}
.flow {{fill: none; stroke: #5c6670; stroke-width: 2; marker-end: url(#end)}}
</style>
<marker id="end" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6">
<path d="M0 0L6 3L0 6z" fill="#5c6670"/>
</marker>
<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>"""


def main() -> None:
    """Draw the library of this repository."""
    DRAWING.write_text(drawing(library(HERE.parent)), encoding="utf-8")


if __name__ == "__main__":
    main()
