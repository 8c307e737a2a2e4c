# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connectors that the tool knows by name, and what each supports: one table.

A connector that is not in it gets its code from templates of its own, which only a build for seL4 has.
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct

from camkes.model.system import Connection, Connector, Interface


class Carries(Enum):
    """What a connection transports."""

    CALLS = "remote calls of a procedure"
    FUNCTION_CALLS = "calls of a procedure in the same address space"
    EVENTS = "events"
    DATA = "shared memory"
    TIME = "requests to the virtual time server"
    JOBS = "begins and ends of jobs to a scheduler at user level"
    OTHER = "a mechanism defined by its templates"


class ConnectorSupport(Struct, frozen=True):
    """`generated`: the code comes from templates/, for both kernels. `protocols`: a request carries its
    priority and task. `local`: a call sends no request to a thread."""

    name: str
    carries: Carries = Carries.OTHER
    generated: bool = False
    protocols: bool = False
    local: bool = False
    #: events are counted in shared memory, so that none is lost
    counted: bool = False
    #: component code waits on the notification itself; no thread takes events from it
    without_thread: bool = False
    #: a device of the device tree whose interrupts are signalled to the one notification of an instance
    tree_interrupts: bool = False


NATIVE_NOTIFICATION = ConnectorSupport(
    "seL4NotificationNative", Carries.EVENTS, generated=True, without_thread=True
)
NOTIFICATION = ConnectorSupport("seL4Notification", Carries.EVENTS, generated=True)
RPC_CALL = ConnectorSupport("seL4RPCCall", Carries.CALLS, generated=True, protocols=True)
SHARED_DATA = ConnectorSupport("seL4SharedData", Carries.DATA, generated=True)
USER_SCHEDULER = ConnectorSupport("seL4UserScheduler", Carries.JOBS, generated=True, local=True)
VIRTUAL_QUEUES = ConnectorSupport("seL4VirtQueues", local=True)

TABLE = {
    support.name: support
    for support in (
        RPC_CALL,
        ConnectorSupport("seL4RPCCallNoType", Carries.CALLS, generated=True, protocols=True),
        ConnectorSupport("seL4DirectCall", Carries.FUNCTION_CALLS, generated=True, local=True),
        NOTIFICATION,
        ConnectorSupport("seL4NotificationQueue", Carries.EVENTS, generated=True, counted=True),
        NATIVE_NOTIFICATION,
        ConnectorSupport("seL4NotificationBind", Carries.EVENTS, without_thread=True),
        SHARED_DATA,
        ConnectorSupport("seL4TimeServer", Carries.TIME),
        ConnectorSupport("seL4Timer", Carries.TIME),
        ConnectorSupport("seL4HostTime", Carries.TIME),
        USER_SCHEDULER,
        VIRTUAL_QUEUES,
        ConnectorSupport("seL4GDB", local=True),
        ConnectorSupport("seL4GDBMem", local=True),
        ConnectorSupport("seL4HardwareIOPort", local=True),
        ConnectorSupport("seL4DTBHardwareThreadless", tree_interrupts=True),
        ConnectorSupport("seL4DTBHWThreadless", tree_interrupts=True),
    )
}

#: connectors whose code always comes from templates/: no template of an application replaces it
GENERATED = frozenset(support.name for support in TABLE.values() if support.generated)

#: the connectors of the priority-aware library: this name, and a number of threads
LIBRARY_CONNECTOR = "seL4RPCCallPrioritized"

_STANDARD_PREFIX = "seL4"
_REMOTE_CALL_PREFIX = "seL4RPC"


def support(connector: Connector | str) -> ConnectorSupport:
    """What a connector supports, by its name."""
    name = connector if isinstance(connector, str) else connector.name
    return TABLE.get(name) or ConnectorSupport(name)


def names(carries: Carries, *, threaded: bool = False) -> list[str]:
    """The connectors whose generated code carries this, for messages; `threaded`: not those without a thread
    at the `to` end."""
    found = (s for s in TABLE.values() if s.generated and s.carries is carries)
    return sorted(s.name for s in found if not (threaded and s.without_thread))


def carries_time(connection: Connection, rendered: frozenset[str] = frozenset()) -> bool:
    """Is this a connection to the virtual time server? Not where its connector is among those that are
    `rendered` from templates of their own."""
    connector = connection.connector
    return support(connector).carries is Carries.TIME and connector.name not in rendered


def is_left_to_build(connector: Connector, rendered: frozenset[str]) -> bool:
    """Are its kernel objects allocated in a build only? Templates allocate them for those that are `rendered`
    from templates of their own; devices are known of a machine."""
    return connector.name in rendered or connector.from_end.hardware or connector.to_end.hardware


def interface_threads(
    connection: Connection, interface: Interface, name: str, rendered: frozenset[str] = frozenset()
) -> int:
    """How many threads this connection makes for an interface, "inst.iface", that is not a CPI."""
    if carries_time(connection, rendered):
        return 0
    connector = connection.connector
    is_from = any(end.name == name for end in connection.from_ends)
    count = connector.from_end.threads if is_from else connector.to_end.threads
    return connection.threads or interface.threads or count if interface.kind == "provides" else count


def is_standard(connector: Connector) -> bool:
    """Is it named as those of the standard library are?"""
    return connector.name.startswith(_STANDARD_PREFIX)


def caller_waits(connector: Connector) -> bool:
    """Does a caller wait for the reply of a thread? So do all connectors of this family."""
    return connector.name.startswith(_REMOTE_CALL_PREFIX)


def library_threads(connector: Connector) -> int | None:
    """The number of threads that the name of a connector of the priority-aware library ends with; None:
    it is not one of them."""
    found = re.fullmatch(f"{LIBRARY_CONNECTOR}([1-9][0-9]*)", connector.name)
    return None if found is None else int(found.group(1))
