"""Fit xRFM to the training rows of each fold, a fifth of them for validation, in its own environment.

The command line names the file with the folds, the file for the predictions, and whether there are classes. It prints
the CPU seconds of each fit with its predictions.
"""

import json
import sys
import time
import warnings

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from xrfm import xRFM


def predicted(X, y, X_held_out, classes):
    known, unseen = train_test_split(np.arange(len(y)), test_size=0.2, random_state=0)
    model = xRFM(device=torch.device("cpu"), random_state=0, verbose=False)
    X, X_held_out = (torch.as_tensor(rows, dtype=torch.float32) for rows in (X, X_held_out))
    y = torch.as_tensor(y, dtype=torch.long if classes else torch.float32)[:, None]
    model.fit(X[known], y[known], X[unseen], y[unseen])
    return np.asarray(model.predict(X_held_out)).reshape(len(X_held_out), -1)[:, 0]


def main():
    folds, found, kind = sys.argv[1:]
    torch.set_num_threads(1)
    seconds, predictions = [], {}
    with np.load(folds) as parts:
        predicted(*(parts[f"{name}0"] for name in ("X", "y", "X_held_out")), kind == "classes")  # loads what it needs
        for i in range(len(parts.files) // 3):
            start = time.process_time()
            arrays = (parts[f"{name}{i}"] for name in ("X", "y", "X_held_out"))
            predictions[f"p{i}"] = predicted(*arrays, kind == "classes")
            seconds.append(time.process_time() - start)
    np.savez(found, **predictions)
    print(json.dumps(seconds))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
