# %% [markdown]
# # Which part of a spectrum predicts the alcohol of a wine?
#
# The data are mean infrared spectra of 124 wines in 256 channels, with the alcohol content of every wine (Marc Meurens,
# UCL, BNUT unit). Neighbouring channels are strongly correlated, and there are far more channels than wines. Very
# different metrics therefore fit such data equally well. This example learns a metric, removes the part that the data
# do not determine, and computes the smallest and the largest possible weight of each channel.
#
# **Data.** `wine_spectra.npz` is read from the folder named by the environment variable `WHYNEAR_DATA`. No public
# service offers the spectra in this form.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn

data = wn.datasets.load("wine_spectra")
usual = np.delete(np.arange(len(data.y)), [33, 34, 83])  # published work leaves out these three outliers
X, alcohol = data.X.iloc[usual], np.asarray(data.y)[usual]
level = np.array(["low", "middle", "high"])[wn.datasets.bin_target(alcohol, 3)]  # three classes of equal size
few = data.split[usual] == "test"  # as published: the small part is for training
pd.crosstab(np.where(few, "training", "held out"), level, rownames=["spectra"], colnames=["alcohol"])

# %%
fig, ax = plt.subplots(figsize=(7.5, 3), layout="constrained")
for name, color in {"low": "#1f5f8b", "middle": "#8a8f94", "high": "#e08a1e"}.items():
    ax.plot(np.arange(1, 257), X[few & (level == name)].to_numpy().T, color=color, linewidth=0.8)
    ax.plot([], [], color=color, label=name)
ax.set(xlabel="channel", ylabel="absorbance", xlim=(1, 256))
ax.legend(title="alcohol", frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# ## Learning a metric
#
# In the figure, the three levels are hard to distinguish. `GMLVQ` learns a linear map with two rows and one prototype
# per level, here from 30 spectra.


# %%
def learned(effective_dim=None):
    learner = wn.GMLVQ(n_components=2, effective_dim=effective_dim, random_state=0)
    return make_pipeline(StandardScaler(), learner).fit(X[few], level[few])


def errors(model):
    return {"training": 1 - model.score(X[few], level[few]), "held out": 1 - model.score(X[~few], level[~few])}


model = learned()
pd.Series(errors(model)).map("{:.0%}".format).to_frame("error on spectra")

# %% [markdown]
# There is no error on the 30 training spectra, but a quarter of the 91 held-out spectra are predicted wrongly. With
# more channels than spectra, the map fits random properties of the training spectra. Most of the map lies in directions
# in which the spectra hardly vary:

# %%
found = wn.null_space(model, X[few], effective_dim=7)
print(f"the 30 spectra vary in {found.rank} directions; {found.removed_norm:.0%} of the map is outside the first seven")

# %% [markdown]
# ## How many directions are needed?
#
# The measured alcohol content contains more information than the three levels, so we use it to choose the number of
# directions. We use cross-validation on the 30 training spectra. The 91 held-out spectra are not used.

# %%
line = make_pipeline(StandardScaler(), wn.MinimumNormRegressor())
dimension = wn.effective_dimension(line, X[few], alcohol[few], candidates=range(2, 21))
dimension

# %% [markdown]
# With five or more directions the alcohol content is predicted well. Seven directions are best, and further ones fit
# noise. If the metric for the three levels is learned within seven directions, its error on the held-out spectra is
# lower:

# %%
regular = learned(effective_dim=dimension.best)
table = {"all directions": errors(model), f"{dimension.best} directions": errors(regular)}
pd.DataFrame(table).T.map("{:.0%}".format)

# %% [markdown]
# A metric can also be regularized after it was learned. We show this for the linear map that predicts the alcohol
# content. On seven directions its squared norm falls to a ninth, and its predictions are better:

# %%
line.fit(X[few], alcohol[few])
small = wn.regularize(line, X[few], effective_dim=dimension.best)
with_small = make_pipeline(line[0], line[1].with_metric(small))
rows = {
    name: {
        "squared norm of the map": wn.as_metric(fitted).as_learned().relevances().sum(),
        "correlation with alcohol, 91 held-out spectra": np.corrcoef(fitted.predict(X[~few]), alcohol[~few])[0, 1],
    }
    for name, fitted in {"all directions": line, f"{dimension.best} directions": with_small}.items()
}
pd.DataFrame(rows).T.round(4)

# %% [markdown]
# ## Which channels matter?
#
# The weights of a single map do not answer this question, because another map with the same distances on the data can
# have its weights on other channels. The intervals hold for *all* of these maps. A channel is strong if every such map
# needs it, and weak if other channels can replace it.

# %%
relevance = wn.relevance_intervals(regular, X[few], effective_dim=dimension.best)
relevance

# %%
ax = relevance.plot()

# %% [markdown]
# The orange areas show which regions of the spectrum contain the information. None of the 256 channels is
# indispensable, because each can be replaced by its neighbours. Which channels can replace the most important one?

# %%
top = relevance.frame().sort_values("upper", ascending=False)["feature"].iloc[0]
print(f"{top} can be replaced by:", ", ".join(relevance.substitutes.of[top][:12]))
