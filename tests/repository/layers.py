# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The layers of the Python code: what each module does, and what it may import."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """Modules of one layer with one purpose. Several of them do not import each other."""

    layer: int
    modules: tuple[str, ...]  # below `camkes`
    purpose: str


#: From the top down. A module may import its own package and those of lower layers.
LAYERS = (
    Entry(13, ("__main__",), "starts the command"),
    Entry(12, ("cli",), "arguments, commands, exit statuses, progress, completion"),
    Entry(11, ("editor",), "the editor server: answers of the lower layers in the words of the protocol"),
    Entry(11, ("experiments",), "what is done with many runs: cases replayed, task sets, measurements"),
    Entry(11, ("exploration",), "all schedules of a system: the search, its report, a schedule to repeat"),
    Entry(10, ("pipeline",), "find, load, plan, check, allocate, generate, build, run: one function a step"),
    Entry(9, ("backends.sel4",),
        "builds for the seL4 kernel: what CMake compiles and links; `upstream_templates/` renders connectors"
        " from templates of their own, as camkes-tool would"),
    Entry(8, ("outcome",), "what a run came to: its report as text and as JSON, its trace as a file"),
    Entry(8, ("callgraph",), "what handlers call, read off their compiled code"),
    Entry(8, ("migrate",), "applications of the priority-aware-camkes library to native words"),
    Entry(7, ("backends.host",), "compiling, linking, starting the host kernel; faults to C lines"),
    Entry(7, ("backends.interface",), "what the pipeline asks of a kernel that a system is built for"),
    Entry(6, ("generate",), "typed contexts for `templates/`; writes a file only when it changed"),
    Entry(6, ("report",),
        "`trace/`: one decoded model of a run, and its properties; `draw/`: pictures, tables, JSON"),
    Entry(5, ("analysis",), "execution times, blocking, bounds, response times, witnesses"),
    Entry(5, ("capdl",), "kernel objects and capabilities: one model, two writers"),
    Entry(5, ("project",), "which sources and flags belong to a system: CMake is asked"),
    Entry(4, ("protocols",), "requests, closure, plan, checks"),
    Entry(4, ("resolve",), "imports, names, hierarchy, settings: syntax trees to a `System`"),
    Entry(3, ("format",), "one layout for `.camkes` files"),
    Entry(3, ("model",),
        "`System`: frozen, typed; protocols, connectors, settings, units and limits, each fact once"),
    Entry(2, ("parser",), "preprocessor, grammar, syntax tree; its folder is `parser/`"),
    Entry(1, ("diagnostics",),
        "source files, spans, diagnostics, codes; text, JSON and SARIF; a page for each code"),
    Entry(0, ("cache", "files", "process", "resources", "sandbox"),
        "the user's cache; files written whole; programs, and those that are confined;"
        " where templates and C sources are"),
)  # fmt: skip

#: The layer of each module or package, by its full name. The longest name that fits counts.
LAYER_OF = {"camkes": 0, "camkes.backends": 0} | {
    f"camkes.{module}": entry.layer for entry in LAYERS for module in entry.modules
}


def table() -> str:
    """The layers as docs/architecture.md shows them."""
    lines = ["| layer | module | purpose |", "|---|---|---|"]
    for entry in LAYERS:
        names = ", ".join(f"`{module}`" for module in entry.modules)
        lines.append(f"| {entry.layer} | {names} | {entry.purpose} |")
    return "\n".join(lines) + "\n"
