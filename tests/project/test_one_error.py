# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An error in C is reported once, without notes of what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Sink
from tests.project.support import HEAD, ROOT
from tests.written import write_files

pytestmark = pytest.mark.requirement("CHECK-6")

SYSTEM = """import <std_connector.camkes>;
procedure P { void f(); }
component Server { provides P p with priority_protocol inherited; }
component Client { control; requestor; uses P p; }
assembly {
    composition { component Client c; component Server s; connection seL4RPCCall x(from c.p, to s.p); }
    configuration { c._priority = 7; }
}
"""


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(("client", "code"), [("int run(void) { return x; }\n", "E0722"), (None, "E0708")])
def test_no_notes_before_an_error(client: str | None, code: str, tmp_path: Path) -> None:
    lists = (
        f"{HEAD}DeclareCAmkESComponent(Client SOURCES client.c)\n"
        f"DeclareCAmkESComponent(Server SOURCES server.c)\n{ROOT}"
    )
    write_files(tmp_path, {"CMakeLists.txt": lists, "app.camkes": SYSTEM, "server.c": "void p_f(void) {}\n"})
    if client is not None:
        (tmp_path / "client.c").write_text(client)
    sink = Sink()
    assert pipeline.build(pipeline.Input(tmp_path), tmp_path / "out", sink, lambda _: None) is None
    assert [d.code.number for d in sink.diagnostics] == [code]
