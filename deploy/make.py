"""What the Makefile calls, and what to call where there is no make: python3 deploy/make.py demo

This file is written so that every Python since 2.7 can read it: an old one looks for a newer one on the PATH,
or says in one sentence that it is too old.
"""

from __future__ import print_function

import os
import subprocess
import sys

NEEDED = (3, 11)
NEWER = ["python3.13", "python3.12", "python3.11", "python3.14"]


def works(name):
    """Whether a program of this name is a Python that is new enough (a version manager's stub may not be)."""
    check = "import sys; sys.exit(sys.version_info < %r)" % (NEEDED,)
    try:
        with open(os.devnull, "w") as nowhere:
            return subprocess.call([name, "-c", check], stdout=nowhere, stderr=nowhere) == 0
    except OSError:
        return False


def main():
    if sys.version_info >= NEEDED:
        import tasks

        return tasks.main(sys.argv[1:])
    for name in NEWER:
        if works(name):
            os.execvp(name, [name] + sys.argv)
    print(
        "Stepmark needs Python 3.11 or newer and this is %d.%d: install python3.12, say, and try again."
        % sys.version_info[:2],
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
