# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes evidence PATH`: the kit of a system, against the commands and files that it names."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from camkes import pipeline
from camkes.cli.captured import captured
from camkes.diagnostics import Sink
from camkes.evidence import assess, kit
from camkes.evidence.assess import Assessed, Assessment
from camkes.evidence.kit import EvidencePart, PartState
from camkes.files import OutputError
from camkes.process import Finished
from tests.command import ROOT, camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("TOOL-35")

INVERSION = ROOT / "examples" / "inversion"
QUICK = ("--for", "50ms", "--limit", "20s")


class Links(HTMLParser):
    """The addresses that a page names."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project with tasks, a lock and tests, and its kit."""
    folder = tmp_path_factory.mktemp("evidence")
    assert camkes("new", "pump", "--template", "locks", cwd=folder).status == 0
    made = camkes("evidence", "pump", "-o", "kit", *QUICK, cwd=folder)
    assert made.status == 0, made
    return folder


def report(folder: Path) -> Any:
    return conforming("evidence", (folder / "kit" / "evidence.json").read_text())


def states(found: Any) -> Mapping[str, str]:
    return {part["name"]: part["state"] for part in found["parts"]}


def test_all_parts_of_a_good_system_hold(project: Path) -> None:
    found = report(project)
    assert found["application"] == "pump" and found["good"] is True and found["revision"] is None
    absent = {name for name, state in states(found).items() if state == "does not apply"}
    assert absent == {"sel4-image", "run-sel4"}
    assert {name for name, state in states(found).items() if state == "holds if"} == {
        "analysis",
        "certificate",
        "exploration",
    }
    analysis = next(part for part in found["parts"] if part["name"] == "analysis")
    assert "assumed: operations of the kernel and the runtime take no time" in analysis["details"]


def test_every_command_gives_the_file_and_the_status_again(project: Path) -> None:
    """Each is a line for a shell, in the folder in which the kit was made."""
    commands = [command for part in report(project)["parts"] for command in part["commands"]]
    again = [each for each in commands if each["words"].startswith(("camkes check", "camkes plan"))]
    assert len(again) == 5
    for command in again:
        *words, arrow, file = shlex.split(command["words"])
        assert arrow == ">"
        done = camkes(*words[1:], cwd=project)
        assert (done.status, done.errors) == (command["status"], command["errors"])
        assert done.output == (project / file).read_text()
    others = {shlex.split(each["words"])[1] for each in commands if each not in again}
    assert others == {"analyze", "explore", "run", "test", "kit/plan.json"}
    assert all("/" not in word or word.startswith("kit/") for word in shlex.split(again[0]["words"])[1:])


def test_the_certificate_is_checked(project: Path) -> None:
    checker = Path(sys.executable).with_name("camkes-check-certificate")
    words = [checker, "kit/plan.json", "kit/certificate.jsonl"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0
    said = (project / "kit" / "certificate.txt").read_text()
    assert said == done.stdout and "certified" in said


def test_the_list_has_the_hash_of_every_file(project: Path) -> None:
    folder = project / "kit"
    listed = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(listed) == set(files) - {"SHA256SUMS"}
    for name, digest in listed.items():
        assert hashlib.sha256(files[name].read_bytes()).hexdigest() == digest
    assert {"index.html", "evidence.json", "sbom.cdx.json", "tests.xml", "coverage/index.html"} <= set(listed)


def test_the_page_leads_to_every_file_and_nowhere_else(project: Path) -> None:
    folder = project / "kit"
    links = Links(folder / "index.html").found
    inside = {name for part in report(project)["parts"] for name in (f"#{part['name']}",)}
    assert {link for link in links if link.startswith("#")} == inside
    files = {link for link in links if not link.startswith("#")}
    made = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == made - {"index.html"}
    page = (folder / "index.html").read_text()
    for part in report(project)["parts"]:
        assert part["title"] in page and part["verdict"] in page


def test_capabilities_are_those_of_the_model(project: Path) -> None:
    """All that both kernels boot from, each with its place in the text, or of each thread."""
    with chdir(project):
        checked = pipeline.check_code(pipeline.Input(Path("pump")), None, Sink(), lambda _: None)
    assert checked is not None
    model = pipeline.capabilities(checked, Sink())
    part = next(part for part in report(project)["parts"] if part["name"] == "capabilities")
    (table,) = part["tables"]
    held = sum(len(space.caps) + len(space.mappings) for space in model.spaces)
    assert len(table["rows"]) == held
    lines = (project / "pump" / "pump.camkes").read_text().splitlines()
    for *_, reason, place in table["rows"]:
        assert reason
        file, _, line = place.rpartition(":")
        assert place == "each thread has it" or (project / "pump" / file).is_file()
        if file == "pump.camkes":
            assert lines[int(line) - 1].strip()


def test_the_bill_of_materials(project: Path) -> None:
    """It is valid, and has each source, header and image with its hash, and who needs it."""
    text = (project / "kit" / "sbom.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    document = json.loads(text)
    parts = {part["bom-ref"]: part for part in document["components"]}
    needs = {each["ref"]: set(each["dependsOn"]) for each in document["dependencies"]}
    files = {ref: part for ref, part in parts.items() if part["type"] == "file"}
    code = set((project / "pump" / "components").rglob("*.c"))
    assert code
    for path in code:
        name = path.relative_to(project / "pump").as_posix()
        part = parts[f"file:{name}"]
        assert part["hashes"] == [
            {"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}
        ]
        (kind,) = (ref for ref in needs if ref.startswith("type:") and f"file:{name}" in needs[ref])
        assert any(kind in needs[ref] for ref in needs["application"])
    roles = {part["properties"][0]["value"] for part in files.values()}
    assert roles == {"source", "header", "generated", "description"}
    assert "file:pump.camkes" in needs["application"]
    instances = {ref for ref in parts if ref.startswith("instance:")}
    assert instances and all("runtime" in needs[ref] for ref in instances)
    runtime = [parts[ref] for ref in needs["runtime"]]
    assert {"expression": "BSD-2-Clause"} in [each for part in runtime for each in part["licenses"]]
    assert {"python", "camkes-rt", "pypi:lark", "pypi:jinja2", "tool:C compiler"} <= set(parts)
    assert all(parts[ref]["version"] for ref in ("python", "pypi:lark", "tool:C compiler", "c-library"))
    assert {*instances, "host-kernel", "c-library"} <= needs["host-image"]
    image = project / "build" / "pump" / "host-image"
    for made in parts["host-image"]["components"]:
        digest = hashlib.sha256((image / made["name"]).read_bytes()).hexdigest()
        assert made["hashes"][0]["content"] == digest
    assert str(project) not in text


def test_equal_inputs_give_equal_files(project: Path, tmp_path: Path) -> None:
    """Wherever they are."""
    assert camkes("new", "pump", "--template", "locks", cwd=tmp_path).status == 0
    done = camkes("evidence", "pump", "-o", "kit", *QUICK, cwd=tmp_path)
    assert done.status == 0
    for name in ("sbom.cdx.json", "plan.txt", "plan.json", "analysis.json", "certificate.jsonl", "tests.xml"):
        assert (tmp_path / "kit" / name).read_bytes() == (project / "kit" / name).read_bytes(), name


SDK = os.environ.get("CAMKES_SDK", "")


@pytest.mark.skipif(not SDK, reason="CAMKES_SDK names no SDK")
@pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed")
def test_a_kit_with_images_for_sel4(tmp_path: Path) -> None:
    sdk = Path(SDK).absolute()
    assert camkes("new", "pump", "--template", "locks", cwd=tmp_path).status == 0
    done = camkes("evidence", "pump", "-o", "kit", *QUICK, "--sdk", sdk, cwd=tmp_path)
    assert done.status == 0, done
    parts = {part["name"]: part for part in report(tmp_path)["parts"]}
    assert parts["sel4-image"]["state"] == parts["run-sel4"]["state"] == "holds"
    (timing,) = parts["timing"]["tables"]
    assert timing["rows"] and all(row[-1].endswith("s") for row in timing["rows"])  # seen on seL4
    text = (tmp_path / "kit" / "sbom.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = {part["bom-ref"]: part for part in json.loads(text)["components"]}
    digest = hashlib.sha256(sdk.read_bytes()).hexdigest()
    assert found["sdk"]["hashes"] == [{"alg": "SHA-256", "content": digest}]
    archives = [each["name"] for each in found["sdk"]["components"] if each["name"].endswith(".a")]
    assert archives and any("libsel4" in name for name in archives)
    kernel = found["project:kernel"]
    assert "GPL-2.0-only" in kernel["licenses"][0]["expression"] and kernel["version"]
    folder = tmp_path / "build" / "pump-sel4" / "images"
    made = {each["name"]: each["hashes"][0]["content"] for each in found["sel4-image"]["components"]}
    assert made == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert (tmp_path / "kit" / "pump.cdl").is_file()


LATE = """component Late { control; requestor; }
assembly { composition { component Late late; }
configuration { late._priority = 10; late._period = 1 ms; late._wcet = 2 ms; } }
"""
CODE = """#include <camkes.h>
int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(2));
    }
    return 0;
}
"""


def test_a_system_that_misses_deadlines(tmp_path: Path) -> None:
    (tmp_path / "late.camkes").write_text(LATE)
    (tmp_path / "late.c").write_text(CODE)
    done = camkes("evidence", "late.camkes", "-o", "kit", *QUICK, cwd=tmp_path)
    assert done.status == 1
    found = report(tmp_path)
    assert found["good"] is False
    assert {name for name, state in states(found).items() if state == "does not hold"} >= {"run-host"}
    assert states(found)["analysis"] in ("does not hold", "not known")
    assert "does not hold   run-host" in done.output


def test_the_kit_of_a_system_with_errors_names_them(tmp_path: Path) -> None:
    (tmp_path / "wrong.camkes").write_text(LATE.replace("late._priority", "late._priorty"))
    (tmp_path / "wrong.c").write_text(CODE)
    done = camkes("evidence", "wrong.camkes", "-o", "kit", cwd=tmp_path)
    assert done.status == 1
    found = report(tmp_path)
    first, *others = found["parts"]
    assert first["state"] == "does not hold" and first["commands"][0]["status"] == 1
    assert "late._priorty" in (tmp_path / "kit" / "check.txt").read_text()
    assert {part["state"] for part in others} == {"not known"}
    assert all("the system has errors" in part["verdict"] for part in others)
    assert {part["name"] for part in found["parts"]} == {name for name, *_ in assess._ABOUT}


def test_what_a_machine_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camkes.backends.host.coverage.find_spec", lambda _: None)
    assert camkes("new", "pump", "--template", "task", cwd=tmp_path).status == 0
    done = camkes("evidence", "pump", "-o", "kit", *QUICK, cwd=tmp_path)
    assert done.status == 1
    found = report(tmp_path)
    (part,) = (part for part in found["parts"] if part["name"] == "tests")
    assert part["state"] == "not known" and "passed" in part["verdict"]
    assert part["details"][0].startswith("coverage was not made: gcovr was not found (install it: ")
    assert "tests.xml" in part["files"] and "coverage/index.html" not in part["files"]


def named(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "build")


@pytest.fixture
def without_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Assessment, "parts", lambda _: iter(()))


@pytest.mark.usefixtures("without_parts")
@pytest.mark.parametrize("former", [False, True])
@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), 130), (OutputError("cannot write kit: No space left"), 1)]
)
def test_there_is_no_half_of_a_kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, former: bool
) -> None:
    """After an interruption or on a full disk there is none, or the former one."""
    words = ("evidence", INVERSION, "-o", "kit", *QUICK)
    if former:
        assert camkes(*words, cwd=tmp_path).status == 0
    before = named(tmp_path), {path: path.read_bytes() for path in (tmp_path / "kit").glob("*.*")}

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(kit, "sha256", fail)  # at the last step
    assert camkes(*words, cwd=tmp_path).status == status
    assert (named(tmp_path), {path: path.read_bytes() for path in (tmp_path / "kit").glob("*.*")}) == before
    assert named(tmp_path) == (["kit"] if former else [])


@pytest.mark.usefixtures("without_parts")
def test_a_kit_takes_the_place_of_a_kit_only(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    words = ("evidence", INVERSION, "-o", "kit", *QUICK)
    assert camkes(*words, cwd=tmp_path).status == 0  # an empty folder
    (tmp_path / "kit" / "old.txt").touch()
    assert camkes(*words, cwd=tmp_path).status == 0
    assert not (tmp_path / "kit" / "old.txt").exists()


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_other_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Where they are there before, nothing is done."""
    file = tmp_path / "mine" / "thesis.tex"
    asked = []

    def parts(_: Assessment) -> Iterator[EvidencePart]:
        asked.append(True)
        file.parent.mkdir()
        file.touch()
        return iter(())

    monkeypatch.setattr(Assessment, "parts", parts)
    if when == "before":
        file.parent.mkdir()
        file.touch()
    done = camkes("evidence", INVERSION, "-o", "mine", cwd=tmp_path)
    assert done.status == 1 and "has files that are not of a kit" in done.errors
    assert named(tmp_path) == ["mine"] and named(file.parent) == ["thesis.tex"]
    assert bool(asked) == (when == "meanwhile")


@pytest.mark.usefixtures("without_parts")
def test_a_kit_that_cannot_be_put_there_leaves_the_former_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("evidence", INVERSION, "-o", "kit", *QUICK)
    assert camkes(*words, cwd=tmp_path).status == 0
    (tmp_path / "kit" / "former").touch()
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    assert camkes(*words, cwd=tmp_path).status == 1
    assert named(tmp_path) == ["kit"] and "former" in named(tmp_path / "kit")


def test_the_folder_has_to_be_named() -> None:
    done = camkes("evidence", INVERSION)
    assert (done.status, done.errors) == (2, "camkes evidence: name the folder to write to with -o DIR\n")


@pytest.mark.long
def test_ctrl_c_in_the_search_ends_the_command(tmp_path: Path) -> None:
    """Which takes it for the end of the search where it is given alone."""
    program = Path(sys.executable).with_name("camkes")
    words = [program, "evidence", ROOT / "examples" / "flight", "-o", "kit", "--limit", "300s"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        for line in started.stdout:
            if "certificate:" in line:
                break
        time.sleep(2)
        os.kill(started.pid, signal.SIGINT)
        assert started.stdout.read() == ""
        assert started.wait(60) == 130
    assert named(tmp_path) == []


# What verdicts follow from results ----------------------------------------------------------------

SEARCH = {
    "arrivals": None,
    "scheduling": "fifo",
    "verdict": "exhausted",
    "states": 9,
    "schedules": 3,
    "stopped": False,
}
LEFT = [{"subject": "what happens after 1 s", "option": "--for 2s"}]
FOUND = {"property": "M", "explanation": "two in one lock"}


def _assessed(asked: pipeline.Input, platform: str | None = None, *, strict: bool = False) -> Assessed:
    """What is assessed, with short runs and searches."""
    return Assessed(
        asked=asked,
        words=["x"],
        shown=Path("kit"),
        platform=platform,
        span="1s",
        limit="1s",
        strict=strict,
    )


def part_of(
    name: str,
    document: Any,
    folder: Path,
    status: int = 0,
    *,
    strict: bool = False,
    platform: str | None = None,
    errors: str = "",
) -> EvidencePart:
    """A part where its command prints a document."""
    assessed = _assessed(pipeline.Input(INVERSION), platform, strict=strict)
    given: list[Sequence[str]] = []

    def execute(words: Sequence[str]) -> Finished:
        given.append(words)
        return Finished(status, json.dumps(document), errors)

    part: EvidencePart = getattr(Assessment(assessed, folder, execute, lambda _: None, ""), name)()
    assert given
    assert (platform in given[0]) is (platform is not None)
    return part


DOMAINS = """component Worker { control; requestor; }
assembly {
    composition { component Worker p; component Worker q; }
    configuration {
        p._priority = 10; p._period = 20 ms; p._wcet = 1 ms; p._domain = 1;
        q._priority = 20; q._period = 20 ms; q._wcet = 1 ms; q._domain = 2;
    }
    schedule { [(1, 3 ms), (2, 4 ms)] }
}
"""


def test_slots_of_domains_are_in_the_plan(tmp_path: Path) -> None:
    (tmp_path / "pair.camkes").write_text(DOMAINS)
    (tmp_path / "worker.c").write_text(CODE)
    assessed = Assessed(
        asked=pipeline.Input(Path("pair.camkes")),
        words=["pair.camkes"],
        shown=Path("kit"),
        platform=None,
        span="10ms",
        limit="1s",
        strict=False,
    )
    with chdir(tmp_path):
        made = Assessment(assessed, tmp_path, captured, lambda _: None, "")
        assert made._check().state is PartState.HOLDS
        assert made._plan().details == ("domains in their slots: 1 for 3 ms, 2 for 4 ms",)


@pytest.mark.parametrize(
    ("passes", "violation", "left", "strict", "state"),
    [
        ([SEARCH], None, [], False, PartState.HOLDS),
        ([SEARCH], None, LEFT, False, PartState.HOLDS_IF),
        ([SEARCH], None, LEFT, True, PartState.UNKNOWN),
        ([SEARCH, {**SEARCH, "stopped": True}], None, LEFT, False, PartState.UNKNOWN),
        ([SEARCH], FOUND, [], False, PartState.FAILS),
    ],
)
def test_the_verdict_of_a_search(
    passes: Any, violation: Any, left: Any, strict: bool, state: PartState, tmp_path: Path
) -> None:
    document = {"passes": passes, "violation": violation, "not_searched": left}
    part = part_of("_exploration", document, tmp_path, strict=strict)
    assert part.state is state
    assert [f"not searched: {each['subject']} ({each['option']})" for each in left] == list(part.details)
    assert ("schedule.json" in part.files) is (violation is not None)


@pytest.mark.parametrize(
    ("verdict", "strict", "state"),
    [
        ("met", False, PartState.HOLDS),
        ("met", True, PartState.HOLDS),
        ("met if", False, PartState.HOLDS_IF),
        ("met if", True, PartState.UNKNOWN),
        ("missed", False, PartState.FAILS),
        ("unbounded", False, PartState.UNKNOWN),
    ],
)
def test_the_verdict_of_an_analysis(verdict: str, strict: bool, state: PartState, tmp_path: Path) -> None:
    document = {"tasks": [], "verdict": verdict, "assumptions": [{"text": "no rain"}]}
    part = part_of("_analysis", document, tmp_path, strict=strict, platform="none")
    assert part.state is state and part.details == ("assumed: no rain",)


def test_a_command_without_a_result_is_not_silent(tmp_path: Path) -> None:
    part = part_of("_exploration", None, tmp_path, status=1)
    assert part.state is PartState.UNKNOWN and part.verdict == "not made: its command says why"
    assert [command.status for command in part.commands] == [1]


TASK = {"name": "high", "released": 1, "completed": 1, "missed": 0, "response": {"max": 3}}
RUN = {"end": 10, "tasks": [TASK], "violations": [], "faults": [], "properties": ["M"]}


@pytest.mark.parametrize(
    ("changes", "status", "state", "verdict"),
    [
        ({}, 0, PartState.HOLDS, "no fault and no missed deadline in 10 ns"),
        ({"violations": [FOUND]}, 1, PartState.FAILS, "1 violation"),
        ({"faults": [{}, {}]}, 1, PartState.FAILS, "2 faults"),
        ({"tasks": [{**TASK, "missed": 2}]}, 1, PartState.FAILS, "deadlines missed by high"),
        ({}, 1, PartState.UNKNOWN, "error: no space"),
        ({"end": None}, 1, PartState.UNKNOWN, "not made: error: no space"),
    ],
)
def test_the_verdict_of_a_run(
    changes: Mapping[str, Any], status: int, state: PartState, verdict: str, tmp_path: Path
) -> None:
    part = part_of("_run_host", {**RUN, **changes}, tmp_path, status, errors="error: no space\n" * status)
    assert part.state is state and part.verdict.startswith(verdict)


LOST = "error[E0803]: the image made more records than it could print; those after 298.5 ms were skipped\n"
OTHER = "error[E0967]: the run was stopped\n"


@pytest.mark.parametrize(
    ("changes", "errors", "repeated", "state", "verdict"),
    [
        ({}, LOST, "298ms", PartState.HOLDS, "no fault and no missed deadline in 298 ms, the first of 1s"),
        ({"end": 298}, LOST, "297ns", PartState.HOLDS, "no fault and no missed deadline in 298 ms, the"),
        ({"end": 5_000}, LOST, "4us", PartState.HOLDS, "no fault and no missed deadline in 298 ms, the"),
        ({"end": 1}, LOST, None, PartState.UNKNOWN, "error[E0803]: the image made more"),
        ({}, OTHER, None, PartState.UNKNOWN, "error[E0967]: the run was stopped"),
        ({}, LOST + OTHER, None, PartState.UNKNOWN, "error[E0803]: the image made more"),
        ({"tasks": [{**TASK, "missed": 1}]}, LOST, None, PartState.FAILS, "deadlines missed by high"),
        ({"violations": [FOUND]}, LOST, None, PartState.FAILS, "1 violation"),
    ],
)
def test_a_run_of_which_a_part_is_recorded_is_judged_to_the_end_of_that_part(
    changes: Mapping[str, Any],
    errors: str,
    repeated: str | None,
    state: PartState,
    verdict: str,
    tmp_path: Path,
) -> None:
    """And both runs are in the kit."""
    whole = json.dumps({**RUN, "end": 298_500_000, **changes})
    part = json.dumps({**RUN, "end": 298_000_000})
    asked: list[str] = []

    def execute(words: Sequence[str]) -> Finished:
        asked.append(words[list(words).index("--for") + 1])
        return Finished(1, whole, errors) if len(asked) == 1 else Finished(0, part, "")

    assessed = _assessed(pipeline.Input(Path("a.camkes"), workspace=Path("workspace")))
    found = Assessment(assessed, tmp_path, execute, lambda _: None, "")._run_sel4()
    assert asked == (["1s"] if repeated is None else ["1s", repeated])
    assert found.state is state and found.verdict.startswith(verdict)
    assert len(found.commands) == len(asked)


def runs(seen: int | None) -> Iterator[tuple[str, int, str]]:
    analysis = {"name": "high", "response": 5, "deadline": 9, "verdict": "met"}
    yield "analyze", 0, json.dumps({"tasks": [analysis], "verdict": "met", "assumptions": []})
    yield "run", 0, json.dumps({**RUN, "tasks": [{**TASK, "response": {"max": seen}}]})


@pytest.mark.parametrize(
    ("seen", "state"), [(5, PartState.HOLDS), (6, PartState.FAILS), (None, PartState.HOLDS)]
)
def test_a_response_above_its_bound(seen: int | None, state: PartState, tmp_path: Path) -> None:
    results = {name: Finished(status, output, "") for name, status, output in runs(seen)}
    assessed = _assessed(pipeline.Input(INVERSION))
    made = Assessment(assessed, tmp_path, lambda words: results[words[0]], lambda _: None, "")
    assert made._analysis().state is PartState.HOLDS
    assert made._run_host().state is PartState.HOLDS
    timing = made._timing()
    assert timing.state is state
    assert timing.tables[0].rows == (("high", "9 ns", "5 ns", "-" if seen is None else f"{seen} ns", "-"),)
