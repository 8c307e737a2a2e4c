# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A server with one CPI with the code of a test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Diagnostic, Sink
from camkes.diagnostics.rendering import Style, render

SYSTEM = """\
import <std_connector.camkes>;
procedure P { int f(in int x); }
component Task { control; requestor; uses P p; }
component Server {
    provides P p with priority_protocol inherited%s;
    provides P q with priority_protocol inherited;
    uses P next;
    uses P log;
}
component Leaf { provides P p with priority_protocol fixed; }
assembly {
    composition {
        component Task t;
        component Task u;
        component Server s;
        component Leaf leaf;
        component Leaf logger;
        connection seL4RPCCall to_p(from t.p, to s.p);
        connection seL4RPCCall to_q(from u.p, to s.q);
        connection seL4RPCCall to_leaf(from s.next, to leaf.p);
        connection seL4RPCCall to_logger(from s.log, to logger.p);
    }
    configuration { t._priority = 10; u._priority = 20; }
}
"""


@dataclass(frozen=True)
class Seen:
    """What a build found out and said."""

    checked: pipeline.Checked | None
    diagnostics: tuple[Diagnostic, ...]
    folder: Path

    @property
    def codes(self) -> list[str]:
        return [d.code.number for d in self.diagnostics]

    @property
    def text(self) -> str:
        return render(self.diagnostics, Style(base=self.folder))

    def calls(self, cpi: str) -> tuple[list[str], str]:
        """What a CPI calls according to the plan, and how that is known."""
        assert self.checked is not None, self.text
        found = [r for r in self.checked.plan.requests if r.caller == cpi]
        return [r.via for r in found], " ".join(dict.fromkeys(r.source for r in found))


Look = Callable[..., Seen]


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Compiles sources of the server (`server` or files by name) and plans with what they call."""

    def see(
        server: str = "", files: dict[str, str] | None = None, clause: str = "", system: str = SYSTEM
    ) -> Seen:
        folder = tmp_path / "app"
        shutil.rmtree(folder / "Server", ignore_errors=True)
        texts = {
            "a.camkes": system % clause,
            "Task/task.c": "#include <camkes.h>\nint run(void) { return p_f(1); }\n",
            "Leaf/leaf.c": "#include <camkes.h>\nint p_f(int x) { return x; }\n",
            **{f"Server/{name}": text for name, text in (files or {"server.c": server}).items()},
        }
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                text if name.endswith(("s", "S")) or "include" in text else f"#include <camkes.h>\n{text}"
            )
        sink = Sink()
        checked = pipeline.check_code(
            pipeline.Input(folder / "a.camkes"), tmp_path / "out", sink, lambda _: None
        )
        return Seen(checked, sink.diagnostics, folder)

    return see
