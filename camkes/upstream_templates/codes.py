# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What can be wrong where templates of connectors and components are rendered."""

from __future__ import annotations

from camkes.diagnostics import Code

TEMPLATE_ERROR = Code(
    "E0956",
    "template-error",
    """A template of a connector or component refuses what the system says. The message is the template's
own; usually a setting is missing or has a value that the template cannot use.

The template and its line are named below the place in the `.camkes` file that it was rendered for.
""",
)

TEMPLATE_FAILED = Code(
    "E0957",
    "template-failed",
    """A template of a connector or component has an error: it uses a name that does not exist, divides by
zero, is no valid Jinja, or the like. The message is Jinja's or Python's; the template and its line are
named.

Often the template does not expect what the system says, for example a setting that is missing or a string
where it takes a number.
""",
)

NO_TEMPLATE = Code(
    "E0958",
    "no-template",
    """A template that CMake names was not found, or none is named for an end of the connector.

```cmake
CAmkESAddTemplatesPath(templates)
DeclareCAmkESConnector(MyConnector FROM MyConnector-from.template.c TO MyConnector-to.template.c)
```

A template is looked for in the folders of `CAmkESAddTemplatesPath`, in their order, by the name that
`DeclareCAmkESConnector` or `TEMPLATE_SOURCES` gives.
""",
)
