"""Run CapyMOA's SAM-kNN over the stream in a file, in its own environment; print its error and its CPU seconds."""

import json
import sys
import time

import numpy as np
from capymoa.classifier import SAMkNN
from capymoa.evaluation import ClassificationEvaluator
from capymoa.stream import NumpyStream


def main():
    with np.load(sys.argv[1]) as data:
        X, y = data["X"], data["y"]
    stream = NumpyStream(X, y, target_type="categorical")
    learner = SAMkNN(stream.get_schema())
    evaluator = ClassificationEvaluator(stream.get_schema())
    seconds = 0.0
    while stream.has_more_instances():
        instance = stream.next_instance()
        start = time.process_time()
        predicted = learner.predict(instance)
        learner.train(instance)
        seconds += time.process_time() - start
        evaluator.update(instance.y_index, predicted)
    print(json.dumps({"error": 100 - evaluator.accuracy(), "cases": len(y), "seconds": seconds}))


if __name__ == "__main__":
    main()
