# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Costs of operations from bounds of paths: of what was measured on a machine the kernel's part remains, and
bounds of the instructions of the system in question take the place of those that were measured.

What the measured paths execute at least is in the profile (`Platform.user`). A figure less that is at least
the kernel's part of it, so a figure with a bound is not less than what the operation takes, if the kernel
takes no longer than it did. Each figure gets the greatest bound of the paths that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.platform import BoundedFigure, Halves, Platform, UserPart
from camkes.diagnostics import Sink
from camkes.diagnostics.words import listing
from camkes.model.protocols import Protocol
from camkes.paths.codes import UNUSABLE_BOUNDS
from camkes.paths.system import PathKind
from camkes.protocols.plan import Plan

#: the protocols whose requests have costs of their own, which are the names of these
_OWN_ROWS = tuple(protocol.value for protocol in Protocol if not protocol.inherits)
#: an instance, an interface with its method or "", and what the path is of
PathKey = tuple[str, str, PathKind]


class PathBounds(Struct, frozen=True):
    """The most instructions of the paths of a system, None: a path has no bound; and the calls of managers
    that the manager of a group makes at most."""

    architecture: str
    mcs: bool
    instructions: Mapping[PathKey, int | None]
    calls: Mapping[PathKey, int] = {}


def user_part(architecture: str, least: Mapping[PathKey, int]) -> UserPart:
    """Of a profile: what the paths of the image `requests`, which were measured, execute at least."""

    def of(kind: PathKind, name: str = "", instance: str = "") -> int:
        found = (n for (i, p, k), n in least.items() if k is kind and name in ("", p) and instance in ("", i))
        return min(found, default=0)

    both = {
        row: of(PathKind.REQUEST, f"{row}.now", "client") + of(PathKind.REPLY, "p.now", row)
        for row in ("plain", *_OWN_ROWS)
    }
    return UserPart(
        architecture=architecture,
        cycles=1,
        manager=of(PathKind.MANAGER),
        driver=of(PathKind.DRIVER),
        job=of(PathKind.JOB),
        emit=of(PathKind.CALL, "emitted.emit", "client"),
        **both,
    )


def with_bounds(platform: Platform, bounds: PathBounds, plan: Plan, sink: Sink) -> Platform | None:
    """The profile for a system, with bounds of its paths; None after a diagnostic."""
    user = platform.user
    if not user.cycles:
        sink.report(
            UNUSABLE_BOUNDS,
            f"the profile `{platform.name}` does not state how many cycles an instruction takes at most",
            notes=["bounds of paths are in instructions, and the profile is in cycles"],
            help="state it in the profile: `[user]` with `cycles = N`, from the manual of the processor",
        )
        return None
    what = _mismatch(platform, bounds, plan)
    if what:
        sink.report(UNUSABLE_BOUNDS, what, help="write the bounds of this system: `camkes paths --json`")
        return None
    found = _BoundedFigures(platform, bounds, plan)
    figures = found.all()
    if found.missing:
        sink.report(
            UNUSABLE_BOUNDS,
            f"paths of the system have no bound: {listing(sorted(found.missing))}",
            help="`camkes paths` says why, and what to write",
        )
        return None
    return figures


def _mismatch(platform: Platform, bounds: PathBounds, plan: Plan) -> str:
    """In what bounds are those of another machine or system; "": in nothing."""
    architecture = platform.user.architecture
    if architecture not in ("", bounds.architecture):
        return f"the bounds are those of {bounds.architecture}, and `{platform.name}` is of {architecture}"
    if bounds.mcs != plan.mcs:
        kernels = ("a kernel without MCS", "an MCS kernel")
        return f"the bounds are those for {kernels[bounds.mcs]}, and the system is for {kernels[plan.mcs]}"
    loops = {(i, p.partition(".")[0]) for i, p, kind in bounds.instructions if kind is PathKind.REPLY}
    for cpi in plan.cpis:
        if cpi.tasks and (cpi.instance, cpi.interface) not in loops:
            return f"the bounds are those of another system: they have no reply of `{cpi.name}`"
    return ""


class _BoundedFigures:
    """The figures of a profile for one system."""

    def __init__(self, platform: Platform, bounds: PathBounds, plan: Plan) -> None:
        self._platform, self._bounds, self._plan = platform, bounds, plan
        self._each = platform.user.cycles
        self.missing: set[str] = set()
        self._bounded: list[BoundedFigure] = []

    def all(self) -> Platform:
        """All figures that paths of the system are a part of."""
        machine, user = self._platform, self._platform.user
        halves = {row: self._halves(row) for row in ("plain", *_OWN_ROWS)}
        step, lock, end = self._step(), machine.inherited, machine.overrun
        waits = self._more(PathKind.CONTENDED, PathKind.REPLY)
        raised = self._more(PathKind.RAISED, PathKind.REQUEST)
        job, emit = self._most(PathKind.JOB), self._emission()
        handler = self._most(PathKind.OVERRUNS)

        def one(name: str, measured: int, least: int, most: int) -> int:
            """A figure that the system does not have stays as it is."""
            if not measured or not most:
                return measured
            kernel, bound = max(0, measured - least), self._each * most
            self._bounded.append(BoundedFigure(name, kernel, bound))
            return kernel + bound

        inherited = replace(
            lock,
            acquire=one("inherited.acquire", lock.acquire, user.manager, step and step + waits),
            release=one("inherited.release", lock.release, user.manager, step),
            # update, settle and clear are three messages
            update=one("inherited.update", lock.update, user.manager, step and 3 * step + raised),
        )
        driver = self._most(PathKind.DRIVER)
        timer = one("timer.release", machine.timer.release, user.driver + user.job, driver + job)
        event = replace(
            machine.event,
            emit=one("event.emit", machine.event.emit, user.emit, emit),
            release=one("event.release", machine.event.release, user.emit + user.job, emit and emit + job),
        )
        overrun = replace(
            end,
            job_extend=one("overrun.job_extend", end.job_extend, 0, handler),
            job_stop=one("overrun.job_stop", end.job_stop, 0, handler),
            extend=one("overrun.extend", end.extend, 0, step),
            abort=one("overrun.abort", end.abort, 0, step),
            help=one("overrun.help", end.help, 0, step),
        )
        return replace(
            machine,
            **halves,
            inherited=inherited,
            timer=replace(machine.timer, release=timer),
            event=event,
            overrun=overrun,
            bounded=tuple(self._bounded),
        )

    def _halves(self, row: str) -> Halves:
        """A table of requests and replies: to CPIs of its protocol, or without one of its own to those that
        inherit, and to schedulers and helpers. A thread of a pool does a part of either half at a ceiling, so
        that none is less than its kernel's."""
        measured: Halves = getattr(self._platform, row)
        least: int = getattr(self._platform.user, row)
        own = row in _OWN_ROWS
        others = 0 if own else max(self._most(PathKind.SCHEDULER), self._most(PathKind.HELPER))
        request, reply, pooled, any = 0, others, False, bool(others)
        for cpi in self._plan.cpis:
            if not cpi.tasks or (cpi.protocol.value != row if own else not cpi.protocol.inherits):
                continue
            any, pooled = True, pooled or cpi.pooled
            for end in {r.via for r in self._plan.requests if r.callee == cpi.name}:
                instance, _, interface = end.rpartition(".")
                request = max(request, self._most(PathKind.REQUEST, instance, interface))
            reply = max(reply, self._most(PathKind.REPLY, cpi.instance, cpi.interface))
        if not any:
            return measured
        kernel = measured.both if pooled else max(0, measured.both - least)
        call = min(measured.call, kernel)
        self._bounded.append(BoundedFigure(row, kernel, self._each * (request + reply)))
        more = reply if pooled else 0
        bounds = {"call": call + self._each * (request + more), "reply": kernel - call + self._each * reply}
        return replace(measured, **bounds)

    def _most(self, kind: PathKind, instance: str = "", interface: str = "") -> int:
        """The greatest bound of paths; 0: there are none."""
        found = [0]
        for (of, name, each), most in self._bounds.instructions.items():
            if each is kind and instance in ("", of) and interface in ("", name.partition(".")[0]):
                if most is None:
                    self.missing.add(f"{kind} of {'.'.join(filter(None, (of, name)))}")
                found.append(most or 0)
        return max(found)

    def _step(self) -> int:
        """What a message to a manager takes, in a group with those that its manager sends to others."""
        member = max(self._most(PathKind.MEMBER), self._most(PathKind.HELPER))
        self._most(PathKind.GROUP)
        groups = (
            most + member * self._bounds.calls.get(key, 0)
            for key, most in self._bounds.instructions.items()
            if key[2] is PathKind.GROUP and most is not None
        )
        return max(self._most(PathKind.MANAGER), *groups, 0)

    def _more(self, kind: PathKind, usual: PathKind) -> int:
        """By how many instructions paths are longer than usual ones, at most."""
        self._most(kind)
        return max(self._differences(kind, usual), default=0)

    def _differences(self, kind: PathKind, usual: PathKind) -> Iterator[int]:
        known = self._bounds.instructions
        for (instance, name, each), most in known.items():
            if each is kind and most is not None:
                yield max(0, most - (known.get((instance, name, usual)) or 0))

    def _emission(self) -> int:
        emissions = (key for key in self._bounds.instructions if key[1].endswith(".emit"))
        return max((self._most(kind, i, n.partition(".")[0]) for i, n, kind in emissions), default=0)
