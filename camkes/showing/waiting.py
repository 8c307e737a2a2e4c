# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What threads wait for at the end of the record of a run, as text: `python -m camkes.showing.waiting TRACE`,
which the debugger does where it has stopped."""

from __future__ import annotations

import sys
from pathlib import Path

from camkes.diagnostics import Sink
from camkes.running.decode import decode_trace
from camkes.running.model import Run, State
from camkes.running.names import load_names
from camkes.running.waits import deadlock_words, deadlocks
from camkes.showing.words import exact_time, state_words
from camkes.visible import visible

#: threads that do not wait for others, but for their next request, event or job
_AT_REST = frozenset({State.WAITS_MESSAGE, State.WAITS_SIGNAL, State.WAITS_RELEASE, State.ENDED})


def waiting_text(run: Run) -> str:
    """A line for each thread that waits for others, with the holders of what it waits for, and one for each
    deadlock."""
    waiting = {run.names.thread_name(number): each for number, each in run.last.items()}
    shown = {name: each for name, each in waiting.items() if each.state not in _AT_REST}
    width = max(map(len, shown), default=0)
    lines = [
        f"{name:{width}}  {state_words(each, run.names)}, since {exact_time(each.start)}"
        for name, each in shown.items()
    ]
    lines += [deadlock_words(found, run.names) for found in deadlocks(run.waits)]
    return "".join(f"{visible(line)}\n" for line in lines or ["no thread waits for another"])


def main(trace: Path) -> int:
    """Print it; the exit status, 1 if the record or its names cannot be read."""
    sink = Sink()
    names = load_names(trace, sink)
    run = None if names is None else decode_trace(trace, names, sink)
    print(waiting_text(run) if run is not None else sink.diagnostics[0].message, end="")
    return run is None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
