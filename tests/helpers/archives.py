"""What the tests of the container file are made of."""

import hashlib
import json
import re
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from whynear.utils.archive import ArchiveError, read_archive

HEADER = {"kind": "linear", "features": ["größe", "<b>", ""], "nested": {"a": [1, 2.5, None, True]}}
ARRAYS = {"omega": np.arange(12.0).reshape(3, 4), "labels": np.array([1, 0, 2], dtype=np.int32)}


def same(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


def is_the_good_one(path):
    header, arrays = read_archive(path)
    return header == HEADER and arrays.keys() == ARRAYS.keys() and all(same(arrays[k], ARRAYS[k]) for k in ARRAYS)


def refused(path, fault, error=ArchiveError):
    """Expect an error that names the file first and then the fault."""
    return pytest.raises(error, match=f"{re.escape(str(path))}.*{fault}")


def child(code, *arguments):
    """A fresh interpreter running ``code``."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def npy(*, descr="<f8", shape="(2,)", data=b"\0" * 16, length=None):
    """A ``.npy`` file with the given header and data."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text) if length is None else length) + text + data


def craft(path, members, /, *, compress=(), listed=None, change=lambda entries: None, **manifest):
    """A zip as an attacker writes it: checksums right, everything else as given."""
    listed = members if listed is None else listed
    sums = {n: {"sha256": hashlib.sha256(p).hexdigest(), "bytes": len(p)} for n, p in listed.items()}
    content = {"format": 1, "library": "whynear 0.1.0", "header": {}, "parts": sums, **manifest}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in {"manifest.json": json.dumps(content).encode(), **members}.items():
            file.writestr(name, data, zipfile.ZIP_DEFLATED if name in compress else zipfile.ZIP_STORED)
        change(file.filelist)
    return path
