# %% [markdown]
# # Finding wines like this one
#
# A laboratory keeps the chemical analyses of wines and wants to look up, for a new one, those most like it. Plain
# distances do that badly: proline is measured in hundreds and drowns the rest. `Slider` learns a weight for each column
# such that wines of the same cultivar rank before others, and a `CaseBase` keeps wines on the disk and finds them.
#
# **Data.** 178 wines of three cultivars, 13 measurements each: the wine table that comes with scikit-learn. Nothing is
# downloaded.

# %%
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import whynear as wn

data = wn.datasets.load("wine")
cultivar = np.array(["Barolo", "Grignolino", "Barbera"])[data.y]
known, new, known_as, new_as = train_test_split(data.X, cultivar, test_size=0.4, stratify=cultivar, random_state=0)
known.describe().loc[["min", "mean", "max"]].T.round(2)

# %% [markdown]
# ## Learning what makes wines alike
#
# The columns are taken as they are: finding their weights includes finding their scales. The learner sees 106 wines; 72
# are kept aside to judge it.

# %%
slider = wn.Slider(random_state=0).fit(known, known_as)
slider.metric_


# %% [markdown]
# Weights are per unit of a column, so a large weight may only mean small numbers. Per standard deviation it looks like
# this:

# %%
per_deviation = slider.metric_.weights * known.var().to_numpy()
share = pd.Series(per_deviation / per_deviation.sum(), known.columns).sort_values(ascending=False)
share[share > 0.001].map("{:.1%}".format).to_frame("share of the distance")

# %% [markdown]
# How well do the 72 other wines find their like among the 106? The mean rank is the place of a wine of the own cultivar
# among ten of others (1 is best).

# %%
metrics = {
    "columns as they are": wn.DiagonalMetric(np.ones(13), data.feature_names),
    "columns standardised": wn.DiagonalMetric(1 / known.var(), data.feature_names),
    "Slider": slider.metric_,
}
rows = {}
for name, metric in metrics.items():
    nearest = wn.NeighborSearch(metric, known).nearest(new, k=1)[1][:, 0]
    rows[name] = {
        "mean rank among 10": wn.ranking.mean_rank(metric, new, new_as, base=known, base_y=known_as),
        "own cultivar in the nearest tenth": wn.ranking.match_share(metric, new, new_as, base=known, base_y=known_as),
        "nearest is of the own cultivar": np.mean(known_as[nearest] == new_as),
    }
pd.DataFrame(rows).T.round(3)

# %% [markdown]
# The learned weights rank best as a whole. For the single nearest wine standardised columns do as well: one wine of 72
# is 1.4 %.
#
# ## A base of cases
#
# The base is one SQLite file. What was added survives a crash, and any number of programs may read it. Each case
# carries whatever belongs to it.

# %%
base = wn.CaseBase("wines.db", slider.metric_)
base.add(known, [{"cultivar": name, "bottle": int(row)} for name, row in zip(known_as, known.index, strict=True)])
base

# %%
query = new.iloc[4]
found = base.retrieve(query, k=5, explain=True)
print(f"asked for a {new_as[4]}")
found

# %% [markdown]
# Every distance is the sum of what the columns add to it, so each case found can say in what it differs:

# %%
parts = found.contributions
parts.loc[:, parts.max().sort_values(ascending=False).index[:5]].round(3)

# %% [markdown]
# ## Filter, then look closer
#
# Where a better measure of likeness is too slow for the whole base, the metric filters and the better one ranks what is
# left. Here it asks for the same strength and colour above all; it sees 20 wines instead of 106.


# %%
def likeness(wine, cases, _payloads):
    return np.exp(-(cases - wine)[["alcohol", "color_intensity"]].abs().sum(axis=1))


base.retrieve(query, k=4, filter_k=20, rerank=likeness)

# %% [markdown]
# New wines are added as they come, and are found from then on.

# %%
base.add(new.iloc[[4]], [{"cultivar": new_as[4], "bottle": "the one asked for"}])
print(len(base), "cases; nearest now:", base.retrieve(query, k=1).payloads[0])
base.close()
