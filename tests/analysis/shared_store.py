# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A system of two tasks `a` and `b` that share the lock of `s.store`."""

from __future__ import annotations


def shared_store(*settings: str) -> str:
    lines = "\n        ".join(settings)
    return f"""
import <std_connector.camkes>;
procedure Store {{ int add(in string text); }}
component Task {{ control; requestor; uses Store store; }}
component Shared {{ provides Store store with priority_protocol inherited; }}
assembly {{
    composition {{
        component Task a;
        component Task b;
        component Shared s;
        connection seL4RPCCall c(from a.store, from b.store, to s.store);
    }}
    configuration {{
        {lines}
    }}
}}
"""
