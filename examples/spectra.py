# %% [markdown]
# # Which part of a spectrum tells the alcohol of a wine?
#
# Mean infrared spectra of 124 wines in 256 channels, with the alcohol content of every wine (Marc Meurens, UCL, BNUT
# unit). Neighbouring channels say nearly the same, and there are far more channels than wines: very different metrics
# fit such data equally well. This example learns a metric, takes away what the data cannot support, and bounds how much
# each channel can and must matter.
#
# **Data.** `wine_spectra.npz` is looked for in the folder that the environment variable `WHYNEAR_DATA` names; no public
# service offers the spectra in this form.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn

data = wn.datasets.load("wine_spectra")
usual = np.delete(np.arange(len(data.y)), [33, 34, 83])  # three spectra stand apart; published work leaves them out
X, alcohol = data.X.iloc[usual], np.asarray(data.y)[usual]
level = np.array(["low", "middle", "high"])[wn.datasets.bin_target(alcohol, 3)]  # three classes of equal size
few = data.split[usual] == "test"  # as published, the small part is learned from and the large one is predicted
pd.crosstab(np.where(few, "to learn from", "to predict"), level, rownames=["spectra"], colnames=["alcohol"])

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
# The eye can hardly tell the three levels apart. `GMLVQ` learns a linear map with two rows and a prototype for each
# level, here from 30 spectra.


# %%
def learned(effective_dim=None):
    learner = wn.GMLVQ(n_components=2, effective_dim=effective_dim, random_state=0)
    return make_pipeline(StandardScaler(), learner).fit(X[few], level[few])


def errors(model):
    return {"learned from": 1 - model.score(X[few], level[few]), "others": 1 - model.score(X[~few], level[~few])}


model = learned()
pd.Series(errors(model)).map("{:.0%}".format).to_frame("error on spectra")

# %% [markdown]
# Not one error on the 30 spectra, but a quarter of the 91 others are told wrong: with more channels than spectra the
# map fits what happens to be there. Most of it lies in directions in which the spectra hardly vary:

# %%
found = wn.null_space(model, X[few], effective_dim=7)
print(f"the 30 spectra vary in {found.rank} directions; {found.removed_norm:.0%} of the map is outside the first seven")

# %% [markdown]
# ## How many directions do the spectra have to offer?
#
# The measured alcohol is a finer target than three levels, so it tells best. Cross-validation among the 30 spectra
# finds how many directions predict it; the other 91 take no part.

# %%
line = make_pipeline(StandardScaler(), wn.MinimumNormRegressor())
dimension = wn.effective_dimension(line, X[few], alcohol[few], candidates=range(2, 21))
dimension

# %% [markdown]
# From five directions on alcohol is predicted well, with seven best; further ones fit noise. Learned within seven
# directions, the metric of the three levels errs less on the spectra that took no part so far:

# %%
regular = learned(effective_dim=dimension.best)
table = {"all directions": errors(model), f"{dimension.best} directions": errors(regular)}
pd.DataFrame(table).T.map("{:.0%}".format)

# %% [markdown]
# A metric that is already learned can also be regularized afterwards. The map that predicts the alcohol itself shrinks
# to a ninth of its squared norm on seven directions, and predicts better:

# %%
line.fit(X[few], alcohol[few])
small = wn.regularize(line, X[few], effective_dim=dimension.best)
with_small = make_pipeline(line[0], line[1].with_metric(small))
rows = {
    name: {
        "squared norm of the map": wn.as_metric(fitted).as_learned().relevances().sum(),
        "correlation with alcohol, 91 other spectra": np.corrcoef(fitted.predict(X[~few]), alcohol[~few])[0, 1],
    }
    for name, fitted in {"all directions": line, f"{dimension.best} directions": with_small}.items()
}
pd.DataFrame(rows).T.round(4)

# %% [markdown]
# ## Which channels matter?
#
# The weights of one map answer that badly: another map that measures the same on the data may weigh other channels. The
# intervals hold for *all* of them. A channel is strong if every such map needs it, weak if others can do its work.

# %%
relevance = wn.relevance_intervals(regular, X[few], effective_dim=dimension.best)
relevance

# %%
ax = relevance.plot()

# %% [markdown]
# The orange areas show which regions of the spectrum carry the information. Not one of the 256 channels is
# indispensable, because its neighbours say the same. Which ones can stand in for the most important one?

# %%
top = relevance.frame().sort_values("upper", ascending=False)["feature"].iloc[0]
print(f"{top} can be replaced by:", ", ".join(relevance.substitutes.of[top][:12]))
