# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The kinds of diagnostics of the parser: E01xx."""

from __future__ import annotations

from camkes.diagnostics import Code

# Reading files ------------------------------------------------------------------------------------

FILE_UNREADABLE = Code(
    "E0101",
    "file-unreadable",
    """\
A file that the system is made of cannot be read: it does not exist, it is a directory, or you have no
permission to read it.

The path is taken as it is written on the command line, and relative to the importing file in

```camkes
import "components/driver.camkes";
```

Check the spelling, or correct the path.
""",
)
FILE_NOT_TEXT = Code(
    "E0102",
    "file-not-text",
    """\
The file is not text in UTF-8: it contains a NUL byte, or bytes that are no UTF-8 character. The usual causes
are a binary file that was named by mistake and an editor that saves in another encoding, such as Latin-1.

Save the file as UTF-8, or convert it:

```sh
iconv -f latin1 -t utf-8 old.camkes > new.camkes
```
""",
)
FILE_TOO_LARGE = Code(
    "E0103",
    "file-too-large",
    """\
A file of more than 64 MiB is not read: it is hardly an architecture written by hand. If it is generated,
split it into several files and `import` them.
""",
)

# The C preprocessor -------------------------------------------------------------------------------

PREPROCESSOR_MISSING = Code(
    "E0110",
    "preprocessor-missing",
    """\
The file uses the C preprocessor (`#include`, `#define`, `#if`, or a predefined macro), but the preprocessor
cannot be run.

Install a C compiler, which brings the command `cpp`, or name another preprocessor. A file without
directives and macros needs none.
""",
)
PREPROCESSOR_ERROR = Code(
    "E0111",
    "preprocessor-error",
    """\
The C preprocessor found an error in the file or in one that it includes: a header that is not there, an
`#if` without `#endif`, a wrong use of a macro, or an `#error` that was written on purpose.

```camkes
#include "platform.h"   // fails if no folder of the include path has it
```

Name the folder of the header with `-I`, the same folder that the C compiler is given. Each file is
preprocessed on its own: a macro that is defined in a file is not known in those it imports.
""",
)

PREPROCESSOR_LIMIT = Code(
    "E0112",
    "preprocessor-limit",
    """\
The C preprocessor was stopped because it met its limits of time, memory or output, which are far above what a
system needs.

```camkes
#define A B B B B B B B B
#define B A   // a chain of such macros has a size that no machine can hold
```

Usual causes: macros that multiply each other, or a file that never ends.
""",
)

# Characters and words -----------------------------------------------------------------------------

ILLEGAL_CHARACTER = Code(
    "E0120",
    "illegal-character",
    """\
The character is no part of the language where it stands. Outside of strings and comments there are only
names (letters, digits, `_`), numbers, and the signs of the language.

```camkes
inst.label = 'driver';     // wrong: strings stand in double quotes
inst.label = "driver";     // right
```
""",
)
UNTERMINATED_STRING = Code(
    "E0121",
    "unterminated-string",
    """\
A string has a `"` at its beginning and none at its end. Since a string may run over several lines, the
tool takes the first that does as the culprit.

```camkes
inst.label = "driver;      // wrong
inst.label = "driver";     // right
```
""",
)
STRING_ESCAPE = Code(
    "E0122",
    "string-escape",
    """\
Strings have no escape sequences: a backslash is an ordinary character, and so a string cannot contain a
double quote.

```camkes
inst.label = "the \\"driver\\"";     // wrong
inst.label = "the 'driver'";       // right
```
""",
)
UNTERMINATED_COMMENT = Code(
    "E0123",
    "unterminated-comment",
    """\
A comment that begins with `/*` goes to the next `*/`, and there is none. Comments do not nest: the first
`*/` ends the comment, however many `/*` stand before it.

```camkes
/* the driver             // wrong
/* the driver */          // right
```
""",
)
BAD_NUMBER = Code(
    "E0124",
    "bad-number",
    """\
Numbers are decimal (`10`, `0.5`) or hexadecimal (`0x1F`). A decimal number does not begin with 0, because
in C that would make it octal, which is hardly ever meant.

```camkes
inst._priority = 010;     // wrong
inst._priority = 10;      // right
```

A number of more than a thousand digits is refused as well.
""",
)
RESERVED_WORD = Code(
    "E0125",
    "reserved-word",
    """\
Some words of the language cannot be names: `component`, `control`, `from`, `to`, `in`, `out`, `thread`,
`group`, `string` and so on. The words of the real-time extension (`requestor`, `requests`,
`priority_protocol`), of schedules and of units can.

```camkes
provides Service thread;       // wrong
provides Service thread_;      // right
```
""",
)

# Sentences ----------------------------------------------------------------------------------------

SYNTAX_ERROR = Code(
    "E0130",
    "syntax-error",
    """\
The text does not follow the grammar of CAmkES at the place that is shown. The message says what can stand
there and what was found.

```camkes
connection seL4RPCCall c(from a.p to b.p);      // wrong
connection seL4RPCCall c(from a.p, to b.p);     // right
```

If the place looks right, look at what stands just before it.
""",
)
MISSING_SEMICOLON = Code(
    "E0131",
    "missing-semicolon",
    """\
The items of a block end with `;`.

```camkes
component Driver {
    control          // wrong
    uses Clock clock;
}
component Driver {
    control;         // right
    uses Clock clock;
}
```

There is no `;` after the `}` of a composition, a configuration or a named connector.
""",
)
UNCLOSED_BRACKET = Code(
    "E0132",
    "unclosed-bracket",
    """\
Brackets come in pairs: `{ }`, `( )`, `[ ]`. One of the pair is missing. Where the indentation shows which
block was meant to end, the tool names that block; otherwise it names the innermost that is open.

```camkes
component Driver {
    control;
                     // wrong: a } is missing here
component Clock { }
```
""",
)
UNKNOWN_ITEM = Code(
    "E0133",
    "unknown-item",
    """\
Each kind of block has its own kinds of items, and the word that is shown begins none of them.

- a file: `import`, `procedure`, `struct`, `connector`, `component`, `composition`, `configuration`,
  `assembly`
- a component: `control`, `hardware`, `requestor`, `uses`, `provides`, `emits`, `consumes`, `dataport`,
  `maybe`, `has`, `attribute`, `include`, and at the end `composition` and `configuration`
- a composition: `component`, `connection`, `group`, `export`
- a configuration: settings, `INSTANCE.ATTRIBUTE = VALUE;`
- an assembly: `composition`, `configuration`, `schedule`

```camkes
component Driver { contrl; }      // wrong
component Driver { control; }     // right
```
""",
)
NESTED_TOO_DEEPLY = Code(
    "E0134",
    "nested-too-deeply",
    """\
Lists in lists, operators in operators, or compositions in components in compositions go deeper than 200
levels. No architecture needs that. If the file is generated, let the generator work the value out.
""",
)

# Sentences that are well formed and still not of the language -------------------------------------

MAYBE_NOT_ALLOWED = Code(
    "E0140",
    "maybe-not-allowed",
    """\
`maybe` says that an interface may stay unconnected. It belongs before `uses`, `consumes` and `dataport`.
What a component `provides` or `emits` may stay unconnected anyway.

```camkes
maybe provides Service s;     // wrong
provides Service s;           // right
maybe uses Service t;         // right
```
""",
)
COMPONENT_ORDER = Code(
    "E0141",
    "component-order",
    """\
In a component the interfaces and attributes come first, then at most one `composition` and at most one
`configuration`.

```camkes
component Pair {
    composition { component Half left; }
    uses Clock clock;                        // wrong
}
component Pair {
    uses Clock clock;                        // right
    composition { component Half left; }
}
```
""",
)
CONNECTOR_ENDS = Code(
    "E0142",
    "connector-ends",
    """\
A connector says what it connects: first one `from` end, then one `to` end, then its attributes.

```camkes
connector Bus {
    from Procedures;
    to Procedure with 1 thread;
    attribute int size = 64;
}
```
""",
)
SCHEDULE_TOO_SHORT = Code(
    "E0143",
    "schedule-too-short",
    """\
A schedule divides the time among scheduling domains, so it has at least two entries.

```camkes
schedule { [(0, 100)] }                 // wrong
schedule { [(0, 100), (1, 50)] }        // right
```

A system with one domain has no schedule.
""",
)
SETTING_PATH = Code(
    "E0144",
    "setting-path",
    """\
A setting names an instance and one of its attributes. Attributes of inner instances are set in the
configuration of the component that contains them.

```camkes
configuration { outer.inner.size = 4; }     // wrong
component Outer {
    composition { component Inner inner; }
    configuration { inner.size = 4; }       // right
}
```
""",
)
EMPTY_ASSEMBLY = Code(
    "E0145",
    "empty-assembly",
    """\
An assembly is the whole system; it has at least a composition.

```camkes
assembly { }                                              // wrong
assembly { composition { component Main main; } }         // right
```
""",
)
