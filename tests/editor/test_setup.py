# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The server is an extra: without it the tool works, and says what to install."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.requirement("TOOL-8")

WITHOUT = """
import sys
sys.modules["{}"] = None

import pytest

from camkes.cli.main import main
sys.exit(main(["lsp"]))
"""


def test_without_the_extra_there_is_one_clear_line() -> None:
    for missing in ("pygls", "lsprotocol"):
        result = subprocess.run(
            [sys.executable, "-c", WITHOUT.format(missing)], capture_output=True, text=True, input=""
        )
        assert result.returncode == 1
        assert f"{sys.executable} -m pip install 'pygls>=2,<3' lsprotocol" in result.stderr
        assert "Traceback" not in result.stderr


def test_other_commands_do_not_load_it() -> None:
    code = "import sys; from camkes.cli.main import main; main(['explain'])\n"
    code += "print([name for name in sys.modules if 'pygls' in name or 'editor' in name])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.endswith("[]\n")


@pytest.mark.long
def test_an_editor_that_disconnects_without_exit_is_an_error() -> None:
    def message(method: str, number: int | None = None) -> bytes:
        text = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {"capabilities": {}}})
        if number is None:
            text = json.dumps({"jsonrpc": "2.0", "method": method})
        return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()

    begin, goodbye, leave = message("initialize", 1), message("shutdown", 2), message("exit")
    for said, status in ((begin + goodbye + leave, 0), (begin + leave, 1)):
        done = subprocess.run([sys.executable, "-m", "camkes", "lsp"], input=said, capture_output=True)
        assert done.returncode == status
