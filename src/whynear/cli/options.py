"""Arguments and options that several commands share, and those made from the settings of a study."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, get_type_hints

import typer

from whynear.study.settings import SETTINGS, VALUES, StudySettings

_TYPES = {name: kind for value in (StudySettings, *VALUES.values()) for name, kind in get_type_hints(value).items()}


def of_setting(name: str, **more: Any) -> Any:
    """Return the option of the command line for a setting, with its help text."""
    setting = SETTINGS[name]
    flag = ("--" + name.replace("_", "-"),) if _TYPES[name] is bool else ()
    return typer.Option(*setting.metadata.get("names", flag), **{"help": setting.metadata["help"], **more})


def with_settings(names: str, **helps: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of settings, as its keyword parameters.

    ``names`` are all options in their order: settings, and parameters of the command itself. ``helps`` are help texts
    that differ from those of a study.
    """

    def made(command: Callable[..., None]) -> Callable[..., None]:
        own = signature(command, eval_str=True).parameters
        last = [name for name in own if name not in (*names.split(), "table", "target", "settings")]
        order = ("table", "target", *names.split(), *last)
        parameters = [own[name] if name in own else _parameter(name, helps) for name in order]
        command.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined] # read by inspect
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return made


def _parameter(name: str, helps: dict[str, str]) -> Parameter:
    """Return the parameter of a command for a setting; of names there may be several."""
    setting, kind = SETTINGS[name], SETTINGS[name].metadata.get("typed", _TYPES[name])
    many = setting.default == ()
    option = of_setting(name, **({"help": helps[name]} if name in helps else {}))
    annotation: Any = Annotated[list[str] | None if many else kind, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None if many else setting.default, annotation=annotation)


Table = Annotated[
    str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel), a folder of files, or the name of a data set.")
]
Target = Annotated[str | None, typer.Option(help="The column to predict; not needed for the name of a data set.")]
Drop = Annotated[list[str] | None, of_setting("drop")]
Index = Annotated[str | None, of_setting("index")]
Memory = Annotated[str | None, of_setting("memory")]
Encoding = Annotated[str, of_setting("encoding")]
Seed = Annotated[int, of_setting("random_state")]
Engine = Annotated[Literal["processes", "dask"], of_setting("engine")]
Address = Annotated[str | None, of_setting("address")]
JsonNotTable = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
JsonNotTables = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
