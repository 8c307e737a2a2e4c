# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The descriptions of the workstation's compilers for CMake."""

from __future__ import annotations

import os
import re
import shlex
import shutil

from msgspec import Struct

from camkes.process import run

_LANGUAGES = {"C": ("CC", "cc"), "CXX": ("CXX", "c++"), "ASM": ("CC", "cc")}
_SECONDS = 10
_NONE = "/bin/false"  # takes the place of a missing compiler, since CMake requires one
_MACRO = re.compile(r"^#define (__clang__|__GNUC__|__(?:clang|GNUC)_\w+__) (\d+)$", re.MULTILINE)


class Compilers(Struct, frozen=True):
    """The command of each language: that of the environment (CC, CXX), or the usual one."""

    commands: dict[str, tuple[str, ...]]

    @property
    def programs(self) -> list[str]:
        """The files of the commands; words that name none are left out."""
        words = dict.fromkeys(word for command in self.commands.values() for word in command)
        found = (shutil.which(word) for word in words if not word.startswith("-"))
        return [os.path.realpath(path) for path in found if path is not None]

    def variables(self) -> dict[str, str]:
        """What cache.cmake needs of each."""
        result: dict[str, str] = {}
        for language, (program, *arguments) in self.commands.items():
            identity, version = _version((program, *arguments))
            result[f"CAMKES_{language}"] = shutil.which(program) or _NONE
            result[f"CAMKES_{language}_ARGUMENT"] = shlex.join(arguments)
            result[f"CAMKES_{language}_ID"] = identity
            result[f"CAMKES_{language}_VERSION"] = version
        return result

    def accepts(self, flag: str) -> bool:
        """Whether the compiler of C has a flag of processors; True where it cannot be asked."""
        try:
            command = [*self.commands["C"], flag, "-S", "-x", "c", os.devnull, "-o", "-"]
            return run(command, timeout=_SECONDS).status == 0
        except OSError:
            return True


def find_compilers() -> Compilers:
    commands = {
        language: tuple(shlex.split(os.environ.get(variable, ""))) or (usual,)
        for language, (variable, usual) in _LANGUAGES.items()
    }
    return Compilers(commands)


def _version(command: tuple[str, ...]) -> tuple[str, str]:
    """CMake's name of a compiler, and its version; that of a GCC without a version where it does not report
    one."""
    try:
        said = run([*command, "-dM", "-E", "-x", "c", os.devnull], timeout=_SECONDS).output
    except OSError:
        return "GNU", ""
    macros = dict(_MACRO.findall(said))
    if "__clang__" in macros:
        parts = [macros.get(f"__clang_{part}__", "0") for part in ("major", "minor", "patchlevel")]
        return "Clang", ".".join(parts)
    parts = [macros[name] for name in ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__") if name in macros]
    return "GNU", ".".join(parts)
