"""Turn the scripts of this folder into executed notebooks: ``python -m examples.execute [NAME ...]``.

A script has cells in the "percent" format: ``# %%`` begins a cell of code, ``# %% [markdown]`` a cell of text. A
notebook runs in a folder that is removed afterwards. The file contains no times, paths or versions of the machine, so
an unchanged script gives the same file again, except for the bytes of figures.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NAMES = ("spectra", "genes", "retrieval", "local_explanation")
LARGEST = 600_000  # bytes of a notebook
MINUTES = 10  # for a cell
DPI = 72


def cells_of(script: str) -> list[tuple[str, str]]:
    """The kind, "markdown" or "code", and the text of each cell; text before the first cell is left out."""
    cells: list[tuple[str, list[str]]] = []
    for line in script.splitlines():
        if line.startswith("# %%"):
            cells.append(("markdown" if "[markdown]" in line else "code", []))
        elif cells:
            kind, lines = cells[-1]
            lines.append(line.removeprefix("#").removeprefix(" ") if kind == "markdown" else line)
    return [(kind, "\n".join(lines).strip("\n")) for kind, lines in cells]


def execute(name: str) -> Path:
    """Run the script of this name as a notebook and write the notebook to the folder of the script."""
    import nbformat
    from nbclient import NotebookClient

    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for number, (kind, source) in enumerate(cells_of(script), start=1):
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        notebook.cells.append(make(source, id=f"{name.replace('_', '-')}-{number}"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "matplotlibrc").write_text(f"figure.dpi: {DPI}\n")
        NotebookClient(
            notebook,
            timeout=60 * MINUTES,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],
        ).execute()
        for cell in notebook.cells:
            cell.metadata = {}
            if cell.cell_type == "code":
                cell.outputs = [_without_machine(output, folder) for output in cell.outputs]
    notebook.metadata["language_info"] = {"name": "python"}
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    _check(name, notebook, text)
    path = FOLDER / f"{name}.ipynb"
    path.write_text(text, encoding="utf-8")
    return path


def _without_machine(output: Any, folder: str) -> Any:
    """The output without paths, and without its plain text if it has a table or a figure."""
    data = output.get("data", {})
    if {"text/html", "image/png"} & set(data):
        data.pop("text/plain", None)
    texts = (data, "text/plain"), (data, "text/html"), (output, "text")
    for holder, kind in texts:
        if kind in holder:
            holder[kind] = holder[kind].replace(f"{folder}{os.sep}", "").replace(folder, "")
    output.get("metadata", {}).clear()
    return output


def _check(name: str, notebook: Any, text: str) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error" or output.get("name") == "stderr":
                raise RuntimeError(f"{name}: the cell {cell.source!r} has an error or a warning: {output}")
    if len(text.encode()) > LARGEST:
        raise RuntimeError(f"{name}: {len(text.encode()):,} bytes exceed the limit of {LARGEST:,}. Draw fewer figures.")


def main() -> None:
    """Execute the named examples, or all."""
    with tempfile.TemporaryDirectory() as folder:  # kernels neither read nor write settings of the user
        os.environ.update(IPYTHONDIR=folder, JUPYTER_CONFIG_DIR=folder, JUPYTER_RUNTIME_DIR=folder)
        os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"  # a warning of UMAP about missing widgets
        for name in sys.argv[1:] or NAMES:
            path = execute(name)
            print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
