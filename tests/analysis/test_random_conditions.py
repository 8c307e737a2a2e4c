# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems of tasks, a lock and waits `with helpers`, run on the host kernel: no response is above its
bound, and effective priorities are those of the definition at each step."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from camkes.cli.main import main
from tests.command import camkes
from tests.end_to_end.support import loop, write

pytestmark = pytest.mark.requirement("AN-9")

#: Each piece of work is so much shorter than stated, so that a job does not end when another is released.
SPARE = "- 1000"


_LOCK = "if (locking) { store_add(); }"
SOURCES = {
    "Client": loop(
        f"camkes_work(CAMKES_MS(work) {SPARE}); {_LOCK} char *q = queue; q[++q[0]] = (char)number;"
        " ask_emit(); told_wait();"
    ),
    "Other": loop(f"camkes_work(CAMKES_MS(work) {SPARE}); {_LOCK}"),
    "Lock": f"void store_add(void) {{ camkes_work(CAMKES_MS(1) {SPARE}); }}",
}


def random_system(rng: random.Random, folder: Path) -> Path:
    """Two to four clients of a server, which serves them in the order of arrival; some of them, the server,
    and another task request a lock."""
    count = rng.randint(2, 4)
    clients = range(1, count + 1)
    priorities = rng.sample(range(2, 20), count + 1)
    locking = [rng.random() < 0.5 for _ in range(count + 1)]
    served = [rng.randint(1, 4) for _ in clients]
    in_service = rng.random() < 0.5

    def task(name: str, index: int, work: int) -> str:
        return (
            f"{name}.work = {work}; {name}.locking = {int(locking[index])}; {name}._wcet = {work} ms;"
            f" {name}._priority = {priorities[index]}; {name}._period = {rng.choice((40, 50, 60, 80))} ms;"
            f" {name}._offset = {rng.randint(0, 25)} ms; {name}.store_requests = 1;"
        )

    given = [task(f"c{i}", i, rng.randint(1, 4)) + f" c{i}.number = {i};" for i in clients]
    given += [f"c{i}.told_within = {served[i - 1]} ms;" for i in clients]
    given += [task("other", 0, rng.randint(1, 9)), "lock.store_wcet = 1 ms;"]
    told = "".join(f"emits Told told{i}; " for i in clients)
    parts = "".join(f"component Client c{i}; " for i in clients)
    asks = ", ".join(f"from c{i}.ask" for i in clients)
    queues = ", ".join(f"from c{i}.queue" for i in clients)
    stores = ", ".join(f"from c{i}.store" for i in clients)
    answers = "".join(f"connection seL4Notification told{i}(from s.told{i}, to c{i}.told); " for i in clients)
    emits = "".join(f"case {i}: told{i}_emit(); break; " for i in clients)
    times = ", ".join(map(str, (0, *served)))
    return write(
        folder,
        f"""procedure Store {{ void add(); }}
        component Client {{ control; requestor; dataport Buf queue; emits Ask ask; uses Store store;
            consumes Told told with helpers;
            attribute int number; attribute int work; attribute int locking; }}
        component Other {{ control; requestor; uses Store store; attribute int work; attribute int locking; }}
        component Server {{ control; requestor; dataport Buf queue; consumes Ask ask; uses Store store;
            {told} }}
        component Lock {{ provides Store store with priority_protocol inherited; }}""",
        f"""composition {{ {parts} component Other other; component Server s; component Lock lock; {answers}
            connection seL4NotificationNative ask({asks}, to s.ask);
            connection seL4SharedData queue({queues}, to s.queue);
            connection seL4RPCCall store({stores}, from other.store, from s.store, to lock.store); }}
        configuration {{ s._priority = 1; {" ".join(given)} }}""",
        {
            **SOURCES,
            "Server": f"""int run(void) {{
                static const int times[] = {{{times}}};
                const volatile char *q = queue;
                for (unsigned next = 1;; next++) {{
                    while (!q[next]) {{ ask_wait(); }}
                    camkes_work(CAMKES_MS(times[(int)q[next]]) {SPARE});
                    if ({int(in_service)}) {{ store_add(); }}
                    switch (q[next]) {{ {emits} }}
                }}
            }}""",
        },
    )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200))
def test_no_response_is_above_its_bound(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = random_system(random.Random(seed), tmp_path)
    assert main(["analyze", str(path), "--no-search", "--json"]) in (0, 1)
    bounds = {each["name"]: each["response"] for each in json.loads(capsys.readouterr().out)["tasks"]}
    document = json.loads(camkes("run", path, "--for", "300ms", "--verify", "--json").output)
    assert document["violations"] == []
    completed = 0
    for task in document["tasks"]:
        completed += task["completed"]
        if task["name"] in bounds and bounds[task["name"]] is not None and task["completed"]:
            assert task["response"]["max"] <= bounds[task["name"]], task["name"]
    assert completed > 5
