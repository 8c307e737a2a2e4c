# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes settings back into the `.camkes` files of a system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from camkes.analysis.codes import NOT_WRITTEN
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.files import OutputError, write_all
from camkes.model.system import System
from camkes.pipeline import Checked

#: What a value that is replaced looks like: a number, and a unit.
_LITERAL = re.compile(r"\d+\s*(?:[num]?s)?")

_CONFIGURATION = re.compile(r"\bconfiguration\b[^{;]*\{")
_HIDDEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)


class _SettingEdit(Struct, frozen=True):
    start: int
    end: int
    text: str


def write_settings(checked: Checked, values: Mapping[tuple[str, str], str], sink: Sink) -> tuple[Path, ...]:
    """Give settings, as (instance, name): text, their values in the text: in the place of a number that is
    there, or else as a new line of the last configuration of the root file. Nothing is written if one of them
    cannot be: that is an error. Returns the files that changed. Raises OutputError."""
    edits: dict[SourceFile, list[_SettingEdit]] = {}
    missing: list[str] = []
    for (instance, name), text in values.items():
        span = _stated(checked.system, instance, name)
        if span is None:
            missing.append(f"{instance}.{name} = {text};")
            continue
        start, end = (
            _offset(span.file, span.line, span.column),
            _offset(span.file, span.end_line, span.end_column),
        )
        before = re.search(rf"\b{re.escape(name)}\s*=\s*\Z", span.file.text[max(start - 200, 0) : start])
        if before is None or not _LITERAL.fullmatch(span.file.text[start:end]):
            sink.report(
                NOT_WRITTEN,
                f"`{instance}.{name}` is not written as a number, so it cannot be replaced",
                span,
                help=f"write {text} yourself",
            )
        edits.setdefault(span.file, []).append(_SettingEdit(start, end, text))
    root = next((file for file in checked.system.files if file.path == checked.application.root), None)
    if missing and root is not None:
        edits.setdefault(root, []).append(_added(root, missing))
    _report_shared(edits, sink)
    if sink.has_errors:
        return ()
    return _apply(edits, sink)


def _stated(system: System, instance: str, name: str) -> Span | None:
    found = next((each for each in system.instances if each.name == instance), None)
    setting = found.settings.get(name) if found is not None else None
    return setting.span if setting is not None else None


def _offset(file: SourceFile, line: int, column: int) -> int:
    return sum(len(each) + 1 for each in file.lines[: line - 1]) + column - 1


def _added(file: SourceFile, lines: list[str]) -> _SettingEdit:
    """New lines at the end of the last configuration, or a configuration at the end of the assembly."""
    shown = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), file.text)
    opened = list(_CONFIGURATION.finditer(shown))
    if not opened:
        place = shown.rindex("}")
        body = "".join(f"        {line}\n" for line in lines)
        return _SettingEdit(place, place, f"    configuration {{\n{body}    }}\n")
    depth, place = 1, opened[-1].end()
    while depth:
        depth += {"{": 1, "}": -1}.get(shown[place], 0)
        place += 1
    end = shown.rfind("\n", 0, place) + 1
    if shown[end : place - 1].strip():  # all in one line
        return _SettingEdit(place - 1, place - 1, "".join(f"{line} " for line in lines))
    return _SettingEdit(end, end, "".join(f"        {line}\n" for line in lines))


def _report_shared(edits: Mapping[SourceFile, list[_SettingEdit]], sink: Sink) -> None:
    """One place in the text can be the setting of several instances: then they need the same value."""
    for file, those in edits.items():
        texts: dict[tuple[int, int], set[str]] = {}
        for edit in those:
            texts.setdefault((edit.start, edit.end), set()).add(edit.text)
        for (start, end), different in texts.items():
            if len(different) > 1:
                line = file.text.count("\n", 0, start) + 1
                column = start - (file.text.rfind("\n", 0, start) + 1) + 1
                sink.report(
                    NOT_WRITTEN,
                    "several instances have this setting, and they need different values: "
                    + ", ".join(sorted(different)),
                    Span(file, line, column, line, column + end - start),
                    help="give each instance a setting of its own",
                )


def _apply(edits: Mapping[SourceFile, list[_SettingEdit]], sink: Sink) -> tuple[Path, ...]:
    written: list[tuple[Path, bytes]] = []
    for file, those in edits.items():
        text = file.text
        if file.path.read_bytes() != text.encode():
            sink.report(
                NOT_WRITTEN, f"{file.path} is not plain UTF-8 text, or has changed; nothing was written"
            )
            return ()
        for edit in sorted(set(those), key=lambda each: each.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        written.append((file.path, text.encode()))
    try:
        write_all(written)
    except OSError as error:
        raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
    return tuple(path for path, _ in written)
