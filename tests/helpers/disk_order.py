"""The order in which a process changes names and brings files and folders to the disk."""

import os
from pathlib import Path


def steps_on_disk(patch):
    """Return a list that gets every rename, removal and sync of this process, with the names of the files."""
    steps, real = [], {"fsync": os.fsync, "replace": os.replace, "unlink": os.unlink, "rmdir": os.rmdir}

    def synced(descriptor):
        steps.append(("sync", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        real["fsync"](descriptor)

    def replaced(old, new):
        steps.append(("move", Path(old).name, Path(new).name))
        real["replace"](old, new)

    def removing(name):
        def removed(path, **options):
            steps.append(("remove", Path(path).name))
            real[name](path, **options)

        return removed

    patch.setattr(os, "fsync", synced)
    patch.setattr(os, "replace", replaced)
    patch.setattr(os, "unlink", removing("unlink"))
    patch.setattr(os, "rmdir", removing("rmdir"))
    return steps
