# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Check a certificate of response times with the plan alone, by no code of the analysis.

examples:
  camkes plan examples/nested --code --json > plan.json
  camkes analyze examples/nested --certificate nested.jsonl
  camkes-check-certificate plan.json nested.jsonl

Exit status: 0 if each deadline is certified to be met; 1 if a line of the certificate is wrong; 2 if a file
cannot be a plan or a certificate; 3 if the certificate is right, and not enough. Times are nanoseconds."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser, RawTextHelpFormatter
from collections import Counter, namedtuple
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import accumulate, takewhile
from math import gcd, inf
from pathlib import Path
from typing import Any

ONCE = 1 << 99  # the period of what is released once
Task = namedtuple("Task", "name priority period deadline work requests after timed band domain budget")
Cpi = namedtuple("Cpi", "name excludes inherits ceiling work requests lock any_order")
Cost = namedtuple("Cost", "request step step_below_lock of_budget release", defaults=(0, 0, 0, 0, 0))
Load = namedtuple("Load", "task time period late emitter due", defaults=(0, "", None))


class WrongError(Exception):
    """A line of the certificate is wrong."""


class Section(namedtuple("Section", "task cpi duration at_ceiling held priority closed rows")):
    """A request of a lower task that a job can wait for. Meanwhile no task with a priority between two that
    are `closed` is in one. It takes so much of rows ("held", CPI), ("lock", LOCK) and ("ceiling", "")."""

    def excludes(self, other: Section) -> bool:
        return any(low < other.priority < high for low, high in self.closed)


class PartialChoice(namedtuple("PartialChoice", "base options left")):
    """Sections of the sum `base` are chosen. Each other task can have one of its `options`, with what is
    `left` of each row. Of rows for locks there is more if a section that is chosen requests them."""

    def choose(self, chosen: Section) -> PartialChoice:
        left = {row: count - chosen.rows.get(row, 0) for row, count in self.left.items()}
        full = {row for row, most in left.items() if most <= 0 and row[0] != "lock"}
        others = (s for s in self.options if s.task != chosen.task and full.isdisjoint(s.rows))
        options = [s for s in others if not (s.excludes(chosen) or chosen.excludes(s))]
        return PartialChoice(self.base + chosen.duration, options, left)

    def bound(self, prices: Mapping[Any, int]) -> Any:
        """No sum is greater, whatever the prices are: each task has the best of its options after them."""
        best = Counter[str]()
        for s in self.options:
            worth = s.duration - sum(n * prices.get(row, 0) for row, n in s.rows.items())
            best[s.task] = max(best[s.task], worth)
        return self.base + sum(price * self.left[row] for row, price in prices.items()) + best.total()

    def proved(self, sections: Sequence[Section], proof: Iterator[Any], prices: Any) -> Any:
        """The greatest bound of all parts of a proof. A number divides a part into the choices with that
        section, which come first, and without it; prices are for all of a part; null closes one."""
        step = next(proof, None)
        if step is None:
            return self.bound(prices)
        if not isinstance(step, int):
            return self.proved(sections, proof, {(k, n): p for k, of in step.items() for n, p in of.items()})
        rest = [s for s in self.options if s is not sections[step]]
        found = self.choose(sections[step]).proved(sections, proof, prices)
        return max(found, self._replace(options=rest).proved(sections, proof, prices))


class Checker:
    """What the plan states, and what follows from it; and the `line` of a certificate that is checked."""

    def __init__(self, plan: Any, lines: Sequence[Any]) -> None:
        found, self.lines, self.line = plan["workload"], lines, 0
        self.slots = [(domain, length) for domain, length in found["slots"] if length] or [(0, 1)]
        self.cpis = {of["name"]: Cpi(*(of[name] for name in Cpi._fields)) for of in found["cpis"]}
        self.lock = {name: cpi.lock or name for name, cpi in self.cpis.items()}
        self.tasks = {of["name"]: Task(*(of[name] for name in Task._fields)) for of in found["tasks"]}
        self.assumptions = [str(each["text"]) for each in found["assumptions"]] + lines[0]["assumptions"]
        before = {n: self.tasks[t.after] for n, t in self.tasks.items() if t.after in self.tasks}
        self.before = {n: o for n, o in before.items() if o.domain == self.tasks[n].domain}
        party: dict[str, Any] = {**self.tasks, **self.cpis}
        self.costs = {name: Cost(**lines[0]["costs"].get(name, {})) for name in party}
        self.all: dict[str, Counter[str]] = {}  # how often each leads to requests to which CPIs
        self.time: dict[str, int] = {}  # of a job or a request with all its requests
        for name in TopologicalSorter({n: p.requests.keys() for n, p in party.items()}).static_order():
            self.all[name] = Counter(party[name].requests)
            self.time[name] = party[name].work + self.costs[name].request
            for k, n in party[name].requests.items():
                self.time[name] += n * self.time[k]
                self.all[name].update({callee: n * each for callee, each in self.all[k].items()})
        self.of = {lock: [k for k in self.cpis if self.lock[k] == lock] for lock in {*self.lock.values()}}
        # of which tasks requests arrive at a CPI, or wait for a lock and what its holder requests: priorities
        self.arrivals = {n: {n: p.priority} if n in self.tasks else {} for n, p in party.items()}
        for name in reversed(self.all):
            own = getattr(party[name], "ceiling", None)
            for k in party[name].requests:
                for of, p in self.arrivals[name].items():
                    self.arrivals[k][of] = max(p if own is None else own, self.arrivals[k].get(of, 0))
        self.arriving = {n: Counter[str]() for n in self.of}
        for _ in self.of if len(self.of) < len(self.cpis) else [""]:
            for name, cpi in ((n, self.cpis[n]) for n in reversed(self.all) if n in self.cpis):
                self.arriving[self.lock[name]] |= Counter(self.arrivals[name])
                for k in cpi.requests if cpi.ceiling is None else ():
                    self.arriving[self.lock[k]] |= self.arriving[self.lock[name]]
        self.claims = {of["task"]: of for of in lines if of["line"] == "task"}
        ends = {name: of["response"] for name, of in self.claims.items()}
        left = {n: t.budget - self.costs[n].of_budget for n, t in self.tasks.items() if t.budget is not None}
        short = any(b <= self.time[n] or self.tasks[n].period < ends.get(n, inf) for n, b in left.items())
        open_band = any(o.band and (before or o.name not in self.claims) for o in self.tasks.values())
        self.barred = {*self.tasks} if short or open_band else {*found["without_bound"]}
        self.why, self.good = dict.fromkeys(self.tasks, "not certified: it has no lines"), True

    def check(self) -> list[str]:
        """What is certified, and what it rests on."""
        lines = self.lines
        for self.line, of in enumerate(lines):
            if "task" in of:
                if of["task"] not in self.why:
                    raise WrongError("the plan has no such task")
                self.why[of["task"]] = "" if of["line"] == "task" else f"not certified: {of['why']}"
            if of["line"] == "task":
                self.task(self.tasks[of["task"]])
        sure = "met" if self.lines[0]["platform"] and not self.assumptions else "met if what is assumed is so"
        words = [f"{len(self.claims)} of {len(self.tasks)} tasks are certified"]
        for name, why in sorted(self.why.items(), key=lambda each: -self.tasks[each[0]].priority):
            deadline, claim = self.tasks[name].deadline or inf, self.claims.get(name, {"response": inf})
            self.good &= claim["response"] <= deadline
            met = sure if claim["response"] <= deadline else "not shown to be met"
            numbers = ", ".join(f"{key} {claim.get(key)}" for key in ("response", "latest", "blocking"))
            words.append(f"{name}: {why or f'{met}: {numbers}, deadline {deadline}'}")
        words.append(f"costs of operations: {self.lines[0]['platform'] or 'assumed to be none'}")
        words += (f"  {name}: {str(cost)[5:-1]}" for name, cost in self.costs.items() if any(cost))
        words += (f"  the kernel: {cost}, once in {every}" for cost, every in lines[0]["kernel"])
        return words + [f"assumed: {text}" for text in self.assumptions]

    def lower_sections(self, task: Any) -> Iterator[Section]:
        """The outermost sections in which lower tasks can execute before a job of the task."""
        lower = [o for o in self.tasks.values() if o.priority < task.priority and o.domain == task.domain]
        todo: list[tuple[str, str, tuple[str, ...]]] = [(o.name, k, ()) for o in lower for k in o.requests]
        seen = set(todo)
        while todo:
            of, name, held = todo.pop()
            cpi, fixed = self.cpis[name], self.cpis[name].ceiling is not None
            above = {o for o, p in self.arriving[self.lock[name]].items() if p >= task.priority}
            inherits = [lock for lock in held if self.cpis[self.of[lock][0]].inherits]
            who = ({o for k in self.of[n] for o in self.arrivals[k]} for n in inherits)
            locked = any(len(w) > 1 for w in who) or any(not self.of[n][0].startswith(n) for n in inherits)
            step = self.costs[name].step_below_lock if locked else self.costs[name].step
            if step and above:
                yield self.section(of, name, held, True, step)
            if (fixed and cpi.ceiling >= task.priority) or (cpi.inherits and above - {of}):
                yield self.section(of, name, held, fixed, self.time[name])
                continue
            below = (*held, self.lock[name]) if cpi.excludes else held
            todo += (more := {(of, callee, below) for callee in cpi.requests} - seen)
            seen |= more

    def section(self, of: str, name: str, held: tuple[str, ...], ceiling: bool, time: int) -> Section:
        rows = Counter({("held", each): 1 for each in held})
        rows["ceiling" if ceiling else "lock", "" if ceiling else self.lock[name]] += 1
        for callee, n in self.all[name].items() if self.cpis[name].excludes else ():
            rows["lock", self.lock[callee]] -= n
        outer, own = (self.cpis[self.of[lock][0]] for lock in held), self.tasks[of].priority
        highs = [cpi.ceiling for cpi in takewhile(lambda cpi: not cpi.inherits, outer)]
        highs += [inf] if ceiling and len(highs) == len(held) else []
        closed = frozenset(zip(accumulate([own, *highs], max), highs, strict=False))
        return Section(of, name, time, ceiling, frozenset(held), own, closed, rows=rows)

    def phases(self, domain: int) -> list[tuple[int, list[tuple[int, int]], int]]:
        """Where slots end, windows of least supply begin: each with the slots from there on, and a round."""
        own = [(sum(n for _, n in self.slots[:i]), n) for i, (d, n) in enumerate(self.slots) if d == domain]
        total = sum(n for _, n in self.slots)
        ends = sorted({(begin + n) % total for begin, n in own} - {begin for begin, _ in own})
        found = [(end, [((begin - end) % total, n) for begin, n in own], total) for end in ends]
        return found or [(0, own or [(0, 0)], total)]

    def each(self, kind: str) -> Iterator[Any]:
        """The lines of a kind that follow that of a task."""
        begin, lines = self.line, takewhile(lambda of: "task" not in of, self.lines[self.line + 1 :])
        for self.line, of in enumerate(lines, begin + 1):
            if of["line"] == kind:
                yield of
        self.line = begin

    def loads(self, task: Any) -> Iterator[Load]:
        """What can be in a busy window of a task: jobs of its priority or above. If a task below releases the
        first of a chain, that is once, at the beginning, and all that are so released have one `emitter`.
        Others are released up to `late` after a `period`. Jobs of the task, what follows it and its band
        count if they are `due` in the time that a line is about, so long after their release."""
        for o in self.tasks.values():
            if o.priority >= task.priority and o.domain == task.domain:
                if o.name in self.barred or not o.period or (o.after and o.after not in self.claims):
                    raise WrongError(f"{o.name} has no bound, or is released at times that are not certified")
                chain = [o]
                while (emitter := self.before.get(chain[-1].name)) and emitter.priority >= task.priority:
                    chain.append(emitter)
                late = 0 if emitter or not chain[-1].after else self.claims[chain[-1].after]["latest"]
                period, name = (ONCE, emitter.name) if emitter else (chain[-1].period, "")
                due = o.deadline if o.band and o.band == task.band else 0 if task in chain else None
                yield Load(o, self.time[o.name], period, late, name, due)

    def task(self, task: Any) -> None:
        """Check all that is claimed of a task."""
        waits, own = self.bounds(task, loads := [*self.loads(task)]), next(o for o in loads if o.task is task)
        band = [o for o in self.tasks.values() if task.band and o.band == task.band]
        begin, end = own.due, min((o.deadline for o in band if o.deadline > own.due), default=inf)
        emitters = [own.emitter] if own.emitter else sorted({"", *(load.emitter for load in loads)})
        todo = [(emitter, *phase) for emitter in emitters for phase in self.phases(task.domain)]
        ends = [o.task.work and not o.task.requests for o in loads if o.due is not None]  # with its work
        loads += [Load(None, self.costs[o.name].release, o.period) for o in self.tasks.values() if o.period]
        loads += [Load(None, *each) for each in self.lines[0]["kernel"]]
        for of in self.each("job"):
            if not todo or (of["emitter"], of["phase"]) != todo[0][:2]:
                raise WrongError("a job before this one is missing, or none has to follow")
            emitter, _, slots, round_ = todo[0]
            window, last = max(of["window"], 1), True
            needed = blocking = min((most for until, most in waits if until >= window), default=inf)
            for o in (load for load in loads if load.emitter in ("", emitter)):
                jobs = -(-(window + o.late) // o.period)
                most = jobs if o.due is None else (of["until"] - o.due) // o.period + 1
                needed, last = needed + o.time * min(jobs, most), last and jobs <= most
            given = sum(window // round_ * n + min(max(window % round_ - b, 0), n) for b, n in slots)
            has = any(b <= window % round_ < b + n for b, n in slots)  # the processor, at the end
            if given < needed or (given == needed and not has and not all(ends)):
                raise WrongError(f"{needed} are demanded in this window, and there is {given}")
            for each in [o for o in band if o.deadline <= own.due] or [task]:
                claim, release = self.claims[each.name], begin - (each.deadline if band else 0) - own.late
                latest = self.claims[own.emitter]["latest"] if own.emitter else window - release
                took = window - max(0, release), blocking, latest
                if took[0] > claim["response"] or blocking > claim["blocking"] or latest > claim["latest"]:
                    raise WrongError(f"response, blocking, latest of {each.name} can be {took}")
            begin, todo = (own.due, todo[1:]) if last or of["until"] >= end - 1 else (of["until"] + 1, todo)
        if todo:
            raise WrongError("jobs are missing")

    def bounds(self, task: Any, loads: Sequence[Load]) -> list[tuple[float, int]]:
        """For how long lower tasks keep a job waiting in windows up to which lengths."""
        found, listed = {section[:5]: section for section in self.lower_sections(task)}, {}
        for of in self.each("section"):
            key = of["lower"], of["cpi"], of["duration"], of["at_ceiling"], frozenset(of["held"])
            if key not in found:
                raise WrongError("there is no such section, or it has another duration")
            listed[key] = found[key]
        for key in found.keys() - listed.keys():  # one that excludes less takes the place of others
            like = [o for o in listed.values() if o[:4] == key[:4] and o.held <= key[4]]
            if not any(o.closed <= found[key].closed for o in like):
                raise WrongError(f"a section of {key[0]} in {key[1]} is left out")
        return [(of["window"], self.blocking(of, [*listed.values()], loads)) for of in self.each("bound")]

    def blocking(self, of: Any, sections: Sequence[Section], loads: Sequence[Load]) -> Any:
        """What a line claims of windows of some length, if its proof shows it."""
        left = {row: 1 for s in sections for row in s.rows if row[0] != "lock"}
        holders = {(self.lock[s.cpi], s.task) for s in sections if not s.at_ceiling}
        for lock, most in Counter(lock for lock, _ in holders).items():
            jobs = {o.task.name: -(-(of["window"] + o.late) // o.period) for o in loads}
            limit = sum(n * self.all[name][k] for name, n in jobs.items() for k in self.of[lock])
            any_order = any(self.cpis[k].any_order for k in self.of[lock])
            left["lock", lock] = most if any_order else min(limit, most)
        unit = gcd(*(s.duration for s in sections)) or 1  # all sums are multiples of it
        least = PartialChoice(0, sections, left).proved(sections, iter(of["proof"]), {}) // unit * unit
        if least > of["blocking"]:
            raise WrongError(f"the proof shows {least}, and no less")
        return of["blocking"]


def whole(text: str) -> int:
    return int(text if text.isdecimal() else f"no time and no count: {text[:20]}")  # which is a ValueError


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = ArgumentParser(description=__doc__, formatter_class=RawTextHelpFormatter)
    parser.add_argument("plan", metavar="PLAN", type=Path, help="what `camkes plan --json` wrote")
    parser.add_argument("certificate", metavar="CERTIFICATE", type=Path, help="what is checked")
    given = parser.parse_args()
    read = json.JSONDecoder(parse_int=whole, parse_float=whole, parse_constant=whole).decode
    place, status = given.plan, 2
    try:
        plan, place = read(place.read_text("utf-8")), given.certificate
        checker = Checker(plan, read("[" + ",\n".join(place.read_text("utf-8").splitlines()) + "]"))
        found, status = checker.check(), 0 if checker.good else 3
    except WrongError as error:
        found, status = [f"{place}:{checker.line + 1}: {error}"], 1
    except Exception as error:  # whatever is not as it should be in a file
        found = [f"{place}: {type(error).__name__}: {error}"]
    for text in found:
        print("".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in text))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
