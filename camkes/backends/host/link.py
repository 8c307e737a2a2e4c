# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Links the objects of each address space into one shared object.

Instances that share an address space can define the same names. Each of them is linked by itself first
and then hides all names but those that the rest of the address space or the kernel looks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from camkes.backends.host.addresses import names_as_here
from camkes.backends.host.codes import LINK_ERROR
from camkes.backends.host.compiler import Compiler
from camkes.backends.host.declared import DeclaredNames
from camkes.backends.host.inputs import signature, signature_of_image
from camkes.backends.host.jobs import BuildJob, BuildOutcome
from camkes.backends.host.kernel import Kit, symbols
from camkes.backends.host.messages import Sources
from camkes.backends.host.shared_glue import SharedImage
from camkes.capdl.model import CapabilityModel, Space
from camkes.diagnostics import Diagnostic, Label, Sink, Span
from camkes.files import write_changed, write_whole
from camkes.model.system import INSTANCE_PREFIX
from camkes.process import run
from camkes.resolve.words.nearest import suggestion

#: with their places, if GNU ld gives them; that of Binutils 2.47 adds the section
_SECTION = r"(?:\([^()\n]+\):)?"
_DUPLICATE = re.compile(
    rf"(?:(?P<file>/[^:\n]+):(?P<line>\d+):{_SECTION} )?multiple definition of [`'](?P<name>[^']+)'"
    rf"(?:; [^:\n]+:(?P<first_file>/[^:\n]+):(?P<first_line>\d+):{_SECTION} first defined here)?"
)
#: names of the library of C++, as linkers write them
_CXX_LIBRARY = re.compile(
    r"std::|operator (new|delete)\b|__gxx_|__cxa_|_Unwind_|(vtable|typeinfo) for (__cxxabiv1|std)::"
)
_UNDEFINED = re.compile(
    rf"(?:(?P<file>/[^:\n]+):(?P<line>\d+):{_SECTION} )?(?:more )?undefined reference to [`'](?P<name>[^']+)'"
)

_QUOTED = re.compile(r'^"(.+)":$', re.MULTILINE)  # the names in `Kit.names`

_WRAP = "__wrap_"  # begins the name of a function that is called in place of another one

#: in an image, the C library contains it
_MATHEMATICS = "-Wl,--push-state,--as-needed,-lm,--pop-state"

_FILE = "File: "  # begins the line of readelf about a file

Objects = Mapping[str, tuple[Path, ...]]

#: the message about an instance and a name that its code lacks; None if nothing uses that name
Expected = Callable[[str, str], Diagnostic | None]


class Linker:
    """Jobs that link the address spaces of a system in the folder `out`, and what their failures mean.

    `objects` and `libraries` (link arguments) are those of each instance, `declared` is what its headers
    have. `expected_of` describes a name that the code of an instance must define. The instances `watched`
    call functions of the C library through those of library.c, of the host kernel. Instances that are `alike`
    have the same objects, which are linked once: see `shared_glue`. `named`: see `HostImage`.
    """

    def __init__(
        self,
        capabilities: CapabilityModel,
        compiler: Compiler,
        objects: Objects,
        libraries: Mapping[str, tuple[str, ...]],
        kit: Kit,
        out: Path,
        expected_of: Expected,
        declared: Mapping[str, DeclaredNames],
        sink: Sink,
        more_flags: tuple[str, ...] = (),
        watched: frozenset[str] = frozenset(),
        alike: Sequence[Sequence[str]] = (),
        named: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.compiler = compiler
        self.objects = objects
        self.libraries = libraries
        self.kit = kit
        self.out = out
        self.more_flags = more_flags
        self.watched = watched
        self.named = named
        self.expected_of = expected_of
        self.declared = declared
        self.sink = sink
        self.images = {space.name: out / f"{space.name}.so" for space in capabilities.spaces}
        names = {space.instances: space.name for space in capabilities.spaces}
        #: by the address space that is linked for the others: all of them
        self.alike = {names[each[0],]: tuple(names[name,] for name in each) for each in alike}
        others = {name for each in self.alike.values() for name in each[1:]}
        self.spaces = [space for space in capabilities.spaces if space.name not in others]
        #: what is linked
        self.linked = {
            space.name: out / "objects" / space.name / "shared.so"
            if space.name in self.alike
            else self.images[space.name]
            for space in self.spaces
        }
        first_of = {name: first for first, names in self.alike.items() for name in names}
        self._linked_for = {
            instance: self.linked[first_of.get(space.name, space.name)]
            for space in capabilities.spaces
            for instance in space.instances
        }
        self.groups = [space for space in self.spaces if len(space.instances) > 1]
        #: make an object of each instance of a group; what `hide` keeps follows from these
        self.joins = [self._join(name) for space in self.groups for name in space.instances]
        self._checks: dict[BuildJob, Space] = {}
        self._open_names = self.out / "objects" / "open-names"
        self._defined: dict[str, list[str]] = {}  # the functions of each image

    def jobs(self) -> list[BuildJob]:
        """Everything, `joins` included, but for `checks`."""
        found = list(self.joins)
        for space in self.spaces:
            parts = tuple(o for name in space.instances for o in self._parts(space, name))
            found += [self._hide(name) for name in space.instances if space in self.groups]
            found.append(self._link(space, (*parts, self.kit.runtime)))
        found.append(self._list_open_names())
        return found

    def checks(self) -> list[BuildJob]:
        """For each image with a name that neither the kernel nor, with a version, a library defines: a job
        that fails if no library does; after `jobs` were run."""
        known = set(_QUOTED.findall(self.kit.names.read_text(encoding="utf-8")))
        listed, left_open = set(), set()
        image = str(next(iter(self.linked.values()), ""))  # readelf names files if there are several
        for line in self._open_names.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            if line.startswith(_FILE):
                image = line.removeprefix(_FILE)
            elif len(words := line.split()) >= 8 and words[6] == "UND":
                listed.add(image)
                if words[4] == "GLOBAL" and "@" not in words[7] and words[7] not in known:
                    left_open.add(image)
            elif len(words) >= 8 and words[3:5] == ["FUNC", "GLOBAL"]:
                self._defined.setdefault(image, []).append(words[7])
        for space in self.spaces:
            image = str(self.linked[space.name])
            if image in left_open or image not in listed:  # nothing is listed where readelf failed
                self._checks[self._check(space)] = space
        return list(self._checks)

    def known_names(self) -> set[str]:
        """The names that components find in the kernel and the runtime, those of the C library that the
        kernel has functions in place of among them."""
        known = set(_QUOTED.findall(self.kit.names.read_text(encoding="utf-8")))
        return {name.removeprefix(_WRAP) for name in known} | symbols("--defined-only", self.kit.runtime)

    def write_kept_names(self) -> None:
        """Write which names of each instance of a group others see; after `joins` were run."""
        for space in self.groups:
            joined = {name: self._joined(name) for name in space.instances}
            # of each other, instances want what was generated for that; other names differ in each
            between = symbols("--undefined-only", *joined.values())
            outside = {name for name in between if name.startswith(INSTANCE_PREFIX)}.union(
                (space.symbol(m.use) for m in space.mappings),
                symbols("--extern-only", self.kit.runtime),
            )
            for name, file in joined.items():
                kept = sorted(symbols("--defined-only", file) & outside)
                write_changed(self._kept(name), "".join(f"{symbol}\n" for symbol in kept))

    def functions(self, instance: str) -> Sequence[str]:
        """The global functions of the code of an instance, or of its group; after `checks`."""
        return self._defined.get(str(self._linked_for[instance]), ())

    def make_copies(self) -> None:
        """Make the images of instances that are linked once, where what they are made of has changed."""
        known, made = self._read_copies(), {}
        for first, names in self.alike.items():
            source = signature(self.linked[first])
            shared = None
            for number, name in enumerate(names):
                image = self.images[name]
                if known.get(image.name) != [source, number, signature_of_image(image)]:
                    shared = shared or SharedImage(self.linked[first].read_bytes())
                    write_whole(image, shared.of(number))
                made[image.name] = [source, number, signature_of_image(image)]
        write_changed(self._copies, json.dumps(made))

    @property
    def _copies(self) -> Path:
        return self.out / "copies.json"

    def _read_copies(self) -> dict[str, object]:
        """Images that were made of shared ones: of which, as what, and what became of it."""
        try:
            found = json.loads(self._copies.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def report(self, outcome: BuildOutcome) -> None:
        """Report the messages of a failed job about the user's code."""
        space = self._checks.get(outcome.job)
        if space is None:
            report_linker(outcome, self.sink, self.named)
            return
        # A shared object may leave any name open, so each was linked into a program that has the kernel's
        # names and nothing else: no component explains what is left open.
        before = len(self.sink.diagnostics)
        names = dict.fromkeys(m["name"] for m in _UNDEFINED.finditer(outcome.messages))
        library = [name for name in names if _CXX_LIBRARY.match(name)]
        if library:
            self.sink.report(
                LINK_ERROR,
                f"{_about(space)} uses the C++ library, which components do not have",
                notes=[f"for example `{name}`" for name in library[:3]],
                help="do without exceptions, `new`, containers and streams, and compile with -fno-exceptions "
                "-fno-rtti (CXX_FLAGS of DeclareCAmkESComponent)",
            )
        for name in [name for name in names if name not in library]:
            users = [i for i in space.instances if _leaves_open(self.objects[i], name)]
            expected = [found for i in users if (found := self._expected(i, name)) is not None]
            used_in = tuple(o for i in users for o in self.objects[i])
            if not expected:
                found = _undefined(name, _about(space), used_in, self)
                text = None if found.span is None else found.span.file.text
                meant = [m for i in users if i in self.declared and (m := self.declared[i].meant(name, text))]
                near = suggestion(name, symbols("--defined-only", *used_in, self.kit.runtime))
                expected = [replace(found, help=(meant or [near])[0] or found.help)]
            for diagnostic in expected:
                self.sink.add(diagnostic)
        if len(self.sink.diagnostics) == before:
            lines = outcome.messages.strip().splitlines()[:40]
            self.sink.report(LINK_ERROR, f"{_about(space)} cannot be linked", notes=lines)

    def _expected(self, instance: str, name: str) -> Diagnostic | None:
        """The message for a name that the code of an instance must define. A function with a name like it,
        which nothing declares, is likely to be meant."""
        found = self.expected_of(instance, name)
        if found is None or instance not in self.declared:
            return found
        declared = self.declared[instance]
        own = symbols("--defined-only", *self.objects[instance]) - declared.names
        meant = declared.alike(name, own)
        return found if meant is None else replace(found, help=f"rename `{meant}()`, or {found.help}")

    # jobs

    def _joined(self, instance: str) -> Path:
        return self.out / "objects" / instance / "joined.o"

    def _kept(self, instance: str) -> Path:
        return self._joined(instance).with_name("kept-names")

    def _parts(self, space: Space, instance: str) -> tuple[Path, ...]:
        if space in self.groups:
            return (self._joined(instance).with_name("hidden.o"),)
        return self.objects[instance]

    def _join(self, instance: str) -> BuildJob:
        output, about = self._joined(instance), f"instance {instance}"
        return BuildJob(
            about,
            output,
            (*self.compiler.c, "-r", "-nostdlib", "-o", str(output)),
            self.objects[instance],
            about,
            listed=tuple(map(str, self.objects[instance])),
            identity=self.compiler.identity,
        )

    def _hide(self, instance: str) -> BuildJob:
        joined, kept = self._joined(instance), self._kept(instance)
        output, about = joined.with_name("hidden.o"), f"instance {instance}"
        # without a name to keep, objcopy would keep all
        keep = (f"--keep-global-symbols={kept}", "--keep-global-symbol=")
        return BuildJob(about, output, ("objcopy", *keep, str(joined), str(output)), (joined, kept), about)

    def _link(self, space: Space, parts: tuple[Path, ...]) -> BuildJob:
        output = self.linked[space.name]
        arguments = (*dict.fromkeys(a for i in space.instances for a in self.libraries[i]), _MATHEMATICS)
        named = (Path(word) for a in arguments for word in re.split("[,=]|^-T", a) if word.startswith("/"))
        return BuildJob(
            f"linking {space.name}",
            output,
            (
                *(*self.compiler.c, "-shared", *self.compiler.link_flags(), *self.more_flags),
                *("-Wl,-Bsymbolic,-z,now,-z,noexecstack", "-o", str(output)),
                *self._wraps(bool(self.watched.intersection(space.instances))),
            ),
            (*parts, *(path for path in named if path.is_file())),
            _about(space),
            listed=(*map(str, parts), *arguments),
            identity=self.compiler.identity,
        )

    @cached_property
    def _of_runtime(self) -> list[str]:
        return sorted(symbols("--defined-only", self.kit.runtime))

    def _wraps(self, watched: bool) -> list[str]:
        """The functions that have others in their place: of the heap, and where an instance is `watched`,
        those that access memory."""
        own = self._of_runtime
        names = _QUOTED.findall(self.kit.names.read_text(encoding="utf-8")) if watched else []
        return [f"-Wl,--wrap={name.removeprefix(_WRAP)}" for name in (*own, *names) if name.startswith(_WRAP)]

    def _list_open_names(self) -> BuildJob:
        """Names that the images leave open: much faster than to link each of them into a program."""
        output, images = self._open_names, tuple(self.linked.values())
        script = 'readelf -W --dyn-syms "$@" >"$0" || : >"$0"'
        return BuildJob(
            "checking names",
            output,
            ("sh", "-c", script, str(output), *map(str, images)),
            images,
            "the system",
        )

    def _check(self, space: Space) -> BuildJob:
        image = self.linked[space.name]
        output = self.out / "objects" / f"{space.name}.resolved"
        flags = (
            *self.compiler.check_flags(),
            "-nostartfiles",
            "-Wl,--no-as-needed,--no-allow-shlib-undefined",
        )
        return BuildJob(
            f"checking {space.name}",
            output,
            (*self.compiler.c, *flags, str(self.kit.names), str(image), "-o", str(output)),
            (self.kit.names, image),
            space.name,
            identity=self.compiler.identity,
        )


def report_linker(outcome: BuildOutcome, sink: Sink, named: Mapping[str, Path]) -> None:
    """Report a linker's messages about names that are defined twice, or not at all. Objects have names for
    the folders `named`."""
    about, sources = outcome.job.about, Sources()
    messages = names_as_here(outcome.messages, named)
    twice = {m["name"]: m for m in reversed([*_DUPLICATE.finditer(messages)])}
    missing = {m["name"]: m for m in reversed([*_UNDEFINED.finditer(messages)])}
    for name, match in twice.items():
        # the line is that of the first statement
        span = _place(match["file"], match["line"], name, sources, above=9)
        first = _place(match["first_file"], match["first_line"], name, sources, above=9)
        sink.report(
            LINK_ERROR,
            f"{about} defines `{name}` twice",
            span,
            related=[Label(first, "defined here first")] if first is not None else [],
            notes=[] if span is not None else [messages.strip()],
            help="make one of them `static`, or give it another name",
        )
    for name, match in missing.items():
        span = _place(match["file"], match["line"], name, sources)
        sink.report(LINK_ERROR, f"{about} uses `{name}`, which is not defined", span)
    if not twice and not missing:
        lines = messages.strip().splitlines()[:40]
        sink.report(LINK_ERROR, f"{about} cannot be linked", notes=lines)


def _place(file: str | None, line: str | None, name: str, sources: Sources, above: int = 0) -> Span | None:
    """Where a name is in a line of a file, if these are known."""
    return None if file is None or line is None else sources.word(Path(file), int(line), name, above)


def _about(space: Space) -> str:
    return f"component {space.name}" if len(space.instances) == 1 else f"group {space.name}"


def _leaves_open(objects: Sequence[Path], name: str) -> bool:
    """Whether one of the objects uses a name that none of them defines."""
    used, defined = (
        any(name in symbols(f"--{w}-only", o) for o in objects) for w in ("undefined", "defined")
    )
    return used and not defined


def _undefined(name: str, about: str, objects: Sequence[Path], linker: Linker) -> Diagnostic:
    """A name that nothing defines, where it is used. A linker gives the place if all names must be
    defined."""
    output = linker.out / "objects" / "closed.so"
    command = (*linker.compiler.c, "-shared", "-Wl,-z,defs", *map(str, objects), "-o", str(output))
    done = run(command)
    output.unlink(missing_ok=True)
    sources = Sources()
    uses = [m for m in _UNDEFINED.finditer(names_as_here(done.errors, linker.named)) if m["name"] == name]
    places = [place for m in uses if (place := _place(m["file"], m["line"], name, sources)) is not None]
    users = [o.name.removesuffix(".o") for o in objects if name in symbols("--undefined-only", o)]
    return Diagnostic(
        LINK_ERROR,
        f"{about} uses `{name}`, which is not defined",
        places[0] if places else None,
        related=tuple(Label(place, "used here too") for place in dict.fromkeys(places[1:3])),
        notes=(f"used in {', '.join(users)}",) if users and not places else (),
        help="define it in a source file of the component, or add the source file that defines it to "
        "CMakeLists.txt",
    )
