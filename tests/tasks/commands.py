"""Commands as the shell would run them, but in this process."""

from __future__ import annotations

import io
import json
from typing import Any

from django.core.management import CommandError, load_command_class

DONE, CHECK_FAILED, UNUSABLE = 0, 1, 2


class Ended:
    """How a command ended: its exit status, and what it printed."""

    def __init__(self, name: str, *arguments: object) -> None:
        out, err = io.StringIO(), io.StringIO()
        command = load_command_class("annotator", name)
        command._called_from_command_line = True
        self.status: int | str | None = DONE
        try:
            options = vars(command.create_parser("manage.py", name).parse_args(list(map(str, arguments))))
            command.execute(**options | {"stdout": out, "stderr": err, "args": ()})
        except CommandError as error:
            self.status = error.returncode
            err.write(str(error))
        except SystemExit as exit_:
            self.status = exit_.code
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout; anything beside it fails here."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value
