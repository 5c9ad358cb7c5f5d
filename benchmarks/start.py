"""CPU seconds to start the library and its commands, each in a new process."""

import resource
import statistics
import subprocess
import sys
from typing import Any

from benchmarks import table

COMMAND = "import sys; sys.argv[0] = 'whynear'; from whynear.cli import main; main()"


def seconds(case: dict[str, Any]) -> float:
    """CPU seconds of one run, including the interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = [case["code"]] if "code" in case else [COMMAND, *case["words"]]
    subprocess.run([sys.executable, "-c", *code], capture_output=True, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    plan = table.load("start")
    runs: dict[str, list[float]] = {case["name"]: [] for case in plan["case"]}
    for _ in range(plan["runs"] + 1):  # in turn, so that other processes on the machine affect all cases equally
        for case in plan["case"]:
            runs[case["name"]].append(seconds(case))
    medians = {name: statistics.median(taken[1:]) for name, taken in runs.items()}
    reference = medians[plan["reference"]]
    rows = []
    for case in plan["case"]:
        median = medians[case["name"]]
        rows.append([case["name"], f"{median:.2f}", f"{median / reference:.2f}", case.get("target", "")])
    table.write("start", plan["title"], ["code or command", "CPU s", f"times {plan['reference']}", "target"], rows)


if __name__ == "__main__":
    main()
