# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes sweep`: its table, files and pictures, and that it goes on after anything that stops it."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from camkes.sweep import prepare
from camkes.sweep.evaluate import Evaluation
from camkes.sweep.reports import to_csv
from camkes.sweep.results import ResultsFile
from camkes.sweep.run import sweep
from camkes.sweep.workers import distributed, local
from tests.command import ROOT, camkes
from tests.documents import conforming
from tests.golden import compare
from tests.processes import Marked, default_signals, wait_for
from tests.sweep.systems import SYSTEM, prepared, write_system

pytestmark = pytest.mark.requirement("AN-29")

SVG = "{http://www.w3.org/2000/svg}"
VARY = ("--vary", "fast._wcet=1ms:6ms:0.5ms", "--vary", "table.store_priority_protocol=fixed,inherited")


def test_the_table(tmp_path: Path) -> None:
    """Each combination has a line, with the reason where it has no result; then what is assumed, and the
    best."""
    root = write_system(tmp_path)
    vary = ("fast._wcet=7ms,9ms", "slow._deadline=29ms,30ms", "table.store_priority_protocol=fixed,fxed")
    words = [word for each in vary for word in ("--vary", each)]
    found = camkes("sweep", root, "--text", "--platform", "none", *words, "--top", "1")
    assert found.status == 0
    lines = [" ".join(line.split()) for line in found.output.splitlines()]
    heading = "fast._wcet slow._deadline table.store_priority_protocol verdict slack of blocking of reason"
    assert lines[0] == heading
    assert lines[1] == "7 ms 29 ms fixed missed -1 ms slow 1 ms fast"
    assert lines[2].startswith("7 ms 29 ms fxed rejected - - E0")
    assert lines[3] == "7 ms 30 ms fixed met if 0 ns slow 1 ms fast"
    assert lines[5].startswith("9 ms 29 ms fixed unbounded - slow")
    assert "8 combinations: 1 missed, 4 rejected, 1 met if, 2 unbounded" in lines
    assert "a job of `fast` calls `store` at most once (not counted: --text)" in lines
    best = "fast._wcet = 7 ms, slow._deadline = 30 ms, table.store_priority_protocol = fixed: slack 0 ns"
    assert lines[-1] == best


def test_documents_and_the_status(tmp_path: Path) -> None:
    root, out = write_system(tmp_path), tmp_path / "rows"
    table, picture = tmp_path / "t.csv", tmp_path / "t.svg"
    words = ("--text", *VARY, "--out", out, "--csv", table, "--plot", picture, "--best", "blocking")
    found = camkes("sweep", root, *words, "--json")
    assert found.status == 0
    report = conforming("sweep", found.output)
    assert report["combinations"] == len(report["rows"]) == 22
    assert [each["number"] for each in report["rows"]] == list(range(22))
    assert report["by"] == "blocking" and len(report["best"]) == 5
    for line in out.read_text().splitlines()[1:]:
        conforming("sweep-row", line)
    lines = list(csv.DictReader(table.open()))
    assert [line["slack"] for line in lines] == [str(row["slack"] or "") for row in report["rows"]]
    assert lines[0]["response fast"] == str(report["rows"][0]["responses"]["fast"])
    ElementTree.parse(picture)
    bad = camkes("sweep", root, "--text", "--vary", "fast._wcet=11ms,12ms")
    assert bad.status == 1 and "2 combinations: 2 unbounded" in bad.output


def test_a_sample(tmp_path: Path) -> None:
    root = write_system(tmp_path)
    words = ("--text", *VARY, "--sample", "7", "--json")
    one, again, other = (
        conforming("sweep", camkes("sweep", root, *words, "--seed", seed).output) for seed in "112"
    )
    assert one == again
    numbers = [[row["number"] for row in each["rows"]] for each in (one, other)]
    assert numbers[0] != numbers[1] and len(set(numbers[0])) == 7 and one["combinations"] == 22


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_is_stopped_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    """Nothing is left of its processes. The rows that it had stay as they are; the table is that of a sweep
    that was not stopped."""
    root, out, marked = write_system(tmp_path), tmp_path / "rows", Marked()
    vary = ("--vary", "fast._wcet=1us:400us:1us")
    words = ("sweep", str(root), "--text", *vary, "--out", str(out), "--jobs", "2")
    started = subprocess.Popen(
        [sys.executable, "-m", "camkes", *words], env=marked.env, preexec_fn=default_signals,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: out.exists() and out.read_bytes().count(b"\n") > 20)
    started.send_signal(number)
    output, errors = started.communicate()
    assert started.returncode == (130 if number == signal.SIGINT else -number) and output == b""
    assert (b"the same command goes on" in errors) == (number == signal.SIGINT)
    marked.assert_none()
    before = out.read_bytes()
    assert before.count(b"\n") < 401, "it was not stopped"
    found = camkes(*words)
    assert found.status == 0
    whole = before[: before.rindex(b"\n") + 1]
    assert out.read_bytes().startswith(whole) and out.read_bytes().count(b"\n") == 401
    assert found.output == camkes(*words[:5], "--jobs", "1").output


def test_another_system_is_refused(tmp_path: Path) -> None:
    root, out = write_system(tmp_path), tmp_path / "rows"
    words = ("sweep", root, "--text", "--vary", "fast._wcet=1ms,2ms", "--out", out)
    assert camkes(*words).status == 0
    assert camkes(*words).status == 0
    for other in (["--platform", "none"], ["--vary", "slow._wcet=1ms"]):
        assert "E0782" in camkes(*words, *other).errors
    root.write_text(SYSTEM.replace("10 ms", "11 ms"))
    found = camkes(*words)
    assert found.status == 1 and "the system, or camkes-rt, has changed" in found.errors


def test_another_code_is_refused(tmp_path: Path) -> None:
    """Rows of analyses and runs depend on the sources, too."""
    root, out = write_system(tmp_path, code=True), tmp_path / "rows"
    words = ("sweep", root, "--vary", "fast._wcet=1ms,2ms", "--out", out)
    assert camkes(*words).status == 0
    assert camkes(*words).status == 0
    with (tmp_path / "Slow.c").open("a") as file:
        file.write("/* */\n")
    assert "E0782" in camkes(*words).errors


def test_without_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    words = ("--text", "--vary", "fast._wcet=1ms,2ms", "--dask", "tcp://127.0.0.1:1")
    found = camkes("sweep", write_system(tmp_path), *words)
    assert found.status == 1
    assert "dask is not installed: " in found.errors and "dask[distributed]" in found.errors


def test_without_a_scheduler(tmp_path: Path) -> None:
    pytest.importorskip("dask.distributed")
    words = ("--text", "--vary", "fast._wcet=1ms,2ms", "--dask", "127.0.0.1")
    found = camkes("sweep", write_system(tmp_path), *words)
    assert found.status == 1 and "no scheduler responds at 127.0.0.1" in found.errors


def test_a_dask_worker_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two worker processes of a cluster, one of which is killed after ten rows; the table is that of one
    process here."""
    dask = pytest.importorskip("dask.distributed")
    asked = prepared(write_system(tmp_path), "fast._wcet=1ms:6ms:200us", VARY[3])
    numbers = range(52)
    with local(Evaluation(asked), 1) as workers:
        expected = to_csv(asked, sweep(asked, numbers, workers, ResultsFile(None, None, {})))
    killed: list[int] = []
    with dask.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=tmp_path
    ) as cluster:

        def kill(done: int, total: int) -> None:
            if done >= 10 and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        with distributed(abs, cluster.scheduler_address) as absolute:
            assert sorted(absolute(range(-20, 0))) == [(index, 20 - index) for index in range(20)]
        with distributed(Evaluation(asked), cluster.scheduler_address, 60) as workers:
            found = to_csv(asked, sweep(asked, numbers, workers, ResultsFile(None, None, {}), kill))
    assert killed and found == expected


def test_code_is_not_read_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from camkes.files import OutputError

    def full(self: Evaluation, *_: object) -> None:
        raise OutputError("cannot write x: No space left on device")

    monkeypatch.setattr(prepare.Evaluation, "checked", full)
    root = write_system(tmp_path, code=True)
    found = camkes("sweep", root, "--vary", "fast._wcet=1ms,2ms")
    monkeypatch.undo()
    assert found.status == 0
    assert "at most once (not counted: cannot write x: No space left on device)" in found.output


def test_the_picture_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what the command there draws."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    file = re.search(r'```camkes title="plant.camkes"\n(.*?)```', page, re.DOTALL)
    command = re.search(r"^\$ camkes (.* --plot slack.svg.*)$", page, re.MULTILINE)
    assert file is not None and command is not None
    Path("plant.camkes").write_text(file[1])
    assert camkes(*command[1].split(), cwd=tmp_path).status == 0
    compare(Path("slack.svg").read_text("utf-8"), ROOT / "docs" / "images" / "sweep.svg")


def test_pictures(tmp_path: Path) -> None:
    """Lines over one number, with a gap where there is no value; else grids, with a cell for each row."""
    root = write_system(tmp_path)

    def drawn(*vary: str) -> ElementTree.Element:
        words = [word for each in vary for word in ("--vary", each)]
        camkes("sweep", root, "--text", *words, "--plot", tmp_path / "p.svg")
        return ElementTree.parse(tmp_path / "p.svg").getroot()

    def shown(picture: ElementTree.Element, kind: str) -> list[str]:
        found = (each.find(f"{SVG}title") for each in picture.iter(f"{SVG}{kind}"))
        return [each.text or "" for each in found if each is not None]

    protocols = "table.store_priority_protocol=fixed,inherited"
    points = shown(drawn("fast._wcet=1ms:9ms:4ms", protocols), "circle")
    assert len(points) == 4 and all("ms" in point and "met" in point for point in points)
    cells = shown(drawn("fast._wcet=1ms:9ms:4ms", "slow._wcet=1ms,2ms", protocols), "rect")
    assert len(cells) == 12 and "fast._wcet 9 ms, slow._wcet 2 ms: unbounded" in cells
    assert len(shown(drawn("table.store_priority_protocol=fixed,inherited,fxed"), "circle")) == 2
    assert len(shown(drawn(protocols, "slow._urgent_first=true,false"), "rect")) == 4
