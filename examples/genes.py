# %% [markdown]
# # Thousands of genes, few patients
#
# Expression of 7,129 genes in 72 patients with acute leukaemia, lymphoblastic (ALL) or myeloid (AML) (Golub et al.
# 1999). There are a hundred times more genes than patients, and lists of "the relevant genes" differ from study to
# study, because many sets of genes predict equally well. Intervals of relevance say which genes *every* metric of the
# same effect needs, which can be replaced by others, and which cannot matter.
#
# **Data.** `leukemia_allaml` is looked for as an `.npz` file in the folder that the environment variable `WHYNEAR_DATA`
# names. The file numbers the genes and does not name them.

# %%
import time

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn

data = wn.datasets.load("leukemia_allaml")
X, disease = data.X, np.array(data.target_names)[data.y]
print(f"{X.shape[0]} patients, {X.shape[1]:,} genes")
pd.Series(disease).value_counts().to_frame("patients")

# %% [markdown]
# ## Does a learned metric predict?
#
# Patients are predicted by models that did not see them, in five folds.

# %%
learner = make_pipeline(StandardScaler(), wn.GMLVQ(n_components=2, random_state=0))
plain = make_pipeline(StandardScaler(), KNeighborsClassifier())
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = {
    name: cross_val_score(model, X, disease, cv=folds) for name, model in {"GMLVQ": learner, "plain kNN": plain}.items()
}
pd.DataFrame(scores).agg(["mean", "std"]).T.map("{:.1%}".format)

# %% [markdown]
# ## How many directions does it need?
#
# Among 72 patients, 7,129 genes vary in at most 71 directions. Fewer of them make a simpler answer, at the price of
# some errors.

# %%
dimension = wn.effective_dimension(learner, X, disease, candidates=[2, 5, 10, 20, 40])
dimension

# %%
dimension.frame().set_index("effective_dim").map("{:.1%}".format)

# %% [markdown]
# All in all more directions predict better. With 72 patients an error is uncertain by about three per cent, though, and
# ten directions are not clearly worse than twenty. The genes that matter in the ten most important directions of the
# data are the robust part of the answer; we stay with them, and keep in mind that finer distinctions are left out.
#
# ## Bounds for every gene
#
# Two linear programs for each gene and row of the map: how small and how large can its weight be, if the metric must
# measure the same on these ten directions?

# %%
model = learner.fit(X, disease)
start = time.perf_counter()
relevance = wn.relevance_intervals(model, X, effective_dim=10)
print(f"{relevance.certificate.programs:,} linear programs in {time.perf_counter() - start:.0f} seconds")
relevance

# %%
ax = relevance.plot()

# %% [markdown]
# ## Strong, weak, irrelevant
#
# Which genes can do the work of which? The most important ones are forced to their largest weight, one after the other:
# a gene whose own upper bound then falls by more than half was doing the same work.

# %%
most = relevance.frame().sort_values("upper", ascending=False).head(8)
others = relevance.substitutes_of(list(most["feature"])).of
most.assign(can_be_replaced_by=[", ".join(others[name][:5]) for name in most["feature"]]).round(2)

# %% [markdown]
# ## What would noise reach?
#
# Twenty columns of the table are shuffled, put beside the others, learned and bounded in the same way. The most that
# one of them reaches, relative to the most relevant gene, is the floor below which a relevance means nothing. Until
# here it was a tenth by default.

# %%
floor = wn.relevance_floor(learner, X, disease, n_probes=20, random_state=0, effective_dim=10)
floor

# %%
wn.relevance_intervals(model, X, effective_dim=10, floor=floor)

# %% [markdown]
# Noise reaches nine per cent, about what the default assumes. Two genes are indispensable under either floor, some 230
# can matter but can be replaced by others, and 6,900 cannot be told from noise. All this holds for one metric, learned
# from 72 patients on ten directions of the data: it says where to look, not what causes the disease.
