# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes a run in the Common Trace Format (CTF 1.8), which babeltrace2 and Trace Compass read: a folder with
a description of the events, in the format's own language, and one stream of them.

All times are virtual nanoseconds since boot; where there is none, as the end of a job that did not end, -1.
A text that is empty is "-": babeltrace2 2.0 shows the one before instead of an empty one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from operator import itemgetter

from msgspec import Struct

from camkes.running.model import Run
from camkes.showing.words import fault_words
from camkes.visible import visible

#: the files of the folder
METADATA, STREAM = "metadata", "stream"

_MAGIC = 0xC1FC1FC1
_HEADER = """\
/* CTF 1.8 */

typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; base = 16; } := uint32_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;

trace {
    major = 1;
    minor = 8;
    byte_order = le;
    packet.header := struct { uint32_t magic; };
};

clock {
    name = "virtual";
    description = "virtual nanoseconds since boot";
    freq = 1000000000;
    absolute = false;
};

typealias integer { size = 64; align = 8; signed = false; map = clock.virtual.value; } := instant_t;

stream {
    event.header := struct { uint16_t id; instant_t timestamp; };
};
"""


class _CtfEvent(Struct, frozen=True):
    """A kind of event: the fields `texts`, then the fields `numbers`."""

    id: int
    name: str
    texts: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    def described(self) -> str:
        fields = [*(f"string {name};" for name in self.texts), *(f"int64_t {name};" for name in self.numbers)]
        return (
            f'\nevent {{\n    name = "{self.name}";\n    id = {self.id};\n'
            f"    fields := struct {{ {' '.join(fields)} }};\n}};\n"
        )

    def at(self, time: int, texts: Sequence[str], numbers: Sequence[int | None] = ()) -> tuple[int, bytes]:
        """An event, and its time."""
        words = b"".join((visible(text) or "-").encode() + b"\0" for text in texts)
        values = [-1 if number is None else number for number in numbers]
        return time, struct.pack("<HQ", self.id, time) + words + struct.pack(f"<{len(values)}q", *values)


# the fields are those of the structures in camkes.running.model
_TASK = _CtfEvent(0, "task_state", ("task", "state", "what", "by"), ("end", "priority", "hindered"))
_THREAD = _CtfEvent(1, "thread_state", ("thread", "state", "what"), ("end", "priority"))
_JOB = _CtfEvent(2, "job", ("task", "outcome"), ("number", "begin", "end", "deadline", "blocked"))
_REQUEST = _CtfEvent(3, "request", ("thread", "cpi", "context", "task"), ("end", "priority", "sequence"))
_LOCK = _CtfEvent(4, "lock", ("thread", "cpi", "step"))
_INHERIT = _CtfEvent(5, "inheritance", ("heir", "source"), ("before", "after"))
_WAKEUP = _CtfEvent(6, "wakeup", ("emitter", "receiver", "what"))
_PRIORITY = _CtfEvent(7, "priority", ("thread",), ("priority",))
_OUTPUT = _CtfEvent(8, "output", ("thread", "text"))
_FAULT = _CtfEvent(9, "fault", ("thread", "task", "words"))
_END = _CtfEvent(10, "end", ("why",))
_KINDS = (*(_TASK, _THREAD, _JOB, _REQUEST, _LOCK, _INHERIT, _WAKEUP, _PRIORITY, _OUTPUT, _FAULT, _END),)


def ctf_metadata() -> str:
    """The description of all events, which is the same for all runs."""
    return _HEADER + "".join(kind.described() for kind in _KINDS)


def ctf_stream(run: Run) -> bytes:
    """The events of a run, by time. Equal runs give equal bytes."""
    found = sorted(_events(run), key=itemgetter(0))
    return struct.pack("<I", _MAGIC) + b"".join(event for _, event in found)


def _events(run: Run) -> Iterator[tuple[int, bytes]]:
    names, thread = run.names, run.names.thread_name
    for lane in run.lanes:
        for s in lane.segments:
            texts = (lane.task.name, s.state.value, s.what, s.by)
            yield _TASK.at(s.start, texts, (s.end, s.priority, int(s.hindered)))
        for job in lane.jobs:
            values = (job.number, job.begin, job.end, job.deadline, job.blocked)
            yield _JOB.at(job.release, (lane.task.name, job.outcome.value), values)
    for traced in run.threads:
        for s in traced.segments:
            yield _THREAD.at(s.start, (traced.named.name, s.state.value, s.what), (s.end, s.priority))
        for time, priority in traced.priorities:
            yield _PRIORITY.at(time, (traced.named.name,), (priority,))
    for r in run.requests:
        task = names.task(r.task)
        place = (thread(r.thread), names.cpi_name(r.cpi), names.context_name(r.context))
        numbers = (r.end, r.priority, r.sequence)
        yield _REQUEST.at(r.start, (*place, "" if task is None else task.name), numbers)
    for lock in run.locks:
        yield _LOCK.at(lock.time, (thread(lock.thread), names.cpi_name(lock.cpi), lock.step.value))
    for i in run.inheritances:
        source = "" if i.source is None else thread(i.source)
        yield _INHERIT.at(i.time, (thread(i.heir), source), (i.before, i.after))
    for wakeup in run.wakeups:
        yield _WAKEUP.at(wakeup.time, (thread(wakeup.emitter), thread(wakeup.receiver), wakeup.what))
    for output in run.outputs:
        yield _OUTPUT.at(output.time, (thread(output.thread), output.text.rstrip("\n")))
    for fault in run.faults:
        yield _FAULT.at(fault.time, (fault.thread.name, fault.task, fault_words(fault)))
    yield _END.at(run.end, ("" if run.ending is None else run.ending.name.lower(),))
