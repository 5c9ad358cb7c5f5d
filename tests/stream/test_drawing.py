import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import whynear as wn


def test_replacements_are_marked_and_names_are_drawn_as_they_are():
    n = 20
    shares = np.vstack([np.tile([0.9, 0.02, 0.08], (10, 1)), np.tile([0.03, 0.9, 0.07], (10, 1))])
    table = pd.DataFrame({"case": np.arange(100, 2100, 100), "accuracy": 0.9, "metric": "raw", "memory": "both",
                          "short_term": 5, "long_term": 6})  # fmt: skip
    relevances = pd.DataFrame(shares, columns=["$a$", "b", "c"])
    history = wn.StreamHistory(table, relevances, np.tile([30.0, 5.0], (n, 1)), (), 0)
    ax = history.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$a$", "b", "c", "accuracy"]
    marks = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in marks] == [1100]
    plt.close("all")
