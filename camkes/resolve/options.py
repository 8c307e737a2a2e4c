# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a caller can choose about loading a system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.system import Value
from camkes.parser.files import read_meaning
from camkes.parser.parse import ParsedFiles

if TYPE_CHECKING:
    from typing import TypeAlias

#: How the text of a file is found: as `read_meaning` does it, or from the buffers of an editor.
Read: TypeAlias = Callable[[Path, Sink, Span | None], SourceFile | None]


class Override(Struct, frozen=True):
    """A setting that takes the place of that of the configuration. `instance` is the full name of an instance
    or connection. The spans are where the user gave each part."""

    instance: str
    attribute: str
    value: Value
    unit: str | None
    instance_span: Span
    attribute_span: Span
    value_span: Span


class NoTreeError(Exception):
    """Why there is no device tree; what the message tells of is `the device tree`."""


class LoadOptions(Struct, frozen=True, kw_only=True):
    """How a system is loaded.

    `import_path` is searched in order for `import <name>`, before the built-in files. `cpp` runs the
    preprocessor `cpp_bin` on each file, with `cpp_flags` (-D, -I, ...) as they stand and the folders of
    `include_path`. `dtb` and `gpio_list` are the files for the queries `dtb(...)` and `gpio(...)`;
    `platform_tree` finds the device tree where none is named, or raises NoTreeError.
    `allow_forward_references` lets a name be used before the line that defines it. `mcs`: the kernel is an
    MCS kernel. Files of the folder `substitutes` take the place of those that `import <name>` finds in the
    import path. `read` gives the text of a file; `parsed` has the trees of files that were read before.
    """

    import_path: tuple[Path, ...] = ()
    cpp: bool = True
    cpp_bin: str = "cpp"
    cpp_flags: tuple[str, ...] = ()
    include_path: tuple[Path, ...] = ()
    allow_forward_references: bool = False
    dtb: Path | None = None
    platform_tree: Callable[[], bytes] | None = None
    gpio_list: Path | None = None
    mcs: bool = False
    substitutes: Path | None = None
    overrides: tuple[Override, ...] = ()
    read: Read = read_meaning
    parsed: ParsedFiles | None = None
