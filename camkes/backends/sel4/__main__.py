# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Called by the CMake package:

python -m camkes.backends.sel4 generate PROJECT.json     before anything is compiled
python -m camkes.backends.sel4 calls PROJECT.json        when a source changed whose calls matter

`camkes.backends.sel4.link` is called when components are linked.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.process import leave

if TYPE_CHECKING:
    from camkes.diagnostics import Sink

GOOD, USER_ERROR = 0, 1


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="camkes.backends.sel4")
    commands = parser.add_subparsers(required=True)
    generate = commands.add_parser("generate")
    generate.add_argument("project", type=Path)
    generate.set_defaults(run=lambda a: _generate(a.project))
    calls = commands.add_parser("calls")
    calls.add_argument("project", type=Path)
    calls.set_defaults(run=lambda a: _calls(a.project))
    hide = commands.add_parser("hide")
    hide.add_argument("--objcopy", required=True)
    hide.add_argument("--nm", required=True)
    hide.add_argument("-o", "--output", type=Path, required=True)
    hide.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    hide.add_argument("--instance", action="append", default=[], type=Path, help="an object beside it")
    hide.add_argument("joined", type=Path)
    hide.add_argument("others", type=Path, nargs="*")
    hide.set_defaults(
        run=lambda a: _hide(a.objcopy, a.nm, a.joined, a.others, a.instance, _pairs(a.rename), a.output)
    )
    chosen = parser.parse_args(arguments)
    result: int = chosen.run(chosen)
    return result


def _pairs(texts: list[str]) -> dict[str, str]:
    return dict(text.split("=", 1) for text in texts)


def _generate(path: Path) -> int:
    from camkes.backends.sel4.build import generate
    from camkes.backends.sel4.project import Project
    from camkes.diagnostics import Sink

    sink = Sink()
    generate(Project.read(path), sink)
    _tell(sink)
    return USER_ERROR if sink.has_errors else GOOD


def _calls(path: Path) -> int:
    from camkes.backends.sel4.build import write_calls
    from camkes.backends.sel4.project import Project

    write_calls(Project.read(path))
    return GOOD


def _tell(sink: Sink) -> None:
    if not sink.diagnostics:
        return
    from camkes.diagnostics.rendering import Form, Style, render

    style = Style(form=Form.TEXT, color=sys.stderr.isatty(), unicode=True)
    sys.stderr.write(render(sink.diagnostics, style))


def _hide(
    objcopy: str,
    nm: str,
    joined: Path,
    others: list[Path],
    instances: list[Path],
    renamed: dict[str, str],
    output: Path,
) -> int:
    from camkes.backends.sel4.join import JoinError, hide

    try:
        hide(objcopy, nm, joined, others, instances, renamed, output)
    except JoinError as error:
        sys.stderr.write(f"camkes: error: {error}\n")
        return USER_ERROR
    return GOOD


if __name__ == "__main__":
    gc.disable()  # as for `camkes`
    leave(main())
