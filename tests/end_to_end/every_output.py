# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Everything that the tool writes about a system short of compiling, as "digest name" lines.

    python -m tests.end_to_end.every_output FOLDER SYSTEM...

A file with errors gives its diagnostics only. `test_determinism` runs this with several hash seeds.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from camkes import pipeline
from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.spec import unlinked
from camkes.capdl import authority
from camkes.capdl.host_table import host_table
from camkes.capdl.size import planned_size
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering.machine import to_json, to_sarif
from camkes.generate import generate
from camkes.model.dump import dump_text
from camkes.showing import plan_json, plan_tables, sizes
from camkes.showing.draw.graph import graph_dot
from camkes.showing.draw.graph_svg import graph_svg
from camkes.showing.draw.treemap import treemap_svg


def outputs(path: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """The name and the text of each output."""
    sink = Sink()
    checked = pipeline.check(pipeline.Input(path), sink)
    yield "diagnostics", to_json(sink.diagnostics, str)
    yield "sarif", to_sarif(sink.diagnostics, str)
    if checked is None or sink.has_errors:
        return
    system, plan = checked.system, checked.plan
    yield "system", dump_text(system, places=True)
    yield "plan", plan_json.to_json(plan)
    yield "plan as text", plan_tables.to_text(plan)
    yield "graph", graph_dot(plan, system)
    yield "picture", graph_svg(plan, system)
    model = pipeline.capabilities(checked, sink)
    yield "authority", authority.to_json(authority.authority(system, plan, model))
    size = planned_size(model, {space.name: 1 << 20 for space in model.spaces})
    yield "size", sizes.to_json(size, built=False)
    yield "treemap", treemap_svg(size, path.stem)
    yield "boot table", host_table(model, {space.name: f"{space.name}.so" for space in model.spaces})
    yield "capDL", unlinked(complete(model), "x86_64").write().hex()
    for file in generate(system, plan, model, folder, sink):
        yield str(file.path.relative_to(folder)), file.path.read_text(encoding="utf-8")


def main() -> None:
    folder = Path(sys.argv[1])
    for number, name in enumerate(sys.argv[2:]):
        for output, text in outputs(Path(name), folder / str(number)):
            print(hashlib.sha256(text.encode()).hexdigest()[:16], Path(name).name, output)


if __name__ == "__main__":
    main()
