import subprocess
import sys

import whynear as wn


def test_the_module_is_the_command():
    words = [sys.executable, "-m", "whynear", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert wn.__version__ in done.stdout
