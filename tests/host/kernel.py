# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel with components of a few lines: compiling them, running it, reading its trace."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


ROOT = HERE.parents[1]
SCENARIOS = HERE / "scenarios"
#: a kernel with the sanitizers, or "": then that of the user's cache is tried
SANITIZED = os.environ.get("CAMKES_HOST_SANITIZED", "")
SANITIZE = bool(SANITIZED)


CC = os.environ.get("CC", "cc")


#: runs programs of another machine: with CC=aarch64-linux-gnu-gcc, "qemu-aarch64 -L /usr/aarch64-linux-gnu"
RUNNER = os.environ.get("CAMKES_HOST_RUNNER", "").split()


SWITCH, IDLE, READY, BLOCK, PRIORITY, KCALL, TRANSFER, REPLY = 2, 3, 4, 5, 6, 7, 8, 9
SIGNAL, WORK, FAULT, EXIT, OUTPUT, END, CHOICE = 10, 11, 12, 13, 14, 16, 17
NO_NUMBER = 65535


@dataclass(frozen=True, slots=True)
class Record:
    time: int
    kind: int
    thread: int
    other: int
    args: tuple[int, ...]


def read_trace(path: Path) -> list[Record]:
    data = path.read_bytes()
    assert data[:8] == b"CAMKTRC1"
    records = []
    offset = 8
    while offset < len(data):
        now, kind, size, thread, other = struct.unpack_from("<QHHHH", data, offset)
        assert size >= 16 and size % 8 == 0 and offset + size <= len(data)
        args = struct.unpack_from(f"<{(size - 16) // 8}Q", data, offset + 16)
        records.append(Record(now, kind, thread, other, args))
        offset += size
    return records


@dataclass(frozen=True, slots=True)
class Workplace:
    host: Path
    folder: Path

    def compile(self, source: Path, image: Path, *extra: str) -> None:
        flags = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", *extra]
        if SANITIZE and "-fno-sanitize=all" not in extra:
            flags += ["-fsanitize=undefined", "-fno-sanitize=null,alignment,integer-divide-by-zero,builtin"]
        includes = [f"-I{ROOT}/kernel/host/include", f"-I{ROOT}/runtime/include"]
        subprocess.run(
            [CC, *flags, *includes, "-o", str(image), source.name, "-lm"], check=True, cwd=source.parent
        )

    def build(self, table: Path) -> None:
        """Compile the scenarios that a table names, unless they are there."""
        for name in re.findall(r"(\w+)\.so\b", table.read_text()) if table.is_file() else ():
            source, image = SCENARIOS / f"{name}.c", self.folder / f"{name}.so"
            if source.is_file() and not image.exists():
                self.compile(source, image)

    def run(
        self, table: Path, *options: str, stdout: int | None = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        self.build(table)
        return subprocess.run(
            [*RUNNER, str(self.host), str(table), *options],
            stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60, check=False, cwd=self.folder,
        )  # fmt: skip
