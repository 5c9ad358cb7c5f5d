"""Fit one learner to the training rows of each fold, in the environment of the rivals or in ours.

The case, JSON on the command line, names the learner (module, class, settings), the file with the folds, the file
for the solutions and the limit of CPU seconds for one fit. It prints the CPU seconds of each fit, up to the first that
exceeds the limit, and the peak memory above that of the imports.
"""

import importlib
import json
import signal
import sys
import time
import warnings
from operator import attrgetter

import numpy as np

# The names of the map, the prototypes and their labels in each library.
NAMES = {
    "omega": ["metric_.omega", "metric_.omegas", "components_", "omega_", "omegas_"],
    "prototypes": ["prototypes_", "w_"],
    "labels": ["prototype_labels_", "prototypes_labels_", "c_w_"],
}


def peak_mb():
    """The peak memory of this process in MB; getrusage would include the process that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def solution_of(model):
    """The fitted arrays of the model, under common names."""
    found = {}
    for common, names in NAMES.items():
        for name in names:
            try:
                found[common] = np.asarray(attrgetter(name)(model))
                break
            except AttributeError:
                continue
    return found


def warm_up(make):
    """Fit a small table, to load and compile what a fit needs."""
    y = np.arange(60) % 2
    X = np.random.RandomState(0).standard_normal((60, 3)) + y[:, None]
    make().fit(X, y)


def raise_timeout(*_):
    raise TimeoutError


def fit_all(case):
    learner = getattr(importlib.import_module(case["module"]), case["class"])

    def make():
        return learner(**case["settings"])

    before = peak_mb()
    warm_up(make)
    signal.signal(signal.SIGPROF, raise_timeout)
    seconds, solutions = [], {}
    with np.load(case["folds"]) as folds:
        for i in range(case["runs"]):
            X, y = folds[f"X{i}"], folds[f"y{i}"]
            model = make()
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, case["limit"])
            try:
                model.fit(X, y)
            except TimeoutError:
                break
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            seconds.append(time.process_time() - start)
            solutions.update({f"{name}{i}": array for name, array in solution_of(model).items()})
    np.savez(case["solutions"], **solutions)
    return {"seconds": seconds, "peak": peak_mb() - before}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(fit_all(json.loads(sys.argv[1]))))
