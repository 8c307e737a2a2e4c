# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connections that no code can be generated for."""

from __future__ import annotations

from camkes.generate.codes import NEEDS_SEL4, UNKNOWN_CONNECTOR
from camkes.generate.facts import SystemFacts
from camkes.model.connectors import (
    GENERATED,
    RPC_CALL,
    caller_waits,
    carries_time,
    is_standard,
)
from camkes.model.system import Connector


def _instead(connector: Connector) -> str:
    """What else can be done about a connector that only seL4 builds have."""
    if connector.from_end.hardware or connector.to_end.hardware:
        return ", or replace the device with a component"
    return f", or connect it with `{RPC_CALL.name}`" if caller_waits(connector) else ""


def check_connections(all_: SystemFacts) -> None:
    """Report connections that no code can be generated for."""
    for connection in all_.system.connections:
        connector = connection.connector
        if connector.name in GENERATED | all_.rendered.connectors or carries_time(connection):
            continue
        if connector.from_end.hardware or connector.to_end.hardware or is_standard(connector):
            all_.sink.report(
                NEEDS_SEL4,
                f"connection `{connection.names[0]}` needs the seL4 kernel: the host kernel does not "
                f"support {connector.name}",
                connection.span,
                help=f"build with `--kernel sel4`{_instead(connector)}",
            )
        else:
            all_.sink.report(
                UNKNOWN_CONNECTOR,
                f"there is no template for connector `{connector.name}` of connection "
                f"`{connection.names[0]}`",
                connection.span,
                help="use a connector of std_connector.camkes, or declare templates in CMakeLists.txt: "
                f"DeclareCAmkESConnector({connector.name} FROM file TO file)",
            )
