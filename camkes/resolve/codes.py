# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics of the resolver.

E02xx: files and names. E03xx: connections and real-time words. E04xx: settings and attributes.
W0x5x: what is accepted, and surely a mistake.
"""

from __future__ import annotations

from camkes.diagnostics import Code

# Files
IMPORT_NOT_FOUND = Code("E0201", "import-not-found")

# Names
UNKNOWN_NAME = Code("E0203", "unknown-name")
USED_BEFORE_DEFINED = Code("E0204", "used-before-defined")
DUPLICATE_NAME = Code("E0205", "duplicate-name")
CONTAINS_ITSELF = Code("E0206", "contains-itself")
TOO_DEEP = Code("E0207", "too-deep")
KEYWORD_NAME = Code("E0208", "keyword-name")

# Assemblies and components
NO_ASSEMBLY = Code("E0209", "no-assembly")
NO_INSTANCES = Code("E0210", "no-instances")
ASSEMBLY_BLOCKS = Code("E0211", "assembly-blocks")
COMPOSITION_REFERENCE = Code("E0212", "composition-reference")
BAD_EXPORT = Code("E0213", "bad-export")
HARDWARE_COMPONENT = Code("E0214", "hardware-component")
EMPTY_STRUCT = Code("E0215", "empty-struct")
SYMBOL_CLASH = Code("E0216", "symbol-clash")
BLOCK_IGNORED = Code("W0250", "block-ignored")
SCHEDULE_IGNORED = Code("W0251", "schedule-ignored")
EXPORT_KIND = Code("W0252", "export-kind")
HARDWARE_SYNC = Code("W0253", "hardware-sync")
KEYWORD_MEMBER = Code("W0254", "keyword-member")

# Connections
UNKNOWN_END = Code("E0302", "unknown-end")
NO_ENDS = Code("E0303", "no-ends")
TOO_MANY_ENDS = Code("E0304", "too-many-ends")
WRONG_SIDE = Code("E0305", "wrong-side")
WRONG_KIND = Code("E0306", "wrong-kind")
HARDWARE_MISMATCH = Code("E0307", "hardware-mismatch")
TYPES_DIFFER = Code("E0308", "types-differ")
CONNECTED_TWICE = Code("E0309", "connected-twice")
UNCONNECTED = Code("E0310", "unconnected")
CONNECTORS_DIFFER = Code("E0311", "connectors-differ")
THREADS_DIFFER = Code("E0312", "threads-differ")

# Real-time words
UNKNOWN_CLAUSE = Code("E0320", "unknown-clause")
MISPLACED_CLAUSE = Code("E0321", "misplaced-clause")
REPEATED_CLAUSE = Code("E0322", "repeated-clause")
UNKNOWN_PROTOCOL = Code("E0323", "unknown-protocol")
UNKNOWN_REQUEST = Code("E0324", "unknown-request")
REQUESTOR_CONTROL = Code("E0325", "requestor-control")
MONITOR_WITHOUT_LOCK = Code("E0327", "monitor-without-lock")
UNKNOWN_POLICY = Code("E0328", "unknown-policy")
UNKNOWN_CHOICE = Code("E0330", "unknown-choice")
NOT_A_SCHEDULER = Code("E0332", "not-a-scheduler")
NOT_A_TASK = Code("E0333", "not-a-task")
FALLING_LEVELS = Code("E0331", "falling-levels")
BAD_RELEASE = Code("E0329", "bad-release")
UNKNOWN_METHOD = Code("E0334", "unknown-method")
PROTOCOL_IGNORED = Code("W0350", "protocol-ignored")
CONNECTOR_THREADS_DIFFER = Code("W0352", "connector-threads-differ")
SETTINGS_DIFFER = Code("W0351", "settings-differ")

# Settings
DUPLICATE_SETTING = Code("E0402", "duplicate-setting")
MISTYPED_VALUE = Code("E0403", "mistyped-value")
MISSING_MEMBER = Code("E0404", "missing-member")
ATTRIBUTE_TYPE = Code("E0405", "attribute-type")
BAD_EXPRESSION = Code("E0406", "bad-expression")
BAD_COUNT = Code("E0407", "bad-count")
UNEXPECTED_UNIT = Code("E0408", "unexpected-unit")
REFERENCE_PATH = Code("E0411", "reference-path")
REFERENCE_LOOP = Code("E0412", "reference-loop")
MISSING_KEY = Code("E0413", "missing-key")
UNKNOWN_QUERY = Code("E0414", "unknown-query")
QUERY_FAILED = Code("E0415", "query-failed")
REFERENCE_WITHOUT_VALUE = Code("E0416", "reference-without-value")
BUDGET = Code("E0417", "budget-over-period")
NOT_PASSIVE = Code("E0418", "not-passive")
UNKNOWN_SETTING_INSTANCE = Code("W0450", "unknown-setting-instance")
UNKNOWN_SETTING = Code("W0451", "unknown-setting")
DEFAULT_MISMATCH = Code("W0452", "default-mismatch")
EXTRA_MEMBER = Code("W0453", "extra-member")
REFERENCE_TO_NOTHING = Code("W0454", "reference-to-nothing")
NOT_A_DICTIONARY = Code("W0455", "not-a-dictionary")
VALUE_RANGE = Code("W0456", "value-range")
