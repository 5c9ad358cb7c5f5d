"""The size of the library, compared with ``tests/budget.toml``: ``python -m tests.budget``, the end of ``make check``.

Nothing may grow unless the file is changed in the same commit; ``python -m tests.budget --write`` changes it.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.walk import REPEATED, walked

ROOT = Path(__file__).parents[1]
BUDGET = Path(__file__).with_suffix(".toml")
WINGS = ("studio", "stream", "cases", "large", "distributed")  # folders that the rest does not know
MOST_PARAMETERS = 12
Trees = Mapping[str, ast.Module]
HEADER = """\
# What `make check` counts (tests/budget.py). A number may grow only by a change of this file in the same commit:
# `python -m tests.budget --write`. Lower the numbers when they have fallen.
"""


def main(arguments: list[str]) -> int:
    """Print the numbers beside the budget; return 1 if one has grown."""
    counted = {**counts(ROOT / "src/whynear", ROOT / "tests"), **counts_of_the_study()}
    if arguments == ["--write"]:
        BUDGET.write_text(HEADER + "".join(f'"{name}" = {count}\n' for name, count in counted.items()))
    budget = tomllib.loads(BUDGET.read_text())
    for name, count in counted.items():
        print(f"{name:48} {count:7,}   of {budget.get(name, 0):7,}")
    grown = [f"{name}: {count:,} instead of at most {most:,}" for name, count, most in beyond(counted, budget)]
    if grown:
        print("\nGrown: " + "; ".join(grown))
        print(f"Make it smaller, or change {BUDGET.relative_to(ROOT)} on purpose in the same commit.")
    return int(bool(grown))


def beyond(counted: Mapping[str, int], budget: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Return what has grown, with its number and its budget; what has no budget may not exist."""
    return [(name, count, budget.get(name, 0)) for name, count in counted.items() if count > budget.get(name, 0)]


def counts(package: Path, tests: Path) -> dict[str, int]:
    """Count what can be read off the source."""
    trees = trees_of(package)
    lines = {name: sum(1 for _ in path.open()) for name, path in paths_of(package).items()}
    wings = {name for name in trees if name.split(".")[1:2] and name.split(".")[1] in WINGS}
    return {
        "modules": len(trees),
        "modules of the core": len(trees) - len(wings),
        "modules of the wings": len(wings),
        "lines": sum(lines.values()),
        "lines of the core": sum(count for name, count in lines.items() if name not in wings),
        "lines of the wings": sum(lines[name] for name in wings),
        "lines of tests": sum(1 for path in tests.rglob("*.py") for _ in path.open()),
        "import cycles inside folders": len(cycles(trees)),
        "the same with imports for types": len(cycles(trees, types=True)),
        f"functions of over {MOST_PARAMETERS} parameters": len(long_doors(trees)),
        "imports by string": len(string_imports(trees)),
    }


def counts_of_the_study() -> dict[str, int]:
    """Count what a study of the wine table passes through."""
    walk = walked("study")
    tens = -(-len(walk.returns) // 10) * 10  # a slow machine adds one
    found = {"modules of the study walk": len(walk.modules), "returns of the study walk, up to ten": tens}
    return found | {f"{work} in the study walk": walk.times(names) for work, names in REPEATED.items()}


def paths_of(package: Path) -> dict[str, Path]:
    """Return the files of a package by the names of their modules."""
    paths = {path.relative_to(package.parent).with_suffix(""): path for path in sorted(package.rglob("*.py"))}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}


def trees_of(package: Path) -> dict[str, ast.Module]:
    """Return the parsed modules of a package by their names."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths_of(package).items()}


def cycles(trees: Trees, *, types: bool = False) -> list[list[str]]:
    """Return the sets of modules of one folder that import each other in a circle, also inside functions."""
    imported = {name: set(imports(tree, trees, types=types)) - {name} for name, tree in trees.items()}
    found: set[frozenset[str]] = set()
    packages = {_folder(name) for name in trees}
    folders = {name: name if name in packages else _folder(name) for name in trees}
    for folder in packages:
        names = {name for name in trees if folders[name] == folder}
        inside = {name: imported[name] & names for name in names}
        reached = {name: _reached(name, inside) for name in names}
        found |= {frozenset(one for one in reached[name] if name in reached[one]) for name in names}
    return sorted(sorted(circle) for circle in found if circle)


def imports(tree: ast.AST, known: Trees, *, types: bool = False) -> Iterator[str]:
    """Yield the modules of the package that a module imports; with ``types`` also those imported for types only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue
        if not types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            inner = [f"{node.module}.{name.name}" for name in node.names]
            yield from (name if name in known else node.module for name in inner)
        else:
            yield from imports(node, known, types=types)


def long_doors(trees: Trees) -> list[tuple[str, int]]:
    """Return the functions and methods with too many parameters, and how many they have."""
    found = []
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                count = sum(one.arg not in ("self", "cls") for one in taken)
                if count > MOST_PARAMETERS:
                    found.append((f"{module}:{node.name}", count))
    return found


def string_imports(trees: Trees) -> list[str]:
    """Return the texts that name a module of the package, each with its module, except in the root's lazy tables."""
    root = next(iter(trees))
    found = []
    for module, tree in trees.items():
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else ""
            begun = isinstance(node, ast.JoinedStr) and ast.unparse(node)[2:].startswith(f"{root}.")
            if module != root and (begun or (text in trees and text != root)):
                found.append(f"{module}:{ast.unparse(node)}")
    return found


def _folder(name: str) -> str:
    return name.rpartition(".")[0]


def _reached(start: str, imported: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = imported[waiting.pop()] - found
        found |= new
        waiting += new
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
