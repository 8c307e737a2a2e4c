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

import argparse
import json
import signal
import sys
from collections import Counter, namedtuple
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from graphlib import TopologicalSorter
from math import gcd, inf
from pathlib import Path
from typing import Any

WAYS = 200_000  # on which lower tasks come to CPIs, at most
Task = namedtuple("Task", "name priority period deadline work requests after timed band domain")
Cpi = namedtuple("Cpi", "name excludes inherits ceiling work requests lock any_order")
Cost = namedtuple("Cost", "request step step_below_lock", defaults=(0, 0, 0))


class WrongError(Exception):
    """A line of the certificate is wrong."""


class Section(namedtuple("Section", "task priority cpi duration held at_ceiling closed rows")):
    """A request of a lower task that a job can wait for. Meanwhile no task with a priority between two that
    are `closed` is in one. It takes so much of rows ("held", CPI), ("lock", LOCK) and ("ceiling", "")."""

    def excludes(self, other: Section) -> bool:
        return any(low < other.priority < high for low, high in self.closed)

    def fits(self, left: Mapping[Any, int]) -> bool:
        return all(left[row] >= n for row, n in self.rows.items() if row[0] != "lock")


class PartialChoice(namedtuple("PartialChoice", "base options left")):
    """Sections of the sum `base` are chosen. Each other task can have one of its `options`, with what is
    `left` of each row. Of rows for locks there is more if a section that is chosen requests them."""

    def choose(self, chosen: Section) -> PartialChoice:
        left = {row: count - chosen.rows.get(row, 0) for row, count in self.left.items()}
        options = {
            task: [s for s in of if s.fits(left) and not (s.excludes(chosen) or chosen.excludes(s))]
            for task, of in self.options.items()
            if task != chosen.task
        }
        return PartialChoice(self.base + chosen.duration, options, left)

    def bound(self, prices: Mapping[Any, int]) -> int:
        """No sum is greater, whatever the prices are: each task has the best of its options after them."""
        found: int = self.base + sum(price * self.left[row] for row, price in prices.items())
        for of in self.options.values():
            worth = (s.duration - sum(n * prices.get(r, 0) for r, n in s.rows.items()) for s in of)
            found += max([0, *worth])
        return found

    def proved(self, sections: Sequence[Section], proof: Sequence[Any]) -> int:
        """The greatest bound of all parts of a proof. A number divides a part into the choices with that
        section, which come first, and without it; prices are for all of a part; null closes one."""
        found, parts = 0, [(self, dict[Any, int]())]
        for each in proof:
            part, prices = parts.pop()
            if each is None:
                found = max(found, part.bound(prices))
            elif isinstance(each, int):
                rest = {n: [s for s in of if s is not sections[each]] for n, of in part.options.items()}
                parts += [(part._replace(options=rest), prices), (part.choose(sections[each]), prices)]
            else:
                parts.append((part, {(kind, name): p for kind, of in each.items() for name, p in of.items()}))
        if parts:
            raise WrongError("the proof ends before all choices are closed")
        unit = gcd(*(s.duration for s in sections)) or 1
        return found // unit * unit  # all sums are multiples of it


class Checker:
    """What the plan states, and what follows from it; and the `line` of a certificate that is checked."""

    def __init__(self, plan: Any, lines: Sequence[Any]) -> None:
        found, self.lines, self.line = plan["workload"], lines, 0
        self.slots = [(domain, length) for domain, length in found["slots"] if length] or [(0, 1)]
        self.cpis = {of["name"]: Cpi(*(of[name] for name in Cpi._fields)) for of in found["cpis"]}
        self.tasks = {of["name"]: Task(*(of[name] for name in Task._fields)) for of in found["tasks"]}
        self.assumptions = [str(each["text"]) for each in found["assumptions"]]
        other = plan.get("mcs") or any(each.band for each in self.tasks.values())  # budgets, deadlines
        self.barred = {*self.tasks} if other else {*found["without_bound"]}
        party: dict[str, Any] = {**self.tasks, **self.cpis}
        self.costs = {name: Cost(**lines[0]["costs"].get(name, {})) for name in party}
        self.lock = {name: cpi.lock or name for name, cpi in self.cpis.items()}
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
        self.found, self.good = dict[str, str](), True  # why tasks are not certified; all deadlines are met

    def check(self) -> list[str]:
        """What is certified, and what it rests on."""
        begins = [n for n, of in enumerate(self.lines) if of["line"] in ("task", "not certified")]
        for begin, end in zip(begins, [*begins[1:], len(self.lines)], strict=True):
            self.line, of = begin, self.lines[begin]
            if of["task"] in self.found or of["task"] not in self.tasks:
                raise WrongError("the plan has no such task, or it has a line before")
            self.found[of["task"]] = "" if of["line"] == "task" else f"not certified: {of['why']}"
            if of["line"] == "task":
                self.task(of, [(n, self.lines[n]) for n in range(begin + 1, end)])
        if missing := self.tasks.keys() - self.found.keys():
            raise WrongError(f"nothing follows about {min(missing)}")
        sure = "met" if self.lines[0]["platform"] and not self.assumptions else "met if what is assumed is so"
        words = [f"{len(self.claims)} of {len(self.tasks)} tasks are certified"]
        for name, why in self.found.items():
            deadline, claim = self.tasks[name].deadline or inf, self.claims.get(name, {"response": inf})
            self.good &= claim["response"] <= deadline
            met = sure if claim["response"] <= deadline else "not shown to be met"
            keys = "response", "latest", "blocking", "demand"
            numbers = ", ".join(f"{key} {claim.get(key)}" for key in keys)
            words.append(f"{name}: {why or f'{met}: {numbers}, deadline {deadline}'}")
        words.append(f"costs of operations: {self.lines[0]['platform'] or 'assumed to be none'}")
        words += (f"  {n}: request {r}, step {a} or {b}" for n, (r, a, b) in self.costs.items() if r + a + b)
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
            more = {(of, callee, below) for callee in cpi.requests} - seen
            seen |= more
            todo += more
            if len(seen) > WAYS:
                raise ValueError(f"lower tasks come to CPIs on more than {WAYS} ways")

    def section(self, of: str, name: str, held: tuple[str, ...], ceiling: bool, time: int) -> Section:
        rows = Counter({("held", each): 1 for each in held})
        rows["ceiling" if ceiling else "lock", "" if ceiling else self.lock[name]] += 1
        for callee, n in self.all[name].items() if self.cpis[name].excludes else ():
            rows["lock", self.lock[callee]] -= n
        closed, own, low = [], self.tasks[of].priority, self.tasks[of].priority
        for each in (self.cpis[self.of[lock][0]] for lock in held):
            if each.inherits:
                break
            closed.append((low, each.ceiling))
            low = max(low, each.ceiling)
        else:
            closed += [(low, inf)] if ceiling else []
        return Section(of, own, name, time, frozenset(held), ceiling, frozenset(closed), rows=rows)

    def phases(self, domain: int) -> list[tuple[int, list[tuple[int, int]], int]]:
        """Where slots end, windows of least supply begin: each with the slots from there on, and a round."""
        own = [(sum(n for _, n in self.slots[:i]), n) for i, (d, n) in enumerate(self.slots) if d == domain]
        total = sum(n for _, n in self.slots)
        ends = sorted({(begin + n) % total for begin, n in own} - {begin for begin, _ in own})
        found = [(end, [((begin - end) % total, n) for begin, n in own], total) for end in ends]
        return found or [(0, own or [(0, 0)], total)]

    def task(self, claim: Any, lines: Sequence[tuple[int, Any]]) -> None:
        """Check all that is claimed of a task."""
        name, task, start = claim["task"], self.tasks[claim["task"]], self.line
        above = [o for o in self.tasks.values() if o.priority >= task.priority and o.domain == task.domain]
        for o in above:
            if o.name in self.barred or not o.period or (o.after and o.after not in self.claims):
                raise WrongError(f"{o.name} has no bound, or is released at times that are not certified")
        late = {o.name: self.claims[o.after]["latest"] if o.after else 0 for o in above}
        if (claim["demand"], claim["requests"]) != (self.time[name], self.all[name]):
            raise WrongError(f"a job demands {self.time[name]}, with requests to {dict(self.all[name])}")
        found = {(s.task, s.cpi, s.duration, s.at_ceiling, s.held): s for s in self.lower_sections(task)}
        listed = {}
        for self.line, of in (each for each in lines if each[1]["line"] == "section"):
            key = of["lower"], of["cpi"], of["duration"], of["at_ceiling"], frozenset(of["held"])
            if key not in found:
                raise WrongError("there is no such section, or it has another duration")
            listed[key] = found[key]
        self.line, sections = start, [*listed.values()]
        for key in found.keys() - listed.keys():  # one that excludes less takes the place of others
            like = [o for of, o in listed.items() if of[:4] == key[:4] and o.held <= key[4]]
            if not any(o.closed <= found[key].closed for o in like):
                raise WrongError(f"a section of {key[0]} in {key[1]} is left out")
        bounds = [] if sections else [(inf, 0)]
        for self.line, of in (each for each in lines if each[1]["line"] == "bound"):
            bounds.append((of["window"], self.blocking(of, sections, above, late)))
        longest, job, phases = (0, 0.0), 0, self.phases(task.domain)
        loads = [(o.period, late[o.name], self.time[o.name]) for o in above if o.name != name]
        timed = [o for o in self.tasks.values() if o.timed and o.period]
        loads += [(o.period, 0, self.lines[0]["release"]) for o in timed]
        for self.line, of in (each for each in lines if each[1]["line"] == "job"):
            window, release = max(of["window"], 1), job * task.period - late[name]
            if not phases or [of["phase"], of["job"]] != [phases[0][0], job]:
                raise WrongError("a job before this one is missing, or none has to follow")
            blocking = min((bound for until, bound in bounds if until >= window), default=inf)
            needed = blocking + (job + 1) * self.time[name]
            needed += sum(-(-(window + jitter) // period) * time for period, jitter, time in loads)
            _, slots, round_ = phases[0]
            given = sum(window // round_ * n + min(max(window % round_ - b, 0), n) for b, n in slots)
            has = any(b <= window % round_ < b + n for b, n in slots)  # the processor, at the end
            if given < needed or (given == needed and not has and (task.requests or not task.work)):
                raise WrongError(f"{needed} are demanded in this window, and there is {given}")
            response = window - max(0, release)
            if response > claim["response"] or window - release > claim["latest"]:
                raise WrongError(f"the job can take {response}, longer than the response that is claimed")
            longest, job = max(longest, (response, blocking)), job + 1
            if window <= release + task.period:
                job, phases = 0, phases[1:]
        self.line = start
        if phases or claim["blocking"] < longest[1]:
            raise WrongError("jobs are missing" if phases else f"the blocking is {longest[1]}")

    def blocking(self, of: Any, sections: Sequence[Section], above: Sequence[Any], late: Any) -> int:
        """What a line claims of windows of some length, if its proof shows it."""
        left = {row: 1 for s in sections for row in s.rows if row[0] != "lock"}
        holders = {(self.lock[s.cpi], s.task) for s in sections if not s.at_ceiling}
        for lock, most in Counter(lock for lock, _ in holders).items():
            limit = most if any(self.cpis[k].any_order for k in self.of[lock]) else 0
            for o in above:
                jobs = -(-(of["window"] + late[o.name]) // o.period)
                limit += jobs * sum(self.all[o.name][k] for k in self.of[lock])
            left["lock", lock] = min(limit, most)
        choice = PartialChoice(0, {s.task: [o for o in sections if o.task == s.task] for s in sections}, left)
        if (least := choice.proved(sections, of["proof"])) > of["blocking"]:
            raise WrongError(f"the proof shows {least}, and no less")
        for section in (sections[index] for index in of["chosen"]):
            if section not in choice.options.get(section.task, ()):
                raise WrongError(f"{section.task} in {section.cpi} is not possible with those before")
            choice = choice.choose(section)
        if min(choice.left.values(), default=0) < 0:
            raise WrongError("locks are not requested as often as these sections have them")
        return of["blocking"]  # type: ignore[no-any-return]


def whole(text: str) -> int:
    return int(text if text.isdecimal() else f"no time and no count: {text[:20]}")  # which is a ValueError


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    made = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("camkes-check-certificate", description=__doc__, formatter_class=made)
    parser.add_argument("plan", metavar="PLAN", type=Path, help="what `camkes plan --json` wrote")
    parser.add_argument("certificate", metavar="CERTIFICATE", type=Path, help="what is checked")
    given = parser.parse_args()
    read = partial(json.loads, parse_int=whole, parse_float=whole, parse_constant=whole)
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
    sys.exit(main())
