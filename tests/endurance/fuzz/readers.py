"""Every reader by its name: a function of a folder for mutants, which returns the trial of one mutant."""

from tests.endurance.fuzz import case_bases, commands, models, streams, studio, tables

READERS = {
    name: reader
    for module in (tables, commands, models, case_bases, streams, studio)
    for name, reader in module.READERS.items()
}
