"""The check in docs/webhooks.md takes our messages, and nobody else's."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from annotator.core.signing import signature

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


def test_the_check_in_the_documentation_takes_our_messages_alone() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    program: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), program)
    now, body = int(time.time()), b'{"id": "1"}'

    def genuine(at: int, secret: str = "s", content: bytes = body) -> bool:
        headers = {
            "Stepmark-Timestamp": str(at),
            "Stepmark-Signature": f"sha256={signature(secret, at, body)}",
        }
        return bool(program["is_genuine"]("s", headers, content))

    assert genuine(now)
    assert not genuine(now, secret="another")
    assert not genuine(now, content=b'{"id": "2"}')
    assert not genuine(now - 3600)
