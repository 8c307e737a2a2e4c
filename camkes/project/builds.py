# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How the code of a component is built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.diagnostics import Span

#: The language of a source by the end of its name, as CMake has it.
_LANGUAGES = {
    ".c": "C",
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".C"), "CXX"),
    **dict.fromkeys((".S", ".s"), "ASM"),
}


def language_by_name(source: Path) -> str | None:
    """C, CXX or ASM; None for what is not compiled."""
    return _LANGUAGES.get(source.suffix)


class CompileGroup(Struct, frozen=True):
    """Sources that CMake compiles alike. `others`: all other sources of that language, too."""

    language: str
    sources: tuple[Path, ...]
    others: bool
    includes: tuple[Path, ...]
    flags: tuple[str, ...]


class ComponentBuild(Struct, frozen=True):
    """How the code of a component (or of a library) is built. Paths are absolute. `groups` is CMake's result
    of sources; the include folders and flags are those of all others."""

    sources: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()
    c_flags: tuple[str, ...] = ()
    cxx_flags: tuple[str, ...] = ()
    ld_flags: tuple[str, ...] = ()
    libs: tuple[str, ...] = ()
    template_sources: tuple[str, ...] = ()
    template_headers: tuple[str, ...] = ()
    cakeml_sources: tuple[Path, ...] = ()
    linker_language: str = ""
    span: Span | None = None
    groups: tuple[CompileGroup, ...] = ()

    def language_of(self, source: Path) -> str | None:
        """The language that CMake compiles a source as, which its property LANGUAGE can set; None if not."""
        group = self._group_of(source)
        return language_by_name(source) if group is None else group.language

    def flags_of(self, source: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """The include folders of a source, and its flags."""
        group = self._group_of(source)
        if group is not None:
            return group.includes, group.flags
        return self.includes, self.cxx_flags if language_by_name(source) == "CXX" else self.c_flags

    def _group_of(self, source: Path) -> CompileGroup | None:
        return next((group for group in self.groups if source in group.sources), None)

    def extended(self, more: ComponentBuild) -> ComponentBuild:
        """With what a later declaration adds; its include folders come first, its flags last."""
        return ComponentBuild(
            sources=self.sources + more.sources,
            includes=more.includes + self.includes,
            c_flags=self.c_flags + more.c_flags,
            cxx_flags=self.cxx_flags + more.cxx_flags,
            ld_flags=self.ld_flags + more.ld_flags,
            libs=self.libs + more.libs,
            template_sources=self.template_sources + more.template_sources,
            template_headers=self.template_headers + more.template_headers,
            cakeml_sources=self.cakeml_sources + more.cakeml_sources,
            linker_language=more.linker_language or self.linker_language,
            span=self.span or more.span,
        )

    def among(self, all_of_them: ComponentBuild) -> ComponentBuild:
        """With what everything is compiled with: its include folders come last, its flags first."""
        return replace(
            self,
            includes=self.includes + all_of_them.includes,
            c_flags=all_of_them.c_flags + self.c_flags,
            cxx_flags=all_of_them.cxx_flags + self.cxx_flags,
        )

    def grouped(self, groups: Sequence[CompileGroup]) -> ComponentBuild:
        """With CMake's flags of its sources: its own flags come after those."""
        own = {"C": self.c_flags, "CXX": self.cxx_flags}
        whole = [
            replace(
                group,
                includes=(*(i for i in self.includes if i not in group.includes), *group.includes),
                flags=group.flags + own.get(group.language, ()),  # none are for assembler
            )
            for group in groups
        ]
        usual = {group.language: group for group in whole if group.others}
        c, cxx = usual.get("C"), usual.get("CXX")
        one = c or cxx
        if one is None:
            return self
        return replace(
            self,
            includes=one.includes,
            c_flags=c.flags if c else self.c_flags,
            cxx_flags=cxx.flags if cxx else (*_of_any_language(one, self.c_flags), *self.cxx_flags),
            groups=tuple(whole),
        )


def _of_any_language(group: CompileGroup, own: tuple[str, ...]) -> tuple[str, ...]:
    """The flags of a group for C, without those of a component's `own`, that C++ has too."""
    flags = group.flags[: len(group.flags) - len(own)]
    return tuple(flag for flag in flags if not flag.startswith("-std="))
