# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a kit of evidence is made of: each part gives commands, and reads in their results what they show."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from camkes import check_certificate, pipeline, process
from camkes.backends.host.coverage import can_cover
from camkes.backends.host.host import HostImage
from camkes.backends.interface import Progress
from camkes.backends.sel4.sdk.archive import ArchiveError
from camkes.diagnostics import Sink
from camkes.diagnostics.words import plural
from camkes.evidence.kit import EvidenceCommand, EvidencePart, EvidenceTable, PartState, copy_into
from camkes.evidence.sbom import BuiltFor, sha256, to_cyclonedx
from camkes.files import write_output
from camkes.model.units import duration
from camkes.running.codes import TRACE_TRUNCATED
from camkes.running.times import format_time
from camkes.testing.suite import FOLDER

#: What can be wrong in a run, by the fields of its report.
_WRONG = {
    "violations": "violation",
    "faults": "fault",
    "findings": "finding",
    "refused": "refused message",
}
#: The code of an error, in what a command writes about it.
_ERROR = re.compile(r"^error\[(\w+)\]", re.MULTILINE)
#: Units of times, by their nanoseconds.
_UNITS = {10**6: "ms", 10**3: "us", 1: "ns"}
#: 128 and a signal is the exit status of what the user interrupted.
_INTERRUPTED = 128


class Assessed(Struct, frozen=True, kw_only=True):
    """What is assessed, and how: `words` name the system in commands, `shown` is the kit's folder as it is
    written in them. `span` is the virtual time of runs and `limit` the elapsed time of the search, as words
    of commands. With `workspace` or an SDK in `asked`, images for seL4 are made, too."""

    asked: pipeline.Input
    words: Sequence[str]
    shown: Path
    platform: str | None
    span: str
    limit: str
    strict: bool


class Assessment:
    """A kit that is made in `folder`. `execute` runs a command of this tool, `say` tells what is done."""

    def __init__(
        self,
        assessed: Assessed,
        folder: Path,
        execute: Callable[[Sequence[str]], process.Finished],
        say: Progress,
        revision: str,
    ) -> None:
        self._of = assessed
        self._folder = folder
        self._execute = execute
        self._say = say
        self._revision = revision
        self._bounds: dict[str, int | None] = {}
        self._deadlines: dict[str, int | None] = {}
        self._seen: dict[str, Mapping[str, int | None]] = {}
        self._checked: pipeline.Checked | None = None
        self._image: HostImage | None = None
        self._sel4: BuiltFor | None = None

    @property
    def name(self) -> str:
        """That of the application."""
        if self._checked is not None:
            return self._checked.application.name
        return self._of.asked.path.resolve().stem

    def parts(self) -> Iterator[EvidencePart]:
        """All parts, in the order in which they are read."""
        yield self._check()
        if self._checked is None:
            why = "not made: the system has errors, which the check above names"
            yield from (_unknown(name, why) for name, *_ in _ABOUT[1:])
            return
        steps = (
            self._plan,
            self._capabilities,
            self._analysis,
            self._certificate,
            self._exploration,
            self._run_host,
            self._build_sel4,
            self._run_sel4,
            self._timing,
            self._tests,
            self._materials,
        )
        for step in steps:
            yield step()

    # one function for each part

    def _check(self) -> EvidencePart:
        words = ["check", *self._of.words, *(["--strict"] if self._of.strict else [])]
        done, command = self._run(words, "check.txt")
        with_errors = f"{done.errors}{done.output}"
        self._write("check.txt", with_errors)
        self._read_system()
        verdict = f"the description has {'no errors' if done.status == 0 else 'errors'}"
        state = PartState.HOLDS if done.status == 0 else PartState.FAILS
        return _part("check", state, verdict, [command], ["check.txt"])

    def _read_system(self) -> None:
        """Read the system, and build it if its code can be; commands of other parts report why not."""
        self._say("building")
        sink = Sink()
        self._checked = pipeline.check_code(self._of.asked, None, sink, self._say, counting=True)
        if self._checked is not None:
            self._image = pipeline.build_checked(self._checked, None, sink, self._say)
        else:
            self._checked = pipeline.check(self._of.asked, Sink())

    def _plan(self) -> EvidencePart:
        text, one = self._run(["plan", *self._of.words, "--code"], "plan.txt")
        found, two = self._run_json(["plan", *self._of.words, "--code", "--json"], "plan.json")
        if found is None or text.status:
            return _failed("plan", [one, two])
        tasks, cpis = len(found["tasks"]), len(found["cpis"])
        verdict = f"{tasks} {plural(tasks, 'task')}, {cpis} {plural(cpis, 'CPI')}"
        slots = ", ".join(f"{domain} for {duration(length)}" for domain, length in self._slots())
        details = [f"domains in their slots: {slots}"] if slots else []
        return _part("plan", PartState.HOLDS, verdict, [one, two], ["plan.txt", "plan.json"], details=details)

    def _slots(self) -> Sequence[tuple[int, int]]:
        """Of the schedule of domains."""
        return () if self._checked is None else self._checked.system.slots

    def _capabilities(self) -> EvidencePart:
        words = ["plan", *self._of.words, "--code", "--authority"]
        text, one = self._run(words, "capabilities.txt")
        found, two = self._run_json([*words, "--json"], "capabilities.json")
        if found is None or text.status:
            return _failed("capabilities", [one, two])
        rows = tuple(
            (
                each["space"],
                "memory" if each["slot"] is None else str(each["slot"]),
                each["object"],
                each["rights"] or "-",
                str(each["badge"] or "-"),
                each["reason"],
                "each thread has it" if each["place"] is None else self._place(each["place"]),
            )
            for each in found
        )
        head = ("address space", "slot", "object", "rights", "badge", "needed, as it", "stated at")
        verdict = f"{len(rows)} capabilities and mappings, each with what needs it"
        listed = "are not listed" not in text.errors
        return _part(
            *("capabilities", PartState.HOLDS if listed else PartState.UNKNOWN),
            verdict if listed else f"{verdict}; those of some connections are not listed: see below",
            [one, two],
            ["capabilities.txt", "capabilities.json"],
            tables=[EvidenceTable(head, rows, group=0)],
        )

    def _place(self, place: Mapping[str, Any]) -> str:
        assert self._checked is not None
        path = Path(place["file"])
        folder = self._checked.application.folder.absolute()
        shown = path.relative_to(folder) if path.is_relative_to(folder) else path
        return f"{shown}:{place['line']}"

    def _analysis(self) -> EvidencePart:
        if self._checked is not None and not self._checked.plan.tasks:
            return _absent("analysis", "the system has no tasks")
        files = ["analysis.json", "analysis.html", "certificate.jsonl"]
        words = ["analyze", *self._of.words, *self._platform("--platform"), "--certificate"]
        words += [self._file("certificate.jsonl"), "--html", self._file("analysis.html"), "--json"]
        words += ["--strict"] if self._of.strict else []
        found, command = self._run_json(words, "analysis.json")
        if found is None:
            return _failed("analysis", [command])
        rows = []
        for task in found["tasks"]:
            name, response, deadline = task["name"], task["response"], task["deadline"]
            self._bounds[name], self._deadlines[name] = response, deadline
            rows.append((name, _time(deadline), _time(response), task["verdict"]))
        states = {"met": PartState.HOLDS, "met if": PartState.HOLDS_IF, "missed": PartState.FAILS}
        state = states.get(found["verdict"], PartState.UNKNOWN)
        words_of = {
            PartState.HOLDS: "all deadlines are met",
            PartState.HOLDS_IF: "all deadlines are met if what is assumed is so",
            PartState.FAILS: "deadlines can be missed",
        }
        if self._of.strict and state is PartState.HOLDS_IF:
            state = PartState.UNKNOWN
        return _part(
            *("analysis", state, words_of.get(state, "not all tasks have bounds that are known to hold")),
            [command],
            files,
            details=[f"assumed: {each['text']}" for each in found["assumptions"]],
            tables=[EvidenceTable(("task", "deadline", "bound of responses", "verdict"), tuple(rows))],
        )

    def _certificate(self) -> EvidencePart:
        plan, certificate = self._folder / "plan.json", self._folder / "certificate.jsonl"
        if self._checked is not None and not self._checked.plan.tasks:
            return _absent("certificate", "the system has no tasks")
        if not certificate.is_file() or not plan.is_file():
            return _unknown("certificate", "not made: there is no certificate, or no plan to check it with")
        self._say("checking the certificate")
        program = str(Path(check_certificate.__file__))
        done = process.run([sys.executable, "-I", program, str(plan), str(certificate)])
        self._write("certificate.txt", done.output.replace(f"{self._folder}/", ""))
        shown = [f"{self._of.shown / name}" for name in ("plan.json", "certificate.jsonl", "certificate.txt")]
        words = f"{shlex.join(['camkes-check-certificate', *shown[:2]])} > {shlex.quote(shown[2])}"
        lines = done.output.splitlines()
        state = {0: PartState.HOLDS, 1: PartState.FAILS}.get(done.status, PartState.UNKNOWN)
        assumed = [line for line in lines if line.startswith(("assumed: ", "costs of operations: assumed"))]
        if state is PartState.HOLDS and assumed:
            state = PartState.HOLDS_IF
        verdict = lines[0] if lines else "the checker said nothing"
        command = EvidenceCommand(words, done.status, done.errors)
        return _part(
            "certificate",
            state,
            verdict,
            [command],
            ["certificate.jsonl", "certificate.txt"],
            details=assumed,
        )

    def _exploration(self) -> EvidencePart:
        schedule = self._file("schedule.json")
        words = ["explore", *self._of.words, "--limit", self._of.limit, "--schedule", schedule, "--json"]
        found, command = self._run_json(words, "explore.json")
        if found is None:
            return _failed("exploration", [command])
        files = ["explore.json"]
        left_out = []
        for each in found["not_searched"]:
            option = f" ({each['option']})" if each["option"] else ""
            left_out.append(f"not searched: {each['subject']}{option}")
        head = ("jobs", "scheduling", "verdict", "states", "schedules")
        rows = tuple(
            (
                "as stated" if each["arrivals"] is None else f"{each['arrivals']} of each task, in any order",
                each["scheduling"],
                each["verdict"],
                f"{each['states']:,}",
                f"{each['schedules']:,}",
            )
            for each in found["passes"]
        )
        state, verdict = PartState.HOLDS_IF, "no violation was found"
        if found["violation"] is not None:
            state = PartState.FAILS
            verdict = f"violated: {found['violation']['property']}: {found['violation']['explanation']}"
            files.append("schedule.json")
        elif any(each["stopped"] for each in found["passes"]) or (self._of.strict and left_out):
            state, verdict = PartState.UNKNOWN, "no violation was found, and the search is not complete"
        elif not left_out:
            state = PartState.HOLDS
        tables = [EvidenceTable(head, rows)]
        return _part("exploration", state, verdict, [command], files, details=left_out, tables=tables)

    def _run_host(self) -> EvidencePart:
        words = ["run", *self._of.words, *self._platform("--cost-profile")]
        return self._recorded("host", [*words, "--verify"])

    def _build_sel4(self) -> EvidencePart:
        if not self._for_sel4:
            return _absent("sel4-image", "neither --sdk nor --workspace is given")
        words = ["build", *self._of.words, *self._for_sel4]
        done, command = self._run(words, "build-sel4.txt")
        if done.status:
            return _failed("sel4-image", [command])
        out = Path("build") / f"{self.name}-sel4"
        images = sorted(path for path in (out / "images").iterdir() if path.is_file())
        self._sel4 = BuiltFor(images, self._of.asked.sdk, self._of.asked.workspace)
        files = ["build-sel4.txt"]
        for described in sorted(out.glob("*.cdl")):
            files.append(described.name)
            copy_into(self._folder, described, described.name)
        rows = tuple((path.name, f"{path.stat().st_size:,}", sha256(path)) for path in images)
        table = EvidenceTable(("image", "bytes", "SHA-256"), rows)
        verdict = f"{len(images)} {plural(len(images), 'file')}"
        return _part("sel4-image", PartState.HOLDS, verdict, [command], files, tables=[table])

    def _run_sel4(self) -> EvidencePart:
        if not self._for_sel4:
            return _absent("run-sel4", "neither --sdk nor --workspace is given")
        folder = str(Path("build") / f"{self.name}-sel4-recorded")  # an image that records is another one
        words = ["run", *self._of.words, *self._for_sel4, "-o", folder, "--verify"]
        return self._recorded("sel4", words)

    @property
    def _for_sel4(self) -> list[str]:
        asked = self._of.asked
        if asked.sdk is not None:
            return ["--kernel", "sel4", "--sdk", str(asked.sdk)]
        return ["--kernel", "sel4"] if asked.workspace is not None else []

    def _recorded(self, kernel: str, words: list[str]) -> EvidencePart:
        """A run, with the responses that were seen. Where an image can record a part of it only, it is
        repeated for that time, so that there is a verdict about exactly what was recorded."""
        name = f"run-{kernel}"
        words += ["--json", "--console", self._file(f"{name}.txt"), "--deny", "missed"]
        found, command = self._run_json([*words, "--for", self._of.span], f"{name}.json")
        commands, cut = [command], ""
        recorded = _recorded_part(found, command)
        if recorded:
            cut = f", the first of {self._of.span}: more could not be recorded"
            found, command = self._run_json([*words, "--for", recorded], f"{name}.json")
            commands.append(command)
        if found is None or found["end"] is None:
            return _failed(name, commands)
        rows = []
        for task in found["tasks"]:
            self._seen.setdefault(kernel, {})
            rows.append((task["name"], str(task["released"]), str(task["completed"]), str(task["missed"])))
        self._seen[kernel] = {task["name"]: task["response"]["max"] for task in found["tasks"]}
        failed = _wrong_in(found)
        if command.status == 0:
            state = PartState.HOLDS
            judged = found.get("properties")
            verdict = f"no fault and no missed deadline in {duration(found['end'])}{cut}"
            verdict += f"; the properties {' '.join(judged)} hold at every event" if judged else ""
        elif failed:
            state, verdict = PartState.FAILS, "; ".join(failed)
        else:
            state, verdict = PartState.UNKNOWN, _first_line(commands[-1:])
        left_out = [f"not judged: {each}" for each in found.get("not_judged", ())]
        wrong = [f"{each['property']}: {each['explanation']}" for each in found.get("violations", ())]
        head = ("task", "released jobs", "completed", "missed deadlines")
        tables = [EvidenceTable(head, tuple(rows))] if rows else []
        files = [f"{name}.json", f"{name}.txt"]
        return _part(name, state, verdict, commands, files, details=[*wrong, *left_out], tables=tables)

    def _timing(self) -> EvidencePart:
        if not self._bounds:
            return _absent("timing", "there are no bounds of responses")
        if not self._seen:
            return _unknown("timing", "no run could be made")
        host, sel4 = (self._seen.get(kernel, {}) for kernel in ("host", "sel4"))
        rows, late = [], []
        for task, bound in self._bounds.items():
            seen = host.get(task), sel4.get(task)
            rows.append((task, _time(self._deadlines[task]), _time(bound), *map(_time, seen)))
            if bound is not None and any(each is not None and each > bound for each in seen):
                late.append(task)
        bounded = sum(bound is not None for bound in self._bounds.values())
        if not bounded:
            return _unknown("timing", "no task has a bound")
        verdict = f"no response is above its bound, which {bounded} of {len(rows)} tasks have"
        if late:
            verdict = f"longer than their bounds: {', '.join(late)}"
        head = ("task", "deadline", "bound", "longest seen, host kernel", "longest seen, seL4")
        details = [] if sel4 else ["on seL4 nothing was seen: there is no run on it in this kit"]
        if late and self._of.platform is None:
            details.append("the bounds leave out what operations of the kernel take: --platform adds that")
        state = PartState.FAILS if late else PartState.HOLDS
        return _part(
            "timing", state, verdict, [], [], details=details, tables=[EvidenceTable(head, tuple(rows))]
        )

    def _tests(self) -> EvidencePart:
        assert self._checked is not None
        if not (self._checked.application.folder / FOLDER).is_dir():
            return _absent("tests", f"the application has no folder `{FOLDER}`")
        sink = Sink()
        covers = can_cover(sink)
        words = ["test", *self._of.words, "--junit", self._file("tests.xml"), "--json"]
        words += ["--coverage", self._file("coverage")] if covers else []
        found, command = self._run_json(words, "tests.json")
        if found is None:
            return _failed("tests", [command])
        count = found["summary"]
        state = PartState.FAILS if command.status else PartState.HOLDS
        verdict = f"{count['passed']} of {count['tests']} {plural(count['tests'], 'test')} passed"
        files, details, tables = ["tests.json", "tests.xml"], [], []
        covered = found.get("coverage", ())
        if covered:
            files += ["coverage/index.html", "coverage/coverage.info"]
            rows = tuple(
                (
                    each["file"] or "all",
                    f"{each['lines']} of {each['lines_of']}",
                    f"{each['branches']} of {each['branches_of']}",
                )
                for each in covered
            )
            tables.append(EvidenceTable(("file", "lines", "branches"), rows))
            verdict += f"; they execute {covered[0]['lines']} of {covered[0]['lines_of']} lines"
        else:
            why = "; ".join(f"{each.message} ({each.help})" for each in sink.diagnostics)
            details.append(f"coverage was not made: {why or 'no test could be executed'}")
            state = PartState.FAILS if command.status else PartState.UNKNOWN
        return _part("tests", state, verdict, [command], files, details=details, tables=tables)

    def _materials(self) -> EvidencePart:
        self._say("listing the parts of the system")
        assert self._checked is not None
        out = pipeline.build_folder(self._checked.application, None)
        try:
            data = to_cyclonedx(self._checked, self._image, out, self._sel4, self._revision)
        except (OSError, ArchiveError) as error:
            return _unknown("materials", f"not made: {error}")
        write_output(self._folder / "sbom.cdx.json", data)
        document = json.loads(data)
        named = [each["bom-ref"].partition(":")[0] for each in document["components"]]
        counts = {word: named.count(kind) for kind, word in (("instance", "instance"), ("file", "file"))}
        verdict = ", ".join(f"{number} {plural(number, word)}" for word, number in counts.items())
        rows = tuple(
            (made["name"], each["name"], made["hashes"][0]["content"])
            for each in document["components"]
            if each["type"] == "firmware"
            for made in each["components"]
        )
        head = ("file", "of", "SHA-256")
        state, details = PartState.HOLDS, []
        if self._image is None:
            state = PartState.UNKNOWN
            details.append("without an image and headers: the system could not be built for the host kernel")
        tables = [EvidenceTable(head, rows)] if rows else []
        return _part("materials", state, verdict, [], ["sbom.cdx.json"], details=details, tables=tables)

    # commands

    def _platform(self, option: str) -> list[str]:
        return [] if self._of.platform is None else [option, self._of.platform]

    def _file(self, name: str) -> str:
        return str(self._folder / name)

    def _write(self, name: str, text: str) -> None:
        write_output(self._folder / name, text.encode(errors="surrogateescape"))

    def _run(self, words: Sequence[str], file: str) -> tuple[process.Finished, EvidenceCommand]:
        """Execute a command whose output is a file of the kit."""
        self._say(f"camkes {words[0]}")
        done = self._execute(words)
        if done.status >= _INTERRUPTED:
            raise KeyboardInterrupt
        self._write(file, done.output)
        scratch = f"{self._folder}/"
        shown = [word.replace(scratch, f"{self._of.shown}/") for word in (*words, self._file(file))]
        text = f"{shlex.join(['camkes', *shown[:-1]])} > {shlex.quote(shown[-1])}"
        return done, EvidenceCommand(text, done.status, done.errors.replace(scratch, f"{self._of.shown}/"))

    def _run_json(self, words: Sequence[str], file: str) -> tuple[Any, EvidenceCommand]:
        """The same for one that prints JSON; None where there is none, for the reason in its errors."""
        done, command = self._run(words, file)
        try:
            return json.loads(done.output), command
        except ValueError:
            (self._folder / file).unlink(missing_ok=True)
            return None, command


#: The parts: names, titles, and what each is.
_ABOUT = (
    (
        "check",
        "Check of the description",
        "All rules of the language, of protocols and of priorities, without the code of components.",
    ),
    (
        "plan",
        "Plan",
        "Tasks, interfaces with protocols, ceilings and threads, as they follow from the description and, of "
        "requests, from the compiled code.",
    ),
    (
        "capabilities",
        "Capabilities",
        "All that each address space holds, with its rights, and the statement of the description that needs "
        "it. A capability that nothing needs would be an error of the tool: it lists none. Both kernels boot "
        "from this list.",
    ),
    ("analysis", "Deadlines", "Bounds of responses, and what they rest on. The certificate has each step."),
    (
        "certificate",
        "Certificate of the bounds",
        "A separate program, which shares no code with the analysis, checks the bounds against the plan.",
    ),
    (
        "exploration",
        "Schedules",
        "The code of the components under all schedules that the description allows, up to what is named.",
    ),
    ("run-host", "Run on the host kernel", "One schedule, judged at each event. Times are virtual."),
    ("sel4-image", "Image for seL4", "What is booted on the machine."),
    ("run-sel4", "Run on seL4", "An image that records what it does, in QEMU."),
    ("timing", "Seen and bound", "The longest response that each run had, beside its bound."),
    (
        "tests",
        "Tests of the application, and what they execute",
        "Those in its folder `tests`, with the lines and branches of its components that they execute.",
    ),
    (
        "materials",
        "Bill of materials",
        "All files that the image is made of, with hashes and licences, the kernel, libraries, and the tools "
        "that made it, in the form of CycloneDX.",
    ),
)


def _part(
    name: str,
    state: PartState,
    verdict: str,
    commands: Sequence[EvidenceCommand],
    files: Sequence[str],
    *,
    details: Sequence[str] = (),
    tables: Sequence[EvidenceTable] = (),
) -> EvidencePart:
    title, about = next((title, about) for known, title, about in _ABOUT if known == name)
    return EvidencePart(
        name=name,
        title=title,
        about=about,
        state=state,
        verdict=verdict,
        details=tuple(details),
        commands=tuple(commands),
        files=tuple(files),
        tables=tuple(tables),
    )


def _failed(name: str, commands: Sequence[EvidenceCommand]) -> EvidencePart:
    return _part(name, PartState.UNKNOWN, f"not made: {_first_line(commands)}", commands, [])


def _first_line(commands: Sequence[EvidenceCommand]) -> str:
    """The first of the errors of commands."""
    said = (line for command in commands for line in command.errors.splitlines() if line)
    return next(said, "its command says why")


def _wrong_in(run: Any) -> list[str]:
    """What the report of a run has that is wrong, in words."""
    counts = {word: len(run.get(name, ())) for name, word in _WRONG.items()}
    failed = [f"{count} {plural(count, word)}" for word, count in counts.items() if count]
    missed = [task["name"] for task in run["tasks"] if task["missed"]]
    return [*failed, *([f"deadlines missed by {', '.join(missed)}"] if missed else [])]


def _recorded_part(found: Any, command: EvidenceCommand) -> str:
    """The time, for `--for`, up to which a run is in its records if these end before the run does, and
    nothing else is wrong with it; "": otherwise."""
    if found is None or not found["end"] or _wrong_in(found):
        return ""
    if set(_ERROR.findall(command.errors)) != {TRACE_TRUNCATED.number}:
        return ""
    before = found["end"] - 1  # the last record ends a run of this length
    per_unit = next(number for number in _UNITS if before >= number or number == 1)
    return f"{before // per_unit}{_UNITS[per_unit]}" if before else ""


def _absent(name: str, why: str) -> EvidencePart:
    return _part(name, PartState.ABSENT, why, [], [])


def _unknown(name: str, why: str) -> EvidencePart:
    return _part(name, PartState.UNKNOWN, why, [], [])


def _time(value: int | None) -> str:
    return "-" if value is None else format_time(value, 6)
