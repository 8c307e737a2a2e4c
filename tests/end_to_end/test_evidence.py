# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes evidence --tool`: which requirements have tests that passed, as CSV, as a page and as ReqIF."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from camkes.cli.commands import evidence as command
from camkes.evidence import requirements
from camkes.evidence.reqif import NAMESPACE
from tests.command import ROOT, camkes

pytestmark = pytest.mark.requirement("TOOL-30")

MARKED = "pytestmark = pytest.mark.requirement({})\n"

#: tests with their elements of JUnit and their requirements
Cases = Mapping[str, tuple[str, Iterable[str]]]

CASES = {
    "test_good": ("", ["A-1", "A-2"]),
    "test_bad[<x>]": ("failure", ["A-2"]),
    "test_left_out": ("skipped", ["A-3"]),
    "test_of_nothing": ("", []),
}


def junit(path: Path, revision: str, cases: Cases) -> Path:
    """A file as pytest writes it."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="pytest")
    for name, (result, names) in cases.items():
        case = ElementTree.SubElement(suite, "testcase", classname="tests.part.test_one", name=name)
        properties = ElementTree.SubElement(case, "properties")
        found = [*(("requirement", each) for each in names), ("source", "tests/part/unit/c_test.c")]
        for key, value in (*found, ("revision", revision)):
            ElementTree.SubElement(properties, "property", name=key, value=value)
        if result:
            ElementTree.SubElement(case, result, message="")
    path.write_bytes(ElementTree.tostring(root))
    return path


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with four requirements, two tests in Python and one in C."""
    root = tmp_path / "clone"
    files = {
        "docs/requirements/a.md": "# Requirements: the <area>\n\n"
        + "".join(f"- **A-{n}** Text {n} with a [link](../x.md).\n" for n in range(1, 5)),
        "tests/part/test_one.py": MARKED.format('"A-1", "A-2", "A-3"'),
        "tests/part/test_two.py": MARKED.format('"A-1"'),
        "tests/part/unit/c_test.c": "/* requirement: A-2 */\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True)
    monkeypatch.setattr(command, "ROOT", root)
    return root


def revision_of(root: Path) -> str:
    found = requirements.commit(root)
    assert found is not None
    return found.revision


def test_the_matrix(clone: Path, tmp_path: Path) -> None:
    revision = revision_of(clone)
    assert re.fullmatch("[0-9a-f]{40}", revision)
    tests = junit(tmp_path / "tests.xml", revision, CASES)
    result = camkes("evidence", "-o", tmp_path / "out", "--tool", tests)
    assert (result.status, result.errors) == (1, "")
    assert result.output.splitlines() == [
        "A-2: 1 failed, 1 passed",
        "A-3: 1 skipped",
        "A-4: without a test",
        "4 requirements: 1 with a test that passed and none that failed",
    ]
    rows = list(csv.DictReader((tmp_path / "out" / "matrix.csv").read_text().splitlines()))
    assert [(row["requirement"], row["test"], row["result"]) for row in rows] == [
        ("A-1", "tests/part/test_one.py::test_good", "passed"),
        ("A-1", "tests/part/test_two.py", "not run"),
        ("A-2", "tests/part/test_one.py::test_bad[<x>]", "failed"),
        ("A-2", "tests/part/test_one.py::test_good", "passed"),
        ("A-3", "tests/part/test_one.py::test_left_out", "skipped"),
        ("A-4", "", "not run"),
    ]
    assert {(row["version"], row["commit"]) for row in rows} == {(command.__version__, revision)}
    assert rows[0]["text"] == "Text 1 with a link."
    page = (tmp_path / "out" / "matrix.html").read_text()
    assert revision in page and "The &lt;area&gt;" in page and "test_bad[&lt;x&gt;]" in page
    assert re.findall(r'<td class="number(?: bad)?">(\d)</td>', page) == list("0101110000100000")
    assert not re.search(r"(?:src|href)=", page)


def test_reqif_has_all_and_its_references_lead_to_something(clone: Path, tmp_path: Path) -> None:
    tests = junit(tmp_path / "tests.xml", revision_of(clone), CASES)
    camkes("evidence", "-o", tmp_path / "out", "--tool", tests)
    root = ElementTree.parse(tmp_path / "out" / "requirements.reqif").getroot()
    names = [each.get("IDENTIFIER") for each in root.iter() if "IDENTIFIER" in each.attrib]
    assert len(names) == len(set(names))
    references = [each.text for each in root.iter() if each.tag.endswith("-REF")]
    assert references and set(references) <= set(names)
    results = {}
    for each in root.iter(f"{{{NAMESPACE}}}SPEC-OBJECT"):
        values = each.iter(f"{{{NAMESPACE}}}ATTRIBUTE-VALUE-STRING")
        results[each.get("IDENTIFIER")] = [value.get("THE-VALUE") for value in values]
    assert results == {
        "A-1": ["A-1", "passed", "0", "1", "0", "1"],
        "A-2": ["A-2", "failed", "1", "1", "0", "0"],
        "A-3": ["A-3", "skipped", "0", "0", "1", "0"],
        "A-4": ["A-4", "not run", "0", "0", "0", "0"],
    }
    assert re.findall(r"<xhtml:p>(.*)</xhtml:p>", (tmp_path / "out" / "requirements.reqif").read_text())[
        :3
    ] == [
        "Text 1 with a link.",
        "tests/part/test_one.py::test_good: passed",
        "tests/part/test_two.py: not run",
    ]


def test_several_files_are_one_matrix(clone: Path, tmp_path: Path) -> None:
    """A test that one of them skips has passed where another one executed it."""
    revision = revision_of(clone)
    good = ["A-1", "A-2", "A-3", "A-4"]
    first = junit(tmp_path / "1.xml", revision, {"test_x": ("skipped", good), "test_y": ("", ["A-1"])})
    second = junit(tmp_path / "2.xml", revision, {"test_x": ("", good)})
    for files in ((first, second), (second, first)):
        words = [word for file in files for word in ("--tool", file)]
        result = camkes("evidence", "-o", tmp_path / "out", *words)
        assert (result.status, result.output) == (
            0,
            "4 requirements: 4 with a test that passed and none that failed\n",
        )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (None, "cannot read tests.xml: No such file or directory"),
        ("<testsuites>", "tests.xml is not XML: no element found"),
        ("<testsuites><testcase/></testsuites>", "tests.xml has no test with a requirement"),
    ],
)
def test_a_file_that_pytest_did_not_write(clone: Path, tmp_path: Path, text: str | None, error: str) -> None:
    if text is not None:
        (tmp_path / "tests.xml").write_text(text)
    result = camkes("evidence", "-o", "out", "--tool", "tests.xml", cwd=tmp_path)
    assert (result.status, result.output) == (1, "")
    assert result.errors.startswith(f"camkes evidence: {error}")
    assert not (tmp_path / "out").exists()


def test_results_of_another_commit_are_refused(clone: Path, tmp_path: Path) -> None:
    tests = junit(tmp_path / "tests.xml", revision_of(clone), CASES)
    with (clone / "tests/part/test_two.py").open("a") as file:
        file.write("\n")
    assert revision_of(clone).endswith("-dirty")
    result = camkes("evidence", "-o", tmp_path / "out", "--tool", tests)
    assert result.status == 1 and "execute the tests again" in result.errors
    assert not (tmp_path / "out").exists()


def test_an_installed_tool_has_no_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clone: Path
) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    result = camkes("evidence", "-o", tmp_path / "out", "--tool", "tests.xml")
    assert result.status == 1 and "is not a clone of the tool's repository" in result.errors


def test_a_folder_that_cannot_be_written(clone: Path, tmp_path: Path) -> None:
    tests = junit(tmp_path / "tests.xml", revision_of(clone), CASES)
    (tmp_path / "out").write_text("")
    result = camkes("evidence", "-o", tmp_path / "out", "--tool", tests)
    assert result.status == 1 and result.errors.startswith("camkes evidence: cannot write ")


def test_pytest_writes_the_requirements_of_tests(tmp_path: Path) -> None:
    """Of marks, and of the comments of tests in C."""
    tests = ["tests/runtime/test_units.py::test_unit[queue_test]", "tests/repository/test_names.py"]
    file = tmp_path / "tests.xml"
    options = ("-q", "-p", "no:cacheprovider", f"--junitxml={file}")
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT, check=True, capture_output=True
    )
    found = {
        case.get("name"): [(each.get("name"), each.get("value")) for each in case.iter("property")]
        for case in ElementTree.parse(file).iter("testcase")
    }
    revision = ("revision", revision_of(ROOT))
    source = ("source", "tests/runtime/unit/queue_test.c")
    assert set(found.pop("test_unit[queue_test]")) == {
        ("requirement", "RT-36"), ("requirement", "RT-6"), source, revision
    }  # fmt: skip
    assert found and all(values == [("requirement", "TOOL-28"), revision] for values in found.values())
