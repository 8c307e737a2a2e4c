# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications of the priority-aware-camkes library become native, and stay what they are."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest
from camkes_migrate import application
from camkes_migrate.__main__ import command_line as migrate_command
from camkes_migrate.cmake import edit
from camkes_migrate.tokens import BracketedTokens, Document

from camkes import pipeline
from camkes.cli import main as cli
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from tests.golden import compare
from tests.migrate.application import CALC, FILES, SYSTEM
from tests.written import write_files

pytestmark = pytest.mark.requirement("LANG-18")

GOLDEN = Path(__file__).parent / "golden"


def migrated(folder: Path, files: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The files after a migration, and why a person should look at places (with the line)."""
    write_files(folder, files)
    sink = Sink()
    changes = application.migrate(folder, sink)
    application.write(changes)
    notes = [f"{d.span.file.path.name}:{d.span.line}: {d.message}" for d in sink.diagnostics if d.span]
    return {name: (folder / name).read_text() for name in files}, notes


def test_all_of_an_application(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "pump", FILES)
    sink = Sink()
    changes = application.migrate(folder, sink)
    text = "".join(line for change in changes for line in change.diff(folder))
    text += "\n" + render(sink.diagnostics, Style(base=folder))
    compare(text, GOLDEN / "pump.txt")
    assert {name: (folder / name).read_text() for name in FILES} == FILES  # nothing is written


@pytest.mark.long
def test_the_migrated_application_runs(tmp_path: Path) -> None:
    folder = tmp_path / "pump"
    migrated(folder, FILES)
    sink = Sink()
    options = pipeline.RunSettings(output=tmp_path / "out", verify=True)
    outcome = pipeline.run(pipeline.Input(folder), options, sink, lambda _: None)
    assert outcome is not None, render(sink.diagnostics)
    assert not outcome.failed
    checked = pipeline.check(pipeline.Input(folder), Sink())
    assert checked is not None
    plan = checked.plan
    assert {c.name: (c.protocol.value, c.ceiling, c.threads) for c in plan.cpis} == {
        "tank.level": ("inherited", 40, 2),
        "store.s": ("fixed", 255, 1),
    }


@pytest.mark.long
def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    files, _ = migrated(tmp_path / "pump", FILES)
    again, notes = migrated(tmp_path / "pump", files)
    assert again == files
    assert not notes


def test_native_syntax_is_kept(tmp_path: Path) -> None:
    """Even where it looks like the library's: a last parameter `priority`, a function `p_init`."""
    native = {
        "a.camkes": "procedure P { void f(in int priority); }\n"
        "component C { provides P p with priority_protocol inherited; }\n"
        'assembly { composition { component C c; } configuration { c.p_priority_protocol = "fixed"; } }\n',
        "C.c": "void p_f(int priority) {}\nvoid p_init(void) {}\n",
    }
    sink = Sink()
    assert application.migrate(write_files(tmp_path, native), sink) == ()
    assert [d.code.number for d in sink.diagnostics] == ["N0852"]


@pytest.mark.long
def test_line_ends_and_permissions_are_kept(tmp_path: Path) -> None:
    folder = write_files(tmp_path, FILES)
    (folder / "store.c").write_bytes(FILES["store.c"].replace("\n", "\r\n").encode())
    (folder / "store.c").chmod(0o640)
    application.write(application.migrate(folder, Sink()))
    data = (folder / "store.c").read_bytes()
    assert b"s__init" in data and data.count(b"\r\n") == data.count(b"\n")
    assert (folder / "store.c").stat().st_mode & 0o777 == 0o640


@pytest.mark.long
def test_a_file_with_many_calls(tmp_path: Path) -> None:
    """Calls must not count by pairs: then this takes minutes."""
    lines = [f"s += store_read({n}, priority, requestor);" for n in range(15_000)]
    files, _ = migrated(tmp_path, {**FILES, "tank.c": "void f(void)\n{\n" + "\n".join(lines) + "\n}\n"})
    assert files["tank.c"].splitlines()[2:-1] == [f"s += store_read({n});" for n in range(15_000)]


@pytest.mark.long
def test_other_encodings_are_kept(tmp_path: Path) -> None:
    folder = write_files(tmp_path, FILES)
    head, tail = (
        b"\xef\xbb\xbf#include <priority-protocols/priority-protocols.h>\r\n",
        b"/* gr\xfc\xdfe */\r\n",
    )
    call = b"int level_read(int a, int priority, int requestor) { return store_read(a, 1, 2); }\r\n"
    (folder / "tank.c").write_bytes(head + call + tail)
    sink = Sink()
    application.write(application.migrate(folder, sink))
    changed = b"int level_read(int a) { return store_read(a); }\r\n"
    assert (folder / "tank.c").read_bytes() == head[:3] + changed + tail
    assert not sink.has_errors


@pytest.mark.long
def test_instances_that_disagree_keep_their_settings(tmp_path: Path) -> None:
    system = SYSTEM.replace(
        "component Store store;", "component Store store;\n        component Store other;"
    )
    system = system.replace(
        'store.s_priority_protocol = "fixed";',
        'store.s_priority_protocol = "fixed"; other.s_priority_protocol = "inherited";',
    )
    files, notes = migrated(tmp_path, {**FILES, "pump.camkes": system})
    assert "provides Level s;" in files["pump.camkes"]
    assert 'other.s_priority_protocol = "inherited";' in files["pump.camkes"]
    assert any("different protocols" in note for note in notes)


def test_an_attribute_that_code_reads_is_kept(tmp_path: Path) -> None:
    tank = FILES["tank.c"].replace("return -1;", "return level_priority;")
    files, notes = migrated(tmp_path, {**FILES, "tank.c": tank})
    assert "attribute int level_priority;" in files["pump.camkes"]
    assert "tank.level_priority = 41;  // one above" in files["pump.camkes"]
    assert any("level_priority" in note for note in notes)


@pytest.mark.long
def test_a_method_named_init_is_not_an_initialisation(tmp_path: Path) -> None:
    system = SYSTEM.replace("void set(", "void init(in int priority, in int requestor); void set(")
    store = FILES["store.c"].replace("void s_init()", "void s_init(int priority, int requestor)")
    files, _ = migrated(tmp_path, {**FILES, "pump.camkes": system, "store.c": store})
    assert "void s_init(void) { values[0] = 1; }" in files["store.c"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int x = store_read(1, priority, requestor);", "int x = store_read(1);"),
        ("store_read(store_read(2, priority, 0), priority, 0);", "store_read(store_read(2));"),
        ("store_read(a[f(1, 2)], p, (q, r));", "store_read(a[f(1, 2)]);"),
        (
            'puts("store_read(1, 2, 3)"); // store_read(1, 2, 3)',
            'puts("store_read(1, 2, 3)"); // store_read(1, 2, 3)',
        ),
        ("#define READ(n) store_read(n, 1, 2)\n", "#define READ(n) store_read(n)\n"),
        ("int y = REQUEST(level, store, read, f(1, 2));", "int y = store_read(f(1, 2));"),
        ("REQUEST(level, store, read, 4, priority, requestor);", "store_read(4);"),
        ("REQUEST(level, store, read, REQUEST(level, store, read, 1));", "store_read(store_read(1));"),
        ("other_read(1, 2, 3); s->store_reader(1, 2, 3);", "other_read(1, 2, 3); s->store_reader(1, 2, 3);"),
        ("int y = REQUEST(level, store, read,\n    /* which */ 4);", "int y = store_read(/* which */ 4);"),
        (
            "#define H(i) \\\n    int i##_get(void) { return store_read(1, 2, 3); } \\\n    int y_##i;",
            "#define H(i) \\\n    int i##_get(void) { return store_read(1); } \\\n    int y_##i;",
        ),
        ("x = a * store_read(1, 2, 3);", "x = a * store_read(1);"),
        ("return store_read(1, 2,\n        3);", "return store_read(1);"),
    ],
)
def test_calls(tmp_path: Path, code: str, expected: str) -> None:
    body = f"void work(void)\n{{\n{code}\n}}\n"
    files, _ = migrated(tmp_path, {**FILES, "tank.c": body})
    assert files["tank.c"] == f"void work(void)\n{{\n{expected}\n}}\n"


@pytest.mark.mostly_long("int level_read(int s, int priority, int requestor);-int level_read(int s);")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int level_read(int s, int priority, int requestor);", "int level_read(int s);"),
        ("extern int level_read(int, int, int);", "extern int level_read(int);"),
        ("void level_nest(int p, int r);", "void level_nest(void);"),
        (
            "int level_read(int s, int p, int r)\n{\n\treturn p + x.p + s;\n}",
            "int level_read(int s)\n{\n\treturn camkes_request_priority() + x.p + s;\n}",
        ),
        (
            "int level_read(int s, int p, int r)\n{\n\tf(&p);\n}",
            "int level_read(int s)\n{\n\tint p = camkes_request_priority();\n\tf(&p);\n}",
        ),
        (
            'extern "C" {\nint level_read(int s, int p, int r) { return p == r; }\n}',
            'extern "C" {\n'
            "int level_read(int s) { return camkes_request_priority() == camkes_requestor(); }\n}",
        ),
    ],
)
def test_definitions(tmp_path: Path, code: str, expected: str) -> None:
    files, _ = migrated(tmp_path, {**FILES, "tank.c": code})
    assert files["tank.c"] == expected


@pytest.mark.long
def test_a_wrong_number_of_arguments_is_kept_and_reported(tmp_path: Path) -> None:
    tank = "void f(void) { store_read(1, 2); }\n"
    files, notes = migrated(tmp_path, {**FILES, "tank.c": tank})
    assert files["tank.c"] == tank
    assert any(note.startswith("tank.c:1") for note in notes)


@pytest.mark.long
def test_files_of_several_components_know_only_their_own(tmp_path: Path) -> None:
    """`level_read` in the code of Calc is another function."""
    calc = CALC + "int level_read(int a, int b, int c) { return a + b + c; }\n"
    files, _ = migrated(tmp_path, {**FILES, "calc.c": calc})
    assert files["calc.c"] == calc


@pytest.mark.long
def test_an_argument_that_is_only_the_carried_value_is_removed(tmp_path: Path) -> None:
    """In whatever order a set has what is to become of the name: it is another in each run."""
    system = SYSTEM.replace("    void nest(", "    void poll(in int priority);\n    void nest(")
    for number in range(4):
        name = f"p{number}"
        tank = f"void level_poll(int {name}) {{ store_poll({name}); }}\n"
        files, _ = migrated(tmp_path / name, {**FILES, "pump.camkes": system, "tank.c": tank})
        assert files["tank.c"] == "void level_poll(void) { store_poll(); }\n"
        assert "void poll();" in files["pump.camkes"]


@pytest.mark.long
def test_instances_of_one_name_in_two_components(tmp_path: Path) -> None:
    inner = """
component Deep {{
    provides Level outer;
    composition {{ component {0} part; export part.{1} -> outer; }}
    configuration {{ part.{1}_priority = 3; part.{1}_priority_protocol = "{2}"; part.{1}_num_threads = 1; }}
}}
"""
    tank = inner.format("Tank", "level", "inherited").replace("Deep", "Deep1")
    store = inner.format("Store", "s", "propagated").replace("Deep", "Deep2")
    system = f"{SYSTEM.partition('assembly')[0]}{tank}{store}assembly {{ composition {{ }} }}\n"
    files, _ = migrated(tmp_path, {**FILES, "pump.camkes": system})
    assert "provides Level level with priority_protocol inherited;" in files["pump.camkes"]
    assert "provides Level s with priority_protocol propagated;" in files["pump.camkes"]
    assert "part.level_" not in files["pump.camkes"]
    assert "part.s_" not in files["pump.camkes"]


@pytest.mark.long
def test_words_in_macros_are_kept_and_reported(tmp_path: Path) -> None:
    header = (
        "#define SERVES(i) interface_priority_attributes(i)\n"
        '#define LOCK(i) i##_priority_protocol = "inherited";\n'
        "#define CONNECT(n, c) connection rpc(n) c\n"
    )
    system = (
        SYSTEM.replace("    interface_priority_attributes(level)\n", "    SERVES(level)\n")
        .replace('tank.level_priority_protocol = "inherited";', "tank.LOCK(level)")
        .replace("connection rpc(tank_level_num_threads) to_tank", "CONNECT(2, to_tank)")
    )
    system = system.replace("import <std", '#include "macros.h"\nimport <std')
    lists = FILES["CMakeLists.txt"].replace("(pump.camkes)", f"(pump.camkes CPP_INCLUDES {tmp_path})")
    files, notes = migrated(
        tmp_path, {**FILES, "CMakeLists.txt": lists, "macros.h": header, "pump.camkes": system}
    )
    assert files["macros.h"] == header
    assert [note.rpartition(":")[0] for note in notes if "word of the library" in note] == [
        "macros.h:1",
        "macros.h:3",
    ]
    assert "priority-protocols.camkes.h" in files["pump.camkes"]
    assert cli.main(["check", str(tmp_path)]) == 0


@pytest.mark.long
def test_a_protocol_without_a_setting_is_reported(tmp_path: Path) -> None:
    system = SYSTEM.replace('tank.level_priority_protocol = "inherited";', "")
    _, notes = migrated(tmp_path, {**FILES, "pump.camkes": system})
    assert any("no setting `INSTANCE.level_priority_protocol`" in note for note in notes)


def test_a_name_that_is_not_called_is_reported(tmp_path: Path) -> None:
    tank = (
        "#define SERVE(i) int i##_read(int a, int priority, int requestor) { return a; }\n"
        "SERVE(level)\nstatic int (*const read)(int, int, int) = store_read;\n"
    )
    files, notes = migrated(tmp_path, {**FILES, "tank.c": tank})
    assert files["tank.c"] == tank
    assert [note.split(": ")[0] for note in notes if note.startswith("tank.c")] == ["tank.c:1", "tank.c:3"]


@pytest.mark.long
def test_a_name_of_the_task_that_is_its_own(tmp_path: Path) -> None:
    watch = "struct m { unsigned requestor; };\nint run(void) { long requestor = 3; return 0; }\n"
    files, _ = migrated(tmp_path, {**FILES, "watch.c": watch})
    assert files["watch.c"] == watch


@pytest.mark.long
def test_no_blanks_are_left_at_the_end_of_a_line(tmp_path: Path) -> None:
    system = SYSTEM.replace("store.s_priority = 254;", "store.s_priority = 20; store.s_num_threads = 1;")
    system = system.replace("// the lock\n", "interface_priority_attributes(level)\n")
    files, _ = migrated(tmp_path, {**FILES, "pump.camkes": system})
    assert not re.search(r"[ \t]$", files["pump.camkes"], re.MULTILINE)
    assert "provides Level level with priority_protocol inherited;\n" in files["pump.camkes"]


def test_all_files_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_files(tmp_path / "pump", FILES)
    opened = Path.open

    def full(path: Path, mode: str = "r", **settings: Any) -> Any:
        if "CMakeLists" in path.name and "x" in mode:
            raise OSError(errno.ENOSPC, "no room")
        return opened(path, mode, **settings)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="no room") as error:
        application.write(application.migrate(folder, Sink()))
    assert str(error.value.filename).endswith("CMakeLists.txt")
    assert {path.name: path.read_text() for path in folder.iterdir()} == FILES


def test_cmake() -> None:
    text = "DeclareCAmkESComponent(A SOURCES a.c)\nforeach(i RANGE 1 2)\n    message(${i})\nendforeach()\n"
    assert edit(text) == text
    assert edit(FILES["CMakeLists.txt"]).count("priority") == 0


def test_tokens_of_unbalanced_texts() -> None:
    for text in ("", "#", '"', "/*", "(((", ")))", "{[}]", "a(b, (c), {d, e})", "\\", "é = 1;"):
        BracketedTokens(text)
    document = Document(Path("x"), "a(b, (c, d), e)")
    assert [len(range(*part)) for part in document.tokens.arguments(1)] == [1, 5, 1]


@pytest.mark.long
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_files(tmp_path / "pump", FILES)
    assert migrate_command([str(folder), "--color", "never"]) == 0
    out, err = capsys.readouterr()
    assert "+    requestor;" in out and "5 files would change" in err
    assert (folder / "pump.camkes").read_text() == SYSTEM
    assert migrate_command([str(folder), "--write", "--color", "always"]) == 0
    out, err = capsys.readouterr()
    assert "\x1b[32m+    requestor;" in out and "changed 5 files" in err
    assert cli.main(["check", str(folder)]) == 0
    assert migrate_command([str(tmp_path / "nowhere")]) == 1
