# %% [markdown]
# # Why does the robot turn? Explaining single predictions
#
# A robot follows the walls of a room. 24 ultrasound sensors around its waist measure distances; from them one has to
# tell what it does next: move on, turn slightly or sharply (Freire et al. 2009). `LANN` predicts by the nearest cases,
# and every case has learned its own idea of which sensors matter. So every prediction can be explained by the cases
# behind it, sensor by sensor.
#
# **Data.** `robot_navigation` is looked for as an `.npz` file in the folder that the environment variable
# `WHYNEAR_DATA` names, and on OpenML otherwise.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn

data = wn.datasets.load("robot_navigation")
action = np.array(data.target_names)[data.y]
X, X_new, does, does_next = train_test_split(data.X, action, train_size=0.3, stratify=action, random_state=0)
print(f"{len(X):,} moments to learn from, {len(X_new):,} others to predict")
pd.Series(does).value_counts().to_frame("moments")

# %% [markdown]
# ## A metric for every case
#
# How `LANN` learns (step sizes, passes, whether at all) it chooses itself on cases it holds out.

# %%
plain = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance")).fit(X, does)
model = make_pipeline(StandardScaler(), wn.LANN(random_state=0)).fit(X, does)
right = {"plain kNN": plain.score(X_new, does_next), "LANN": model.score(X_new, does_next)}
pd.Series(right).map("{:.1%}".format).to_frame("predicted right")

# %% [markdown]
# More than half of the errors are gone. (Moments follow each other closely in time, so some neighbours of a new moment
# were seen while learning. That flatters both numbers; their difference is what counts here.)

# %%
wn.as_metric(model)

# %% [markdown]
# ## Why this prediction?
#
# We take a moment that plain neighbours get wrong: the robot is about to turn sharply, and they say it moves on. Of
# those that `LANN` tells right it is the surest where moving on is what comes next in its eyes, too.

# %%
missed = (plain.predict(X_new) == "Move-Forward") & (does_next == "Sharp-Right-Turn")
saved = np.flatnonzero(missed & (model.predict(X_new) == does_next))
print(f"{missed.sum()} sharp turns taken for moving on by plain kNN, {len(saved)} of them told right by LANN")
surest_first = saved[np.argsort(-model.predict_proba(X_new.iloc[saved]).max(axis=1), kind="stable")]
reasons = (wn.explain(model, X_new.iloc[place]) for place in surest_first)
why = next(reason for reason in reasons if reason.nearest_other.label == "Move-Forward")
why

# %% [markdown]
# The same as a figure: what each sensor adds to the distance from the nearest moment of the predicted action, and from
# the nearest of another. Long orange bars hold the other action off.

# %%
ax = why.plot(most=8)

# %%
ax = why.plot_neighbors(most=8)

# %% [markdown]
# ## What matters for each action
#
# The mean of the cases' own relevances, action by action: a handful of the 24 sensors carries nearly everything, and
# the actions weigh them a little differently.

# %%
profiles = wn.class_profiles(model)
ax = wn.plot_class_profiles(profiles[profiles.max(axis=1) > 0.005])

# %% [markdown]
# ## The moments on a map
#
# `embed` places cases that are near under the learned metrics near each other. The score is the share of points whose
# neighbours on the map mostly do the same as they do.

# %%
maps = {
    "before learning": wn.embed(model, X, method="euclidean", n_neighbors=15, random_state=0),
    "as LANN sees them": wn.embed(model, X, n_neighbors=15, random_state=0),
}
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, points) in zip(axes, maps.items(), strict=True):
    wn.plot_embedding(points, does, ax=ax)
    ax.set_title(f"{name}: {wn.embedding_score(points, does):.0%} among their like", fontsize="medium")
axes[0].get_legend().remove()
