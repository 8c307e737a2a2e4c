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
    Entry(17, ("__main__",), "starts the command"),
    Entry(16, ("cli",), "arguments, commands, exit statuses, progress, completion"),
    Entry(15, ("evidence",),
        "for assessors: of a system what its commands show, of the tool its requirements and their tests"),
    Entry(15, ("sweep",), "many settings of a system; many cases on many processors"),
    Entry(14, ("editor",),
        "the editor server: translates results of the lower layers to the Language Server Protocol"),
    Entry(14, ("experiments",), "replayed cases, measurements"),
    Entry(14, ("measuring",), "what operations cost on a machine: images, what they print, a profile"),
    Entry(14, ("doctor",), "what commands need on this machine, and how it is installed"),
    Entry(14, ("debugging",), "runs in gdb: where to stop, and what gdb needs to know"),
    Entry(14, ("testing",), "tests of a project: mocks, checks, what is expected, results"),
    Entry(14, ("exploration",), "all schedules of a system: the search, its report, a schedule to repeat"),
    Entry(13, ("debug_adapter",), "gdb for editors, by the Debug Adapter Protocol"),
    Entry(13, ("pipeline",), "find, load, plan, check, allocate, generate, build, run: one function a step"),
    Entry(12, ("plain",), "a system as plain CAmkES, for camkes-tool, and what that loses"),
    Entry(12, ("backends.sel4",), "builds for the seL4 kernel: what CMake compiles and links"),
    Entry(11, ("outcome",), "the results of a run: its report as text and as JSON, its trace as a file"),
    Entry(11, ("callgraph",), "what handlers call, found in their compiled code"),
    Entry(11, ("scaffold",),
        "new projects, from the files in its folder `projects`; new components; handlers that code lacks"),
    Entry(10, ("backends.host",), "compiling, linking, starting the host kernel; faults to C lines"),
    Entry(10, ("backends.interface",),
        "the interface between the pipeline and the kernels that systems are built for"),
    Entry(9, ("backends.upstream_templates",),
        "renders connectors from templates of their own, as camkes-tool does, for both kernels"),
    Entry(9, ("showing",), "tables, pictures, pages and JSON of plans, analyses and runs"),
    Entry(8, ("paths",), "bounds of the instructions of paths, from linked programs"),
    Entry(7, ("generate",), "typed contexts for `templates/`; writes a file only when it changed"),
    Entry(7, ("running",),
        "what a run did: its trace, decoded once: events, states, jobs; refusals; the words of times"),
    Entry(6, ("analysis",), "execution times, blocking, bounds, response times, witnesses"),
    Entry(6, ("capdl",), "kernel objects and capabilities: one model, from which both kernels boot"),
    Entry(6, ("project",), "the sources and flags of a system, as CMake declares them"),
    Entry(5, ("protocols",), "requests, closure, plan, checks"),
    Entry(5, ("resolve",), "imports, names, hierarchy, settings: syntax trees to a `System`"),
    Entry(4, ("format",), "the formatter of `.camkes` files"),
    Entry(4, ("model",),
        "`System`: frozen, typed; protocols, connectors, settings, units and limits, each fact once"),
    Entry(3, ("parser",), "preprocessor, grammar, syntax tree; its folder is `parser/`"),
    Entry(2, ("diagnostics",),
        "source files, spans, diagnostics, codes; text, JSON and SARIF; a page for each code"),
    Entry(1, ("cache", "documents", "files", "process", "resources", "sandbox", "watching"),
        "the user's cache; JSON for people; atomic writes of files; child processes and their sandbox;"
        " the paths of templates and C sources; changes of files"),
    Entry(0, ("check_certificate",), "checks certificates of response times; imports nothing else"),
    Entry(0, ("visible",), "text of others on its way to a person: what is hidden in it is spelled out"),
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
