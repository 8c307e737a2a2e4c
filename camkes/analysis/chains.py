# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that release each other by events, in a busy window of one priority.

A job of a task below the priority p executes in a busy window of p only in sections, in which it emits
nothing. So a task of p or above that such a task releases, a head, is released at the beginning of the window
or not in it at all; and as one job executes at a time, all heads of a window have one emitter. Each task that
a task of p or above releases has as many jobs in the window as that has. What a head leads to without a task
below p in between is its segment (the H segments of Palencia and Gonzalez Harbour 1999; for one chain
Harbour, Klein and Lehoczky 1991). docs/analysis.md has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from camkes.analysis.demand import Demands, Time
from camkes.analysis.response import Load, Response, response
from camkes.analysis.sections import RequestSection
from camkes.analysis.supply import Supply
from camkes.analysis.workload import NEVER, Workload, WorkloadTask


class Way(Struct, frozen=True):
    """What is in a busy window beside the jobs of its task, `own`, and what follows them. These count from
    the release of the head of their segment. `heads` are those one of which, at least, begins the window;
    none where the window can begin otherwise."""

    own: Load
    others: tuple[Load, ...]
    heads: tuple[WorkloadTask, ...] = ()

    @property
    def emitter(self) -> str:
        """The lower task that releases the heads; empty: there is none."""
        return self.heads[0].after if self.heads else ""


class LevelWindow(Struct, frozen=True):
    """A busy window of a task's priority. `workload` has for each task of this priority or above how often
    its jobs are in the window, of the `ways` each has another emitter, and `following` executes once for each
    job of the task."""

    workload: Workload
    ways: tuple[Way, ...]
    following: tuple[Load, ...]
    #: what those that follow can still have to do when one of them ends
    left: Mapping[str, Time]


class Chains:
    """The tasks of a workload with what releases them."""

    def __init__(self, workload: Workload, latest: Mapping[str, Time] = {}) -> None:
        """`latest` is when jobs of tasks end, at most, after the release of the first one of their chain, as
        far as it is known."""
        self._workload = workload
        self._named = {task.name: task for task in workload.tasks}
        self._helpers = {name for cpi in workload.cpis for name in cpi.helpers}
        self._ended = {
            task.name
            for task in workload.tasks
            if not self.head(task, -1).after and latest.get(task.name, NEVER) <= task.period
        }

    def __bool__(self) -> bool:
        """Whether a task of the workload releases another one of it."""
        return any(task.after in self._named for task in self._workload.tasks)

    def emitter(self, task: WorkloadTask) -> WorkloadTask | None:
        """What releases a task, where it is in the workload, too."""
        return self._named.get(task.after)

    def head(self, task: WorkloadTask, priority: int) -> WorkloadTask:
        """The first task of the segment."""
        while (emitter := self.emitter(task)) is not None and emitter.priority >= priority:
            task = emitter
        return task

    def level(self, task: WorkloadTask, needed: Demands) -> LevelWindow:
        """What can be in a busy window of a task's priority."""
        inside = [each for each in self._named.values() if each.priority >= task.priority]
        heads = {each.name: self.head(each, task.priority) for each in inside}
        once = {name for name, head in heads.items() if self.emitter(head) is not None}
        timed = {
            name: replace(
                self._named[name],
                period=NEVER if name in once else self._named[name].period,
                jitter=0 if name in once else head.jitter,
            )
            for name, head in heads.items()
        }
        loads = {name: load_of(each, needed) for name, each in timed.items()}
        following = [name for name in heads if name != task.name and self._follows(name, task)]
        rest = [name for name in heads if name != task.name and name not in following]
        rooted = tuple(loads[name] for name in rest if name not in once)
        of_emitters: dict[str, list[Load]] = {}
        for name in rest:
            if name in once:
                of_emitters.setdefault(heads[name].after, []).append(loads[name])
        own = loads[task.name]
        if task.name in once:
            if task.name in self._ended:  # before the first of its chain has the next job
                root = self.head(task, -1)
                rooted = tuple(each for each in rooted if self.head(self._named[each.name], -1) is not root)
            head = heads[task.name]
            ways = [Way(own, (*rooted, *of_emitters.get(head.after, ())), (head,))]
        else:
            ways = [
                Way(
                    self._released_after(own, each),
                    (*rooted, *each),
                    tuple({heads[load.name].name: heads[load.name] for load in each}.values()),
                )
                for each in of_emitters.values()
            ]
            ways.append(Way(own, rooted))
        tasks = tuple(timed.get(each.name, each) for each in self._workload.tasks)
        return LevelWindow(
            replace(self._workload, tasks=tasks),
            tuple(ways),
            tuple(loads[name] for name in following),
            {
                name: sum(
                    loads[each].demand for each in following if self._ends_after(each, self._named[name])
                )
                for name in following
            },
        )

    def _released_after(self, own: Load, first: Sequence[Load]) -> Load:
        """The jobs of a task where `first` is released at the beginning of the window: if that is by a job
        before in the task's own chain, it has ended when the next one is released."""
        root = self.head(self._named[own.name], -1)
        mine = all(
            each.name in self._ended and self.head(self._named[each.name], -1) is root for each in first
        )
        return replace(own, jitter=-sum(each.demand for each in first)) if mine and not own.jitter else own

    def _ends_after(self, name: str, task: WorkloadTask) -> bool:
        """Whether a task with the same first one does not execute before a job of `task` has ended: from
        where their chains part, or from `task`, it comes after one that is below all on the way to `task`."""
        mine = [task, *self._before(task)]
        its = [self._named[name], *self._before(self._named[name])]
        common = next(each for each in its if each in mine)
        parted = common is not task and common.name != name
        if parted and not self._together(its[its.index(common) - 1], mine[mine.index(common) - 1]):
            return False
        lowest = min((each.priority for each in mine[: mine.index(common)]), default=task.priority)
        return any(each.priority < lowest for each in its[: its.index(common)])

    @staticmethod
    def _together(one: WorkloadTask, two: WorkloadTask) -> bool:
        """Whether one event releases both tasks, of the same emitter."""
        return one.name == two.name or (one.event == two.event and bool(one.event))

    def can_hold(self, task: WorkloadTask, section: RequestSection, heads: Sequence[WorkloadTask]) -> bool:
        """Whether a lower task can be in a section when a window of a task's priority begins, and be waited
        for. One of the `heads`, at least, begins the window, if there are any.

        Its job cannot end in the window, outside of the section. So it is none that has ended before the
        first task of its chain is released again, if that is released in the window.

        A lock is not waited for if only tasks before the lower one in its chain, of the priority or above,
        request it: its job has ended before they have the next one."""
        if heads and not any(self._can_be_in(section, head) for head in heads):
            return False
        lower = self._named.get(section.task)
        if lower is None or lower.name not in self._ended:
            return True
        before = self._before(lower)
        if self.head(task, task.priority) in before:
            return False
        if section.at_ceiling or any(self.emitter(head) is lower for head in heads):
            return True
        above = {each.name for each in before if each.priority >= task.priority}
        lock = section.resource
        return any(
            priority >= task.priority and name != lower.name and name not in above
            for cpi, own in self._workload.lock.items()
            if own == lock
            for name, priority in self._workload.pressing[cpi].items()
        )

    def _can_be_in(self, section: RequestSection, head: WorkloadTask) -> bool:
        """Whether a lower task can be in a section when a head is released.

        What releases the head in its own code is in no section, and has no lock. It executes then, at its own
        priority. So none that is above it has a job, and none is in a CPI with a ceiling above it, or in the
        queue for one: that task, or the one that keeps it waiting, would execute instead.

        A task before it in the chain is in no section if it emitted in its own code, too, and all between the
        two are above it: one of these had a job at each time since then, so that it has not executed.

        The same holds for a task that one of the chain released later or at the same time: if one that is
        above was there at each time since then, it has not begun. And one that follows from the head has
        ended before, where its chain ends in a period."""
        emitter = self._named[head.after]
        lower = self._named.get(section.task)
        if self._at_own_priority(head):
            if lower is emitter or section.priority > emitter.priority:
                return False
            if self._highest_ceiling(section) > emitter.priority:
                return False
        if lower is None or lower is emitter:
            return True
        if lower.name in self._ended and (head in self._before(lower) or self._has_not_begun(lower, head)):
            return False
        return not self._waits_to_go_on(lower, head)

    def _highest_ceiling(self, section: RequestSection) -> float:
        """The highest ceiling at which a task executes in a section, or with the locks around it; -1 for
        none."""
        if section.at_ceiling:
            return inf  # that of each job that waits for it
        cpis = (self._workload.of_lock[lock][0] for lock in section.held)
        return max((cpi.ceiling for cpi in cpis if cpi.protocol.own_priority), default=-1)

    def _waits_to_go_on(self, lower: WorkloadTask, head: WorkloadTask) -> bool:
        """Whether a task has emitted in its own code what led to the release of a head, with a job above it
        there at each time since then."""
        before = self._before(head)
        if lower not in before:
            return False
        way = [head, *before[: before.index(lower)]]
        return all(self._at_own_priority(each) for each in way) and all(
            each.priority > lower.priority for each in way[1:]
        )

    def from_release(
        self, task: WorkloadTask, own: Load, found: Response, blocking: Time, supply: Supply
    ) -> Response:
        """The response counted from the release of a task by one of its priority or above, where that is less
        than what was `found` from the release of the first one of its segment. `blocking` is that of the
        whole window.

        When the emitter executes, outside of requests, no task above it has a job. What a task below the
        window released is there once, so it has ended, if it and all before it in the window are above the
        emitter."""
        emitter = self.emitter(task)
        ends = task.name in self._ended and emitter is not None and emitter.priority >= task.priority
        if emitter is None or not ends or not self._at_own_priority(task):
            return found
        root = self.head(task, -1)
        again: list[Load] = []  # that can be released from then on, as often as their periods let them
        rest: list[tuple[Load, int]] = []
        for load, count in found.interference:
            if load.interrupts:
                again.append(load)
                continue
            other = self._named[load.name]
            mine = self.head(other, -1) is root
            ended = self._has_ended(other, task) if mine else self._ended_once(other, task.priority, emitter)
            if not mine and not other.after and other.priority > emitter.priority:
                again.append(load)
            elif not ended:
                rest.append((load, count))
        fixed = blocking + sum(count * load.demand for load, count in rest)
        later = response(own, again, lambda _: fixed, supply=supply)
        if not isinstance(later, Response) or later.time >= found.time:
            return found
        return replace(later, interference=(*later.interference, *rest))

    def _ended_once(self, other: WorkloadTask, priority: int, emitter: WorkloadTask) -> bool:
        """Whether a task that one below the window released, as the first of its segment or through others,
        has ended whenever the emitter executes."""
        while other.priority > emitter.priority and (before := self.emitter(other)) is not None:
            if before.priority < priority:
                return True
            other = before
        return False

    def _has_ended(self, other: WorkloadTask, task: WorkloadTask) -> bool:
        """Whether the job of a task of the same chain has ended when that of `task` is released: one between
        them, or what that follows, has executed below it, outside of requests, when it released the next."""
        way = [task, *self._before(task)]
        from_common = []
        while other not in way:
            from_common.append(other)
            emitter = self.emitter(other)
            if emitter is None:
                return False
            other = emitter
        place = way.index(other)
        if place < 2:  # the task, or its emitter
            return False
        below = [way[i + 1].priority for i in range(place - 1) if self._at_own_priority(way[i])]
        if min(below, default=other.priority) >= other.priority:
            return False
        return all(each.priority > way[1].priority for each in from_common)

    def _at_own_priority(self, task: WorkloadTask) -> bool:
        """Whether the event that releases a task is emitted at the emitter's own priority: outside of
        requests, and by none that has the priority of tasks that wait for it."""
        own = bool(task.event) and all(end.startswith(f"{task.after}.") for end in task.event)
        return own and task.after not in self._helpers

    def _has_not_begun(self, lower: WorkloadTask, head: WorkloadTask) -> bool:
        """Whether a task, or one before it in its chain, has been released but not executed when another one
        of the chain is released."""
        its, mine = [lower, *self._before(lower)], self._before(head)
        common = next((each for each in mine if each in its), None)
        if common is None or common is lower:
            return False
        first = its[its.index(common) - 1]
        way = [head, *mine[: mine.index(common)]]
        above = [each.priority for each in way[1:]]
        if not self._together(way[-1], first):
            above.append(common.priority)  # it has not ended when it releases the other one later
        return min(above, default=first.priority + 1) > first.priority

    def _before(self, task: WorkloadTask) -> list[WorkloadTask]:
        """The tasks before it in its chain, the last one first."""
        found = []
        while (emitter := self.emitter(task)) is not None:
            found.append(emitter)
            task = emitter
        return found

    def _follows(self, name: str, task: WorkloadTask) -> bool:
        """Whether a task is released by another one, through tasks of its priority or above."""
        emitter = self.emitter(self._named[name])
        while emitter is not None and emitter.priority >= task.priority:
            if emitter.name == task.name:
                return True
            emitter = self.emitter(emitter)
        return False

    def latest(self, found: Mapping[tuple[str, str], Response]) -> dict[str, Time]:
        """When jobs end, at most, after the release of the first one of their chain: with the responses in
        windows of the tasks before them, if none after that one is below it, nor an equal, where its next job
        can come before the end; or of their own."""
        latest: dict[str, Time] = {}
        for task in self.in_order():
            ways = [way for way in self._ways(task, found, latest) if way is not None]
            if ways:
                latest[task.name] = min(ways)
        return latest

    def in_order(self) -> Iterator[WorkloadTask]:
        """Each task after the one that releases it."""
        graph = {task.name: {task.after} & self._named.keys() for task in self._workload.tasks}
        return (self._named[name] for name in TopologicalSorter(graph).static_order())

    def _ways(
        self, task: WorkloadTask, found: Mapping[tuple[str, str], Response], latest: Mapping[str, Time]
    ) -> Iterator[Time | None]:
        before: WorkloadTask | None = task
        lowest = task.priority
        while before is not None:
            response = found.get((task.name, before.name))
            lasts = response is not None and response.latest > before.period
            again = lasts and before is not task and before.priority == lowest  # its next job can be first
            if before.priority <= lowest and response is not None and not again:
                lowest = before.priority
                emitter = self.emitter(self.head(before, before.priority))
                if emitter is None:
                    yield response.latest
                elif emitter.name in latest:
                    yield response.time + latest[emitter.name]
            before = self.emitter(before)


def load_of(task: WorkloadTask, needed: Demands) -> Load:
    """What the jobs of a task demand."""
    return Load(
        task.name,
        task.priority,
        task.period,
        needed.of_task[task.name].total,
        task.jitter,
        goes_on=bool(task.requests) or not task.work,
    )
