# %% [markdown]
# # Thousands of genes, few patients
#
# The data are the expression of 7,129 genes in 72 patients with acute leukaemia, lymphoblastic (ALL) or myeloid (AML)
# (Golub et al. 1999). There are a hundred times more genes than patients. Published lists of "the relevant genes"
# differ from study to study, because many sets of genes predict equally well. Relevance intervals show which genes are
# needed by *every* metric with the same distances, which genes can be replaced by others, and which genes are
# irrelevant.
#
# **Data.** `leukemia_allaml` is read from an `.npz` file in the folder named by the environment variable
# `WHYNEAR_DATA`. In this file the genes have numbers and no names.

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
# The accuracy is measured by cross-validation with five folds.

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
# For 72 patients, the 7,129 genes vary in at most 71 directions. Fewer directions give a simpler result, but some more
# errors.

# %%
dimension = wn.effective_dimension(learner, X, disease, candidates=[2, 5, 10, 20, 40])
dimension

# %%
dimension.frame().set_index("effective_dim").map("{:.1%}".format)

# %% [markdown]
# On the whole, more directions predict better. However, with 72 patients the standard error of the error rate is about
# three per cent, and ten directions are not clearly worse than twenty. We use the ten directions with the largest
# variance. Effects in the other directions are then left out.
#
# ## Bounds for every gene
#
# For each gene and each row of the map, two linear programs are solved. They give the smallest and the largest weight
# of the gene among all metrics that have the same distances on these ten directions.

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
# Which genes can replace each other? Each of the most important genes in turn is fixed at its largest possible weight.
# Genes whose upper bound then falls by more than half are its substitutes.

# %%
most = relevance.frame().sort_values("upper", ascending=False).head(8)
others = relevance.substitutes_of(list(most["feature"])).of
most.assign(can_be_replaced_by=[", ".join(others[name][:5]) for name in most["feature"]]).round(2)

# %% [markdown]
# ## Which relevance does noise reach?
#
# Permuted copies of twenty columns are added to the table. The metric is learned again, and the copies are bounded in
# the same way. The floor is the largest upper bound of a copy, divided by the largest upper bound of all columns. Below
# the floor a gene counts as irrelevant. Up to this point the floor was the default, a tenth.

# %%
floor = wn.relevance_floor(learner, X, disease, n_probes=20, random_state=0, effective_dim=10)
floor

# %%
wn.relevance_intervals(model, X, effective_dim=10, floor=floor)

# %% [markdown]
# Noise reaches nine per cent, which is close to the default. With either floor two genes are indispensable. With the
# measured floor, some 230 genes are relevant but can be replaced by others, and 6,900 are no better than noise. These
# results hold for one metric, learned from 72 patients on ten directions of the data. They suggest which genes to
# examine. They do not show what causes the disease.
