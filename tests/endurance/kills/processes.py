"""Processes that are started to be killed."""

import multiprocessing
import os
import signal
import sys

PATIENCE = 300  # seconds, on a busy machine
CHANGES_BESIDE = ("os.remove", "os.rmdir")  # also named relative to a folder that is being removed
CHANGES = ("open", "os.rename", "os.mkdir", "shutil.rmtree", *CHANGES_BESIDE)


def fork_server():
    """Return a context whose processes are forked from a server that has everything imported, and no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.endurance.kills.work"])
    return context


def kill_at_operation(folder, number):
    """Let this process be killed right before an operation on a file of a folder; return the list of those done."""
    done = []

    def count(event, arguments):
        if event in CHANGES and (event in CHANGES_BESIDE or str(arguments[0]).startswith(str(folder))):
            done.append(event)
            if len(done) == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    return done


class Victim:
    """A process that reports through a pipe until it is killed."""

    def __init__(self, context, work, *arguments):
        self.pipe, there = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(*arguments, there), daemon=False)
        self.process.start()
        there.close()

    def heard(self, seconds=PATIENCE):
        """Return the next report; None if there is none in time, or the process has ended."""
        try:
            return self.pipe.recv() if self.pipe.poll(seconds) else None
        except EOFError:
            return None

    def ended(self, seconds):
        """Wait so long for the end of the process; return its exit code, None if it still works."""
        self.process.join(seconds)
        return self.process.exitcode

    def kill(self):
        """Kill the process; return what it had reported before and nobody had read."""
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(PATIENCE)
        reports = []
        while True:
            try:
                if not self.pipe.poll(0):
                    break
                reports.append(self.pipe.recv())
            except (EOFError, OSError):
                break
        self.pipe.close()
        return reports
