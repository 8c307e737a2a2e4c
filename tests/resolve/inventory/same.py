# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems that camkes-tool accepts, and that mean the same to us."""

from typing import NamedTuple

from tests.resolve.inventory.parts import setting, system


class Same(NamedTuple):
    """A system that camkes-tool accepts, and that means the same to us."""

    name: str
    text: str
    forward: bool = False


SAME = (
    Same(
        "joined connections with names of instances",
        system(
            "component U u; component U v; component S s; "
            "connection Many u(from u.p, to s.p); connection Many d(from v.p, to s.p);"
        ),
    ),
    Same(
        "connection with the name of a group",
        system("group c { component U u; } component S s; connection Call c(from c.u.p, to s.p);"),
    ),
    Same(
        "groups without a name, one in a component",
        system(
            "component W w; group { component S s; component S t; }",
            before="component W { composition { group { component S a; component S b; } component S c; } } ",
        ),
    ),
    Same(
        "structs without a name, used before they are defined",
        """
        assembly { composition { component B b; component A a; } }
        component A { attribute { { int deep; } inner[]; } x; }
        struct named { { string s; } inner; }
        component B { attribute { int y; } z; }
        """,
        forward=True,
    ),
    Same(
        "members that a struct has not",
        setting("t x[]", '[{"a": 1, "more": [1, "2"]}]', "struct t { int a; int b = 2; }"),
    ),
    Same(
        "items of lists in dictionaries",
        system(
            "component A a; component A b;",
            'a.x = {"k": [1, ["two", {"l": 3}]]}; b.x <- a.x["k"][1][0]; b.y <- a.x["k"][-1][1]["l"]; '
            'b.z <- a.x["k"][1][0][-1];',
            before="component A { } ",
        ),
    ),
    Same(
        "attributes with names that are words of real time elsewhere",
        system(
            "component A a;",
            'a.p_size_bits = 30; a.p_passive = "no"; a.faultdata = [1];',
            before="struct t { int a; } component A { control; maybe uses P p; attribute int p_size_bits; "
            'attribute string p_passive; attribute int p_period = 0; attribute string _budget = "all"; '
            'attribute int faultdata[]; attribute t requestor = {"a": 1}; attribute string q_data; '
            "attribute t p_priority_protocol; } ",
        ),
    ),
)
