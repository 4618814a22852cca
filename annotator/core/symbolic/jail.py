"""What the process that computes with somebody's text may do: read modules, compute, and answer. Nothing else.

Its text is parsed by grammars and never evaluated as Python. The jail is for what a library might do nevertheless (it
found one that evaluated its numbers): an audit hook refuses processes, sockets, writing, and compiling anything that
is not a module's file.
"""

from __future__ import annotations

import os
import resource
import sys
from typing import Any

#: Bytes of address space; sympy and math-verify take about 150 MB of it.
MEMORY = 768 * 2**20
FILES = 64

_REFUSED = (
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "os.kill", "os.putenv",
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink",
    "os.truncate", "os.listdrives", "subprocess.", "socket.", "ctypes.", "shutil.", "tempfile.", "urllib.", "http.",
    "ftplib.", "smtplib.", "webbrowser.", "pty.", "signal.", "pickle.",
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MODULES = (".py", ".pyc", ".so", ".pyd")


class Forbidden(RuntimeError):
    """Something that no computation needs."""


def lock(memory: int = MEMORY) -> None:
    """Shut the door; it can't be opened again. Call it once all that is needed has been imported."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    sys.addaudithook(_refuse)


def allow_seconds(seconds: int) -> None:
    """The system ends this process once it has computed for ``seconds`` more (whole seconds, rounded up)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in {"open", "compile", "exec"}:
        if not _harmless(event, arguments):
            raise Forbidden(event)
    elif event.startswith(_REFUSED):
        raise Forbidden(event)


def _harmless(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a file is only read and is a module's, or code comes from such a file."""
    if event == "exec":
        name = getattr(arguments[0], "co_filename", "")
        return name.endswith(_MODULES) or name.startswith("<frozen ")
    if event == "compile":
        return isinstance(arguments[1], str) and arguments[1].endswith(_MODULES)
    path, _mode, flags = arguments
    return str(path).endswith(_MODULES) and not (isinstance(flags, int) and flags & _WRITING)
