"""Text that would harm whoever evaluates it: each is dealt with in its time, and none is executed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from annotator.core import symbolic
from annotator.core.answers import final_answer, same_answer
from annotator.core.checks import check_equations
from annotator.core.identities import check_all
from annotator.core.symbolic import Symbolic
from annotator.core.symbolic.jail import Forbidden

ROOT = Path(__file__).parents[2]
#: Seconds of computing within which the child ends itself, rounded up, with a start of another on a busy machine.
PATIENCE = symbolic.SECONDS + symbolic.START_SECONDS

CODE = [
    "__import__('os').system('touch {file}')",
    "().__class__.__bases__[0].__subclasses__()",
    "open('{file}','w')",
    "\\text{{__import__('os').system('touch {file}')}}",
    "exec(\"open('{file}','w')\")",
    "(lambda: open('{file}','w'))()",
    "x.__class__",
    "S('open(chr(47))')",
    "\\operatorname{{eval}}(1)",
    "\\input{{{file}}} \\write18{{touch {file}}}",
    'f\'{{open("{file}","w")}}\'',
]
BOMBS = [
    "9**9**9",
    "9^{9^9}",
    "9^9^9^9",
    "2^{2^{2^{2^{2^2}}}}",
    "10^{99999999}",
    "999999!",
    "1000!!!",
    "\\binom{10^9}{10^8}",
    "\\sum_{i=1}^{10^{12}} i^{i}",
    "\\frac{1}{" * 50 + "x" + "}" * 50,
    "(" * 5_000 + "x" + ")" * 5_000,
    "{" * 5_000 + "x" + "}" * 5_000,
    "-" * 100_000 + "1",
    "x" * 1_000_000,
    "1" * 1_000_000,
    "\\sqrt" * 10_000,
    "{{{{",
    "}}}}",
    "\\boxed{" * 1_000,
    "\\left(\\left(",
    "a\x00b",
    "\x00",
    "\ud800",
    "٣٣٣",
    "\\frac{}{}",
    "\\",
    "",
]


@pytest.fixture
def server() -> Symbolic:
    """The one that all of this process use, asked without what it remembers."""
    return symbolic._shared


@pytest.mark.parametrize("code", CODE)
def test_nothing_is_executed(code: str, tmp_path: Path, server: Symbolic) -> None:
    file = tmp_path / "pwned"
    text = code.format(file=file)
    server.same(text, "1")
    server.identity(text, "1")
    same_answer("12", text)
    check_all(f"${text} = 1$ and {text} = 1")
    assert not file.exists()


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_every_bomb_is_dealt_with_in_its_time(bomb: str, server: Symbolic) -> None:
    began = time.monotonic()
    server.identity(bomb, "1")
    assert time.monotonic() - began < PATIENCE
    assert server.same("x+1", "1+x") is True  # and the next question is answered


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_bombs_have_no_verdict_without_the_server(bomb: str) -> None:
    assert all(check.verdict != "does_not_hold" for check in check_equations(f"{bomb} = 1"))
    final_answer(bomb)
    final_answer("\\boxed{" + bomb)


def test_a_child_over_its_limits_ends_and_another_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends itself when it computes too long; its client kills it when it is too slow."""
    monkeypatch.setattr(symbolic, "_askable", lambda _: True)
    server = Symbolic(seconds=300.0)  # so that it can only be the child's own limit that ends the first one
    try:
        assert server.identity("9^{9^{9^9}}", "1") is None
        assert server.same("x+1", "1+x") is True
        assert server.starts == 2
        server.seconds = 0.0
        assert server.identity("(x+1)^2", "x^2+2x+1") is None
        server.seconds = 300.0
        assert server.identity("(x+1)^2", "x^2+2x+1") is True
        assert server.starts == 3
    finally:
        server.close()


def test_only_the_clock_is_no_answer_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine says nothing of the question; a child that ended itself over it does."""
    answers = iter([TimeoutError, None, True])

    def ask(*_: str) -> bool | None:
        answer = next(answers)
        if answer is TimeoutError:
            raise TimeoutError
        return answer

    monkeypatch.setattr(symbolic._shared, "ask", ask)
    question = ("a question that nobody else asks", "1")
    assert [symbolic.same(*question) for _ in range(3)] == [None, None, None]
    assert next(answers) is True


@pytest.mark.parametrize(
    "act",
    [
        "eval('1+1')",
        "exec('1')",
        "import os; os.system('true')",
        "import subprocess; subprocess.run(['true'])",
        "import socket; socket.socket()",
        "open('/etc/passwd')",
        "open('x', 'w')",
        "import os; os.fork()",
        "import ctypes; ctypes.CDLL(None)",
        "x = bytearray(2**31)",
    ],
)
def test_the_jail_refuses(act: str) -> None:
    """Also were a library to evaluate what it is given, there is nothing that the process may do."""
    script = (
        "import sys\nfrom annotator.core.symbolic import jail\nact = compile(sys.argv[1], 'act.py', 'exec')\n"
        "jail.lock()\ntry:\n    exec(act)\nexcept (jail.Forbidden, MemoryError) as error:\n"
        "    print(type(error).__name__)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, act], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() in {Forbidden.__name__, "MemoryError"}, ran.stderr


def test_the_child_sees_nothing_of_the_environment(server: Symbolic) -> None:
    assert server.same("x+1", "1+x") is True
    assert server._child is not None
    environment = Path(f"/proc/{server._child.pid}/environ").read_bytes().split(b"\0")
    names = {one.partition(b"=")[0].decode() for one in environment if one}
    assert names == {"PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "LANG", "OMP_NUM_THREADS"}
