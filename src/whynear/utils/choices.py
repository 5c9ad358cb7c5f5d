"""The choices that settings of tables have, in a module without large imports, so that commands load them at once."""

from typing import Literal

Categories = Literal["auto", "onehot"]
Impute = Literal["auto", "median", "most_frequent"]
