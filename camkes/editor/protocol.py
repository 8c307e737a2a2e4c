# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The JSON-RPC layer: every request gets an answer, also one that is malformed, and none ends the session."""

from __future__ import annotations

import logging
from typing import Any

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcMethodNotFound
from pygls.protocol import LanguageServerProtocol

_LOG = logging.getLogger(__name__)


class ValidatingProtocol(LanguageServerProtocol):
    """Answers with an error what cannot be understood; pygls only logs it."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message of JSON as an object; called for every object in it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            known = self.get_message_type(data.get("method", "")) is not None
            self._refuse(data, error if known else JsonRpcMethodNotFound())
            raise

    def handle_message(self, message: Any) -> None:
        """Handle a message; one that is not JSON-RPC is refused."""
        if hasattr(message, "jsonrpc"):
            super().handle_message(message)
        elif isinstance(message, dict):
            self._refuse(message, JsonRpcInvalidRequest())
        else:
            _LOG.warning("not a message: %s", type(message).__name__)

    def _refuse(self, data: dict[str, Any], error: JsonRpcException) -> None:
        number = data.get("id")
        if "method" in data and isinstance(number, int | str):
            self._send_response(number, error=error.to_response_error())
