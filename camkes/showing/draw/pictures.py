# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Pictures as files: SVG as it is drawn, PNG and PDF by librsvg's `rsvg-convert`."""

from __future__ import annotations

from pathlib import Path
from shutil import which

from camkes import process
from camkes.files import OutputError, temporary_folder, write_output

#: Endings of names of pictures, with the arguments of `rsvg-convert`. A PNG has two pixels for each unit.
FORMS = {".svg": (), ".png": ("--format=png", "--zoom=2"), ".pdf": ("--format=pdf",)}
TIMEOUT = 60.0  # seconds
#: dark paper and light ink, with the same hues, where a viewer is dark
_DARK = (
    "<style>@media screen and (prefers-color-scheme: dark) "
    "{:root {filter: invert(.92) hue-rotate(180deg)}}</style>"
)


def write_picture(path: Path, svg: str) -> None:
    """Write a picture in the form that the ending of `path` names. Raises OutputError."""
    if path.suffix == ".svg":
        root = svg.index(">", svg.index("<svg")) + 1
        write_output(path, f"{svg[:root]}{_DARK}{svg[root:]}".encode())
        return
    program = which("rsvg-convert")
    if program is None:
        raise OutputError(
            f"cannot write {path}: rsvg-convert was not found; install it (apt install librsvg2-bin), or "
            "write a .svg file"
        )
    try:
        with temporary_folder("camkes-picture-") as folder:
            made = folder / "picture"
            done = process.run(
                [program, *FORMS[path.suffix], "--output", str(made)], input=svg, timeout=TIMEOUT
            )
            if done.status != 0:
                raise OutputError(f"cannot write {path}: rsvg-convert failed: {done.errors.strip()}")
            write_output(path, made.read_bytes())
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
