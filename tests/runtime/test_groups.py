# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Instances that share an address space."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-29")


def test_a_direct_call_is_a_call(tmp_path: Path) -> None:
    text = """
    procedure P { int sum(in int xs[], in string name, out string text); }
    component Client { control; uses P p; }
    component Server { provides P q; attribute int add; }
    assembly { composition {
        group both { component Client client; component Server server; }
        connection seL4DirectCall x(from both.client.p, to both.server.q);
    } configuration { server.add = 5; } }
    """
    client = r"""
    #include <stdlib.h>
    static int twice = 2;
    int run(void)
    {
        int xs[] = {1, 2, 3};
        char *text = NULL;
        int sum = p_sum(3, xs, get_instance_name(), &text);
        printf("%d %s\n", sum * twice, text);
        free(text);
        return 0;
    }
    """
    server = r"""
    #include <stdlib.h>
    int twice = 20;
    int q_sum(size_t xs_sz, const int *xs, const char *name, char **text)
    {
        int sum = add;
        for (size_t i = 0; i < xs_sz; i++) { sum += xs[i]; }
        *text = malloc(100);
        snprintf(*text, 100, "%s asks %s", name, get_instance_name());
        return sum;
    }
    """
    run = build(tmp_path, text, {"Client": client, "Server": server}).run()
    assert run.errors == ""
    assert run.output == "22 client asks server\n"


@pytest.mark.long
def test_members_of_a_group_keep_their_names_apart(tmp_path: Path) -> None:
    text = """
    procedure P { int next(); }
    component Task { control; requestor; uses P p; dataport Buf d; }
    component Counter {
        provides P p with priority_protocol inherited, requests (n);
        uses P n;
        dataport Buf d;
    }
    component Leaf { provides P p with priority_protocol inherited, requests (); }
    assembly { composition {
        component Task one;
        component Task two;
        group locks { component Counter counter; component Leaf leaf; }
        connection seL4RPCCall x(from one.p, from two.p, to locks.counter.p);
        connection seL4RPCCall y(from locks.counter.n, to locks.leaf.p);
        connection seL4SharedData z(from one.d, from two.d, to locks.counter.d);
    } configuration {
        one._priority = 10; two._priority = 20; two._offset = 1 ms;
    } }
    """
    task = r"""
    int run(void)
    {
        while (camkes_next_job()) { printf("%s %d %s\n", get_instance_name(), p_next(), (char *)d); }
        return 0;
    }
    """
    counter = r"""
    static int count;
    int p_next(void)
    {
        camkes_work(CAMKES_MS(2));
        count += n_next();
        snprintf((char *)d, 100, "count %d", count);
        return count;
    }
    """
    leaf = "static int count = 3; int p_next(void) { camkes_work(CAMKES_MS(1)); return count; }\n"
    run = build(tmp_path, text, {"Task": task, "Counter": counter, "Leaf": leaf}).run()
    assert run.errors == ""
    # two comes after one, but ends its job first: one goes on at its own priority
    assert run.output == "two 6 count 6\none 3 count 6\n"
    assert not run.violations()
