# %% [markdown]
# # Why does the robot turn? Explaining single predictions
#
# A robot follows the walls of a room. 24 ultrasound sensors around it measure distances. The task is to predict its
# next action from these distances: move forward, turn slightly or turn sharply (Freire et al. 2009). `LANN` predicts by
# the nearest cases, and every case has its own weights for the sensors. Each prediction can therefore be explained by
# the cases behind it, sensor by sensor.
#
# **Data.** `robot_navigation` is read from an `.npz` file in the folder named by the environment variable
# `WHYNEAR_DATA`, or from OpenML if there is no such file.

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
print(f"{len(X):,} moments for training, {len(X_new):,} held out")
pd.Series(does).value_counts().to_frame("moments")

# %% [markdown]
# ## A metric for every case
#
# `LANN` chooses its settings on held-out cases: step sizes, number of passes, and whether to use one metric per case.

# %%
plain = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance")).fit(X, does)
model = make_pipeline(StandardScaler(), wn.LANN(random_state=0)).fit(X, does)
right = {"plain kNN": plain.score(X_new, does_next), "LANN": model.score(X_new, does_next)}
pd.Series(right).map("{:.1%}".format).to_frame("accuracy")

# %% [markdown]
# `LANN` makes less than half of the errors of plain kNN. The moments follow each other closely in time, so neighbours
# of a new moment can be training cases. Both accuracies are therefore too high. We are interested in their difference.

# %%
wn.as_metric(model)

# %% [markdown]
# ## Why this prediction?
#
# We choose a moment that plain kNN predicts wrongly: the robot is about to turn sharply, and kNN predicts that it moves
# forward. Among such moments that `LANN` predicts correctly, we take the one with the highest probability for which the
# nearest case of another class is also *move forward*.

# %%
missed = (plain.predict(X_new) == "Move-Forward") & (does_next == "Sharp-Right-Turn")
saved = np.flatnonzero(missed & (model.predict(X_new) == does_next))
print(f"{missed.sum()} sharp turns predicted as moving forward by plain kNN, {len(saved)} of them correctly by LANN")
surest_first = saved[np.argsort(-model.predict_proba(X_new.iloc[saved]).max(axis=1), kind="stable")]
reasons = (wn.explain(model, X_new.iloc[place]) for place in surest_first)
why = next(reason for reason in reasons if reason.nearest_other.label == "Move-Forward")
why

# %% [markdown]
# The figure shows the contribution of each sensor to the squared distance of the nearest moment of the predicted
# action, and of the nearest moment of another action. Long orange bars make the other action more distant.

# %%
ax = why.plot(most=8)

# %%
ax = why.plot_neighbors(most=8)

# %% [markdown]
# ## What matters for each action
#
# The figure shows the mean relevances of the cases of each action. A few of the 24 sensors have nearly all of the
# relevance, and their relevances differ slightly between the actions.

# %%
profiles = wn.class_profiles(model)
ax = wn.plot_class_profiles(profiles[profiles.max(axis=1) > 0.005])

# %% [markdown]
# ## The moments on a plane
#
# `embed` places cases on a plane so that cases that are near under the learned metrics are near on the plane. The score
# is the share of points whose action is that of most of their neighbours on the plane.

# %%
maps = {
    "before learning": wn.embed(model, X, method="euclidean", n_neighbors=15, random_state=0),
    "with the metrics of LANN": wn.embed(model, X, n_neighbors=15, random_state=0),
}
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, (name, points) in zip(axes, maps.items(), strict=True):
    wn.plot_embedding(points, does, ax=ax)
    ax.set_title(f"{name}: score {wn.embedding_score(points, does):.0%}", fontsize="medium")
axes[0].get_legend().remove()
