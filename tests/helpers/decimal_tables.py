"""A table of numbers, written in files with decimal commas or points."""

import numpy as np
import pandas as pd

import whynear as wn


def measured_rows(n=60, seed=0):
    """Rows whose class follows from a small number and from one of thousands."""
    rng = np.random.default_rng(seed)
    dose, cells = rng.uniform(3, 9, n).round(2), rng.integers(1118, 8961, n)
    kind = np.where(dose / 6 + cells / 5000 > 2, "ill", "well")
    return pd.DataFrame({"dose": dose, "cells": cells, "age": rng.integers(20, 80, n), "kind": kind})


def as_texts(frame, decimal=","):
    """Return the table as texts, with signs between thousands."""
    grouped = {name: frame[name].map("{:,}".format) for name in ("dose", "cells")}
    if decimal == ",":
        swapped = str.maketrans(",.", ".,")
        grouped = {name: column.str.translate(swapped) for name, column in grouped.items()}
    return frame.assign(**grouped)


def as_file(frame, path, decimal=","):
    """Write the table with semicolons."""
    as_texts(frame, decimal).to_csv(path, sep=";", index=False)
    return path


def as_folder(frame, folder, decimal=","):
    """Write a file for each row."""
    folder.mkdir()
    for number in range(len(frame)):
        as_file(frame.iloc[[number]], folder / f"{number}.csv", decimal)
    return folder


def model_of_commas(path):
    """Return a model of the table in a file with decimal commas."""
    return wn.learn_table(as_file(measured_rows(), path), "kind", learner="lmnn", score=False).model
