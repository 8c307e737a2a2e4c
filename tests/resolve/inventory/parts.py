# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the rows are made of: small systems with a place for a mistake."""

from typing import NamedTuple

#: What most rows stand on: a procedure, who uses and who provides it, and a connector of each kind.
BASE = """
procedure P { void f(); }
connector Call { from Procedure; to Procedure; }
connector Many { from Procedures; to Procedure; }
connector Signal { from Event; to Event; }
connector Share { from Dataport; to Dataport; }
component U { control; uses P p; }
component S { provides P p; }
"""


class Row(NamedTuple):
    name: str
    text: str
    upstream: str
    codes: tuple[str, ...]


def system(composition: str, configuration: str = "", *, before: str = "") -> str:
    """A system with a part of every kind that `composition` may use."""
    return f"{BASE}{before}assembly {{ composition {{ {composition} }} configuration {{ {configuration} }} }}"


def alone(top: str, attribute: str = "") -> str:
    """A system of one component, after something else."""
    return f"{top} component A {{ control; {attribute} }} assembly {{ composition {{ component A a; }} }}"


def member(text: str) -> str:
    """A component with a member, and all it may need."""
    return system("component A a;", before=f"component A {{ {text} }} ")


def setting(type: str, value: str, before: str = "") -> str:
    """A setting of an attribute `x`."""
    return system(
        "component A a;", f"a.x = {value};", before=f"{before} component A {{ attribute {type}; }} "
    )


def value(text: str) -> str:
    """An expression as the value of an integer."""
    return setting("int x", text)


CONNECTED = "component U u; component S s; connection Call c(from u.p, to s.p);"
HARDWARE = """
component D { hardware; dataport Buf d; emits E e; provides P p; }
component W { dataport Buf d; consumes E e; }
connector Device { from Dataport; to hardware Dataport; }
connector FromDevice { from hardware Event; to Event; }
"""
