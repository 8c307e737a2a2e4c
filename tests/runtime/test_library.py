# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every name that component code may use besides its interfaces.

A component that uses them all runs on the host kernel and, where SEL4_WORKSPACE names a workspace, is built
for seL4.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import make
from camkes.diagnostics import Sink
from tests.runtime.host import HEAD, build

pytestmark = pytest.mark.requirement("RT-13")

TEXT = """
procedure P { int f(in int a); }
component Client { control; uses P p; dataport Buf d; emits Ping e; }
component Server { provides P p; dataport Buf d; consumes Ping e; has mutex m; has semaphore s;
                   has binary_semaphore b; }
assembly { composition {
    component Client client;
    component Server server;
    connection seL4RPCCall x(from client.p, to server.p);
    connection seL4SharedData y(from client.d, to server.d);
    connection seL4Notification z(from client.e, to server.e);
} }
"""

CLIENT = r"""
#include <camkes/error.h>
#include <camkes/tls.h>
#include <camkes/vma.h>
#include <string.h>
extern char *morecore_area;
extern size_t morecore_size;
static camkes_error_action_t decide(camkes_error_t *error)
{
    return error->type == CE_ALLOCATION_FAILURE ? CEA_HALT : CEA_DISCARD;
}
int run(void)
{
    camkes_tls_t *tls = camkes_get_tls();
    camkes_register_error_handler(decide);
    if (p_register_error_handler(decide) == decide || e_register_error_handler(NULL) == decide) {
        return 1;
    }
    const camkes_error_action_t actions[] = {CEA_DISCARD, CEA_IGNORE, CEA_ABORT, CEA_HALT};
    set_putchar(NULL);
    printf("%s %d %s\n", get_instance_name(), get_instance_affinity(),
           get_thread_name((int)tls->thread_index));
    printf("%d %d %d\n", tls->tcb_cap != 0, d_cache_op(0, d_get_size(), 0),
           d_cache_op(1, d_get_size(), 0));
    printf("%d %d\n", (morecore_area != NULL) == (morecore_size != 0), sizeof actions / sizeof *actions == 4);
    for (size_t i = 0; i < camkes_vmas_size; i++) {
        if (camkes_vmas[i].start > camkes_vmas[i].end) {
            return 1;
        }
    }
    strcpy((char *)d, "shared");
    d_release();
    e_emit();
    printf("%d\n", p_f(20));
    printf("done\n");
    return 0;
}
"""

SERVER = r"""
#include <camkes/fault.h>
#include <camkes/tls.h>
static void called(void *argument)
{
    printf("%s\n", (const char *)argument);
}
void p__init(void)
{
    if (e_reg_callback(called, "event") != 0) {
        printf("no callback\n");
    }
}
int p_f(int slot)
{
    d_acquire();
    if (m_lock() || m_unlock() || s_trywait() || s_post() || b_post() || b_wait()) {
        return -1;
    }
    if (REPLIES && camkes_declare_reply_cap((seL4_CPtr)slot) == 0) {
        camkes_protect_reply_cap();
        camkes_protect_reply_cap();
        if (camkes_unprotect_reply_cap() == seL4_NoError) {
            const int answer = 7;
            __builtin_memcpy(seL4_GetIPCBuffer()->msg, &answer, sizeof answer);
            seL4_Send((seL4_CPtr)slot, seL4_MessageInfo_new(0, 0, 0, 1));
        }
    }
    seL4_SetMR(seL4_VMFault_IP, 0x10);
    seL4_SetMR(seL4_VMFault_Addr, 0x20);
    seL4_SetMR(seL4_VMFault_PrefetchFault, 0);
    seL4_SetMR(seL4_VMFault_FSR, 0);
    const camkes_memory_region_t regions[] = {{0x1f, 0x21, "a hole"}, {0, 0, NULL}};
    camkes_show_fault(seL4_MessageInfo_new(seL4_Fault_VMFault, 0, 0, seL4_VMFault_Length), 3, "t", false,
                      regions);
    printf("%s %ld\n", (const char *)d, (long)p_get_sender_id());
    return 1;
}
"""


def test_every_name_on_the_host_kernel(tmp_path: Path) -> None:
    server = SERVER.replace("REPLIES", "1")
    run = build(tmp_path, TEXT, {"Client": CLIENT, "Server": server}).run()
    assert run.errors == ""
    lines = run.output.splitlines()
    assert lines[:3] == ["client 0 client", "1 0 -1", "1 1"]
    assert "7" in lines, "the reply came through the capability that was kept"
    assert lines[-1] == "done"
    assert "FAULT HANDLER: t: thread 3: invalid memory access at 0x20 (a hole), pc 0x10" in lines
    assert {"event", "shared 1"} <= set(lines)


@pytest.mark.skipif(not os.environ.get("SEL4_WORKSPACE"), reason="SEL4_WORKSPACE names no workspace")
def test_every_name_for_sel4(tmp_path: Path) -> None:
    application = tmp_path / "application"
    application.mkdir()
    (application / "library.camkes").write_text(HEAD + TEXT)
    for name, source in (("Client", CLIENT), ("Server", SERVER.replace("REPLIES", "0"))):
        text = f"#include <camkes.h>\n#include <stdio.h>\n{source}"
        (application / f"{name}.c").write_text(text)
    (application / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(library C)\n"
        "DeclareCAmkESComponent(Client SOURCES Client.c)\nDeclareCAmkESComponent(Server SOURCES Server.c)\n"
        "DeclareCAmkESRootserver(library.camkes)\nGenerateCAmkESRootserver()\n"
    )
    sink = Sink()
    settings = {"PLATFORM": "x86_64"}
    workspace = Path(os.environ["SEL4_WORKSPACE"])
    assert make(workspace, application, tmp_path / "build", settings, sink, lambda _: None), sink.diagnostics
