# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501
"""What the texts of `neighbours` are made of."""

STD = "import <std_connector.camkes>;\n"


PARTS = """procedure P { void f(); }
procedure Q { void g(); }
component U { control; uses P p; }
component S { provides P p; }
component E { control; emits Tick e; }
component C { consumes Tick e; }
component D { control; dataport Buf d; }
"""


BASE = STD + PARTS


GOOD = "component U u; component S s; connection seL4RPCCall c(from u.p, to s.p);"


def system(composition: str, configuration: str = "", before: str = "") -> str:
    return f"{BASE}{before}\nassembly {{\ncomposition {{ {composition} }}\nconfiguration {{ {configuration} }} }}\n"


def of(members: str, configuration: str = "", before: str = "") -> str:
    """One instance `a` of a component with these members."""
    text = f"{before}\ncomponent A {{ {members} }}\n"
    return f"{text}assembly {{\ncomposition {{ component A a; }}\nconfiguration {{ {configuration} }} }}\n"


def task(configuration: str, members: str = "control; requestor;") -> str:
    return of(members, f"a._priority = 1; {configuration}")


def rpc(server: str, client: str = "control; requestor; uses P p;", configuration: str = "") -> str:
    """A client `a` and a server `b` with an interface `p`."""
    return (
        f"{STD}procedure P {{ void f(); }}\ncomponent A {{ {client} }}\ncomponent B {{ {server} }}\n"
        "assembly { composition { component A a; component B b;\n"
        f"connection seL4RPCCall c(from a.p, to b.p); }}\nconfiguration {{ {configuration} }} }}\n"
    )


HARDWARE = "component H { hardware; dataport Buf d; emits Tick e; provides P p; }\n"
