"""A table as people have it: nobody has prepared it for anything."""

from pathlib import Path

import numpy as np

HEADER = "Patient-Nr.;Alter;Geschlecht;Leukozyten (G/l);CRP mg/l;Temperatur;Station;Befund"


def write_findings(path: Path, n_rows: int = 130, seed: int = 0) -> Path:
    """Semicolons, decimal commas, an old encoding, names of patients, categories, limits, gaps, words among numbers.

    CRP and leukocytes tell who has an infection; the other columns say little or nothing.
    """
    rng = np.random.default_rng(seed)
    lines = [HEADER]
    for number in range(n_rows):
        ill = rng.random() < 0.45
        blood, crp = rng.normal(11.5 if ill else 7.2, 1.8), np.exp(rng.normal(3.5 if ill else 1.6, 0.8))
        cells = [
            f"P{1001 + number}",
            str(rng.integers(18, 90)),
            rng.choice(["m", "w"]),
            rng.choice(["", "-", "n.b."]) if rng.random() < 0.06 else f"{blood:.2f}".replace(".", ","),
            "<5" if crp < 5 and rng.random() < 0.7 else f"{crp:.1f}".replace(".", ","),
            "" if rng.random() < 0.04 else f"{rng.normal(37.6 if ill else 37.2, 0.6):.1f}".replace(".", ","),
            rng.choice(["Süd 1", "Süd 2", "Nord"]),
            "Infekt" if ill else "kein Infekt",
        ]
        lines.append(";".join(str(cell) for cell in cells))
    path.write_text("\r\n".join([*lines, ""]), encoding="cp1252", newline="")
    return path
