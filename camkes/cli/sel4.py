# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Called by the CMake package:

python -m camkes.cli.sel4 generate PROJECT.json     before anything is compiled
python -m camkes.cli.sel4 calls PROJECT.json        when a source changed whose calls matter
python -m camkes.cli.sel4 theories ...              for proofs, after all is linked
python -m camkes.cli.sel4 hide ...                  when components share an address space

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


def main(words: Sequence[str] | None = None) -> int:
    """Run one of the commands; returns the exit status."""
    parser = argparse.ArgumentParser(prog="camkes.cli.sel4")
    commands = parser.add_subparsers(required=True)
    for name, run in (("generate", _generate), ("calls", _calls)):
        command = commands.add_parser(name)
        command.add_argument("project", type=Path)
        command.set_defaults(run=run)
    theories = commands.add_parser("theories")
    theories.add_argument("project", type=Path)
    theories.add_argument("--templates", type=Path, required=True, help="those of camkes-tool")
    theories.add_argument("--labels", type=Path, required=True)
    theories.add_argument("-o", "--output", type=Path, required=True)
    theories.set_defaults(run=_theories)
    hide = commands.add_parser("hide")
    hide.add_argument("--objcopy", required=True)
    hide.add_argument("--nm", required=True)
    hide.add_argument("-o", "--output", type=Path, required=True)
    hide.add_argument("--rename", action="append", default=[], metavar="OLD=NEW")
    hide.add_argument("--instance", action="append", default=[], type=Path, help="an object beside it")
    hide.add_argument("joined", type=Path)
    hide.add_argument("others", type=Path, nargs="*")
    hide.set_defaults(run=_hide)
    arguments = parser.parse_args(words)
    status: int = arguments.run(arguments)
    return status


def _generate(arguments: argparse.Namespace) -> int:
    from camkes.backends.sel4.project import Project
    from camkes.diagnostics import Sink
    from camkes.pipeline import generate_for_sel4

    sink = Sink()
    generate_for_sel4(Project.read(arguments.project), sink)
    return _reported(sink)


def _theories(arguments: argparse.Namespace) -> int:
    from camkes.backends.sel4.project import Project
    from camkes.backends.sel4.theories import write_theories
    from camkes.diagnostics import Sink
    from camkes.pipeline import load_project

    sink = Sink()
    system = load_project(Project.read(arguments.project), sink)
    if system is not None:
        sink = Sink()  # the rest was reported when it was generated
        write_theories(system, arguments.templates, arguments.labels, arguments.output, sink)
    return _reported(sink)


def _reported(sink: Sink) -> int:
    """Print what was found; the exit status."""
    if sink.diagnostics:
        from camkes.diagnostics.rendering import Form, Style, render

        style = Style(form=Form.TEXT, color=sys.stderr.isatty(), unicode=True)
        sys.stderr.write(render(sink.diagnostics, style))
    return USER_ERROR if sink.has_errors else GOOD


def _calls(arguments: argparse.Namespace) -> int:
    from camkes.backends.sel4.project import Project
    from camkes.pipeline import calls_for_sel4

    calls_for_sel4(Project.read(arguments.project))
    return GOOD


def _hide(arguments: argparse.Namespace) -> int:
    from camkes.backends.sel4.join import JoinError, hide

    renamed = dict(text.split("=", 1) for text in arguments.rename)
    try:
        hide(
            arguments.objcopy,
            arguments.nm,
            arguments.joined,
            arguments.others,
            arguments.instance,
            renamed,
            arguments.output,
        )
    except JoinError as error:
        sys.stderr.write(f"camkes: error: {error}\n")
        return USER_ERROR
    return GOOD


if __name__ == "__main__":
    gc.disable()  # as for `camkes`
    leave(main())
