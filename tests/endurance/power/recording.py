"""Records what a process does to the files of a folder, by stopping it at its system calls.

That is what ``strace`` does; here it takes Linux and nothing else, and also sees the calls of SQLite. Content that is
changed through mapped memory is not seen: SQLite does so only in the file with ``-shm``, which it makes again.
"""

import ctypes
import json
import multiprocessing
import os
import platform
import signal
import struct
import sys
import traceback

from tests.endurance.power.disk import ROOT, Made, Moved, Recording, Removed, Resized, Said, Synced, Written

TRACE_ME, NEXT_CALL, SET_OPTIONS, CALL_INFO = 0, 24, 0x4200, 0x420E  # requests of ptrace
OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x100000  # mark calls; follow forks and threads; end with this process
CALL_STOP = signal.SIGTRAP | 0x80
ENTERED = 1  # a call; otherwise it was left
INFO_BYTES = 88
ALL_KINDS = 0x40000000  # of children, also threads
HERE = -100  # instead of an open folder
CALLS = {
    "x86_64": {
        1: "write", 2: "open", 18: "pwrite", 20: "write", 40: "write", 74: "sync", 75: "sync", 76: "truncate",
        77: "resize", 82: "rename", 83: "mkdir", 84: "remove", 85: "creat", 87: "remove", 257: "openat",
        258: "mkdirat", 263: "removeat", 264: "renameat", 285: "resize", 296: "pwrite", 316: "renameat", 326: "copy",
    },
    "aarch64": {
        34: "mkdirat", 35: "removeat", 38: "renameat", 45: "truncate", 46: "resize", 47: "resize", 56: "openat",
        64: "write", 66: "write", 68: "pwrite", 70: "pwrite", 71: "write", 82: "sync", 83: "sync", 276: "renameat",
        285: "copy",
    },
}  # fmt: skip
IS_POSSIBLE = sys.platform == "linux" and platform.machine() in CALLS


class Recorder:
    """A process that records work, one after the other; it has everything imported, and no threads."""

    def __enter__(self):
        context = multiprocessing.get_context("forkserver")
        self._pipe, there = context.Pipe()
        self._process = context.Process(target=_record_all, args=(there,), daemon=False)
        self._process.start()
        there.close()
        return self

    def __exit__(self, *_):
        self._pipe.close()
        self._process.join()

    def recorded(self, work, folder, *arguments):
        """Record work, which is called with a folder, with what acknowledges a value, and with the arguments."""
        self._pipe.send((work, folder, arguments))
        return _or_error(self._pipe.recv())


def recorded_in_a_fork(work, folder, *arguments):
    """Record work of a process that is forked from this one, so that it need not prepare anything again."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_record, args=(work, folder, arguments, there))
    process.start()
    there.close()
    found = here.recv()
    process.join()
    return _or_error(found)


def _or_error(found):
    if isinstance(found, str):
        raise RuntimeError(f"the work was not recorded: {found}")
    return found


def _record_all(pipe):
    while True:
        try:
            wanted = pipe.recv()
        except EOFError:
            return
        _record(*wanted, pipe)


def _record(work, folder, arguments, pipe):
    try:
        pipe.send(_Tracer(os.path.realpath(folder)).record(work, arguments))
    except Exception:
        pipe.send(traceback.format_exc())


class _Tracer:
    """Follows one process, its threads and its children."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers, self.count = {}, 0  # by the inodes of files and folders
        self.operations = []
        self.begun = {}  # calls by their threads
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self.libc.ptrace.restype = ctypes.c_long

    def record(self, work, arguments):
        files, folders = self._scanned()
        self.saying = os.open(os.devnull, os.O_WRONLY)
        process = os.fork()
        if process == 0:
            self._work(work, arguments)
        self._follow(process)
        os.close(self.saying)
        return Recording(files, folders, self.operations)

    def _scanned(self):
        files, folders = {}, {}
        for path, inside, names in os.walk(self.folder):
            number = self._new_number(path)
            folders[number] = {}
            for name in (*names, *inside):
                folders[number][name] = self._new_number(os.path.join(path, name))
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    files[folders[number][name]] = file.read()
        assert self.numbers[os.stat(self.folder).st_ino] == ROOT
        return files, folders

    def _new_number(self, path, *, again=False):
        inode = os.stat(path).st_ino
        if again or inode not in self.numbers:
            self.numbers[inode] = ROOT + self.count
            self.count += 1
        return self.numbers[inode]

    def _work(self, work, arguments):
        try:
            self._ptrace(TRACE_ME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            work(self.folder, lambda value: os.write(self.saying, json.dumps(value).encode()), *arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _ptrace(self, request, thread, address=None, data=None):
        result = self.libc.ptrace(request, thread, address, data)
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"ptrace: {os.strerror(number)}")
        return result

    def _follow(self, process):
        os.waitpid(process, 0)
        self._ptrace(SET_OPTIONS, process, data=OPTIONS)
        self._ptrace(NEXT_CALL, process)
        while True:
            thread, status = os.waitpid(-1, ALL_KINDS)
            if os.WIFSTOPPED(status):
                self._stopped(thread, os.WSTOPSIG(status), status >> 16)
            elif thread == process:
                assert status == 0, "the work failed"
                return

    def _stopped(self, thread, number, event):
        if number == CALL_STOP:
            self._called(thread)
        passed_on = 0 if number in (CALL_STOP, signal.SIGSTOP) or event else number
        try:
            self._ptrace(NEXT_CALL, thread, data=passed_on)
        except ProcessLookupError:
            self.begun.pop(thread, None)

    def _called(self, thread):
        info = ctypes.create_string_buffer(INFO_BYTES)
        self._ptrace(CALL_INFO, thread, INFO_BYTES, info)
        if info.raw[0] == ENTERED:
            number, *values = struct.unpack_from("<7Q", info.raw, 24)
            if call := CALLS[platform.machine()].get(number):
                self.begun[thread] = (call, values, self._paths(thread, call, values))
        elif thread in self.begun:
            (result,) = struct.unpack_from("<q", info.raw, 24)
            call, values, paths = self.begun.pop(thread)
            if result >= 0:
                getattr(self, f"_{call}")(thread, values, paths, result)

    def _paths(self, thread, call, values):
        """Return the paths that a call names, each with whether it exists before."""
        match call:
            case "open" | "creat" | "truncate" | "mkdir" | "remove":
                places = [(HERE, values[0])]
            case "openat" | "mkdirat" | "removeat":
                places = [(values[0], values[1])]
            case "rename":
                places = [(HERE, values[0]), (HERE, values[1])]
            case "renameat":
                places = [(values[0], values[1]), (values[2], values[3])]
            case _:
                return []
        paths = [self._path(thread, *place) for place in places]
        return [(path, os.path.lexists(path)) for path in paths]

    def _path(self, thread, descriptor, address):
        path = os.fsdecode(self._memory(thread, address))
        if not os.path.isabs(path):
            descriptor = ctypes.c_int(descriptor & 0xFFFFFFFF).value
            base = "cwd" if descriptor == HERE else f"fd/{descriptor}"
            path = os.path.join(os.readlink(f"/proc/{thread}/{base}"), path)
        folder, name = os.path.split(os.path.normpath(path))
        return os.path.join(os.path.realpath(folder), name)

    def _memory(self, thread, address, size=None):
        """Return that many bytes, or those before a zero."""
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            if size is not None:
                return memory.read(size)
            text = b""
            while b"\0" not in text:
                text += memory.read(256 - memory.tell() % 256)  # not beyond the page
            return text[: text.index(b"\0")]

    def _is_inside(self, path):
        return path.startswith(self.folder + os.sep)

    def _place(self, path):
        """Return the number of the folder of a path, and its name there."""
        folder, name = os.path.split(path)
        return self.numbers[os.stat(folder).st_ino], name

    def _open_file(self, thread, descriptor):
        """Return the number of an open file; None if it is not in the folder."""
        link = f"/proc/{thread}/fd/{ctypes.c_int(descriptor & 0xFFFFFFFF).value}"
        path = os.readlink(link)
        return self.numbers.get(os.stat(link).st_ino) if path == self.folder or self._is_inside(path) else None

    def _opened(self, path, existed, flags, thread, descriptor):
        if not self._is_inside(path):
            return
        if flags & os.O_TMPFILE == os.O_TMPFILE:  # it has no name, and perhaps the inode of a removed one
            self.numbers.pop(os.stat(f"/proc/{thread}/fd/{descriptor}").st_ino, None)
        elif flags & os.O_CREAT and not existed:
            self.operations.append(Made(*self._place(path), self._new_number(path, again=True), False))
        elif flags & os.O_TRUNC:
            self.operations.append(Resized(self._new_number(path), 0))

    def _open(self, thread, values, paths, result):
        self._opened(*paths[0], values[1], thread, result)

    def _openat(self, thread, values, paths, result):
        self._opened(*paths[0], values[2], thread, result)

    def _creat(self, thread, values, paths, result):
        self._opened(*paths[0], os.O_CREAT | os.O_TRUNC, thread, result)

    def _write(self, thread, values, paths, result):
        if values[0] == self.saying:
            self.operations.append(Said(json.loads(self._memory(thread, values[1], result))))
            return
        self._written(thread, values[0], None, result)

    def _pwrite(self, thread, values, paths, result):
        self._written(thread, values[0], values[3], result)

    def _copy(self, thread, values, paths, result):
        self._written(thread, values[2], None, result)

    def _written(self, thread, descriptor, start, size):
        """Note what was written; without a start, it ends where the file is now."""
        number = self._open_file(thread, descriptor)
        if number is None or not size:
            return
        if start is None:
            with open(f"/proc/{thread}/fdinfo/{descriptor}") as lines:
                start = int(lines.readline().split()[1]) - size
        with open(f"/proc/{thread}/fd/{descriptor}", "rb", buffering=0) as file:
            file.seek(start)
            self.operations.append(Written(number, start, file.read(size)))

    def _sync(self, thread, values, paths, result):
        if (number := self._open_file(thread, values[0])) is not None:
            self.operations.append(Synced(number))

    def _resize(self, thread, values, paths, result):
        if (number := self._open_file(thread, values[0])) is not None:
            size = os.stat(f"/proc/{thread}/fd/{values[0]}").st_size
            self.operations.append(Resized(number, size))

    def _truncate(self, thread, values, paths, result):
        if self._is_inside(path := paths[0][0]):
            self.operations.append(Resized(self._new_number(path), os.stat(path).st_size))

    def _mkdir(self, thread, values, paths, result):
        if self._is_inside(path := paths[0][0]):
            self.operations.append(Made(*self._place(path), self._new_number(path, again=True), True))

    def _remove(self, thread, values, paths, result):
        if self._is_inside(path := paths[0][0]):
            self.operations.append(Removed(*self._place(path)))

    def _rename(self, thread, values, paths, result):
        (old, _), (new, _) = paths
        if self._is_inside(old) or self._is_inside(new):
            self.operations.append(Moved(*self._place(old), *self._place(new), self._new_number(new)))

    _mkdirat, _removeat, _renameat = _mkdir, _remove, _rename
