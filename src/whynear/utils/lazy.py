"""Packages whose public names are imported when they are first used."""

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package that imports a public name when it is first used.

    A public name takes precedence over a submodule of the same name: ``whynear.explain`` is the function, in whatever
    order things are imported.
    """

    _homes: dict[str, str]
    _submodules: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        if name in self._homes:
            value = getattr(import_module(self._homes[name]), name)
        elif name in self._submodules:
            value = import_module(f"{self.__name__}.{name}")
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        is_submodule = isinstance(value, ModuleType) and name in self._homes
        if not is_submodule:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self._homes, *self._submodules})


def make_lazy(package: str, homes: Mapping[str, tuple[str, ...]], submodules: tuple[str, ...] = ()) -> list[str]:
    """Make a package import each public name from its module, and submodules, on first use; return its ``__all__``."""
    module = sys.modules[package]
    names = {name: home for home, held in homes.items() for name in held}
    vars(module).update(_homes=names, _submodules=submodules)
    module.__class__ = LazyPackage
    return sorted({*names, *submodules})


def import_public_name(package: str, name: str) -> None:
    """Import the module of a public name of an imported package; do nothing for any other name."""
    module = sys.modules[package]
    if name in getattr(module, "_homes", {}):
        getattr(module, name)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Look for no garbage while modules are imported, nor among what they made afterwards: all of it stays."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
