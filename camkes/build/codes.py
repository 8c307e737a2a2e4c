# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of builds and runs."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_SOURCES = Code(
    "E0721",
    "no-sources",
    """A component has code to run, but no source file was found for it.

An application's `CMakeLists.txt` declares the sources of each component:

```cmake
DeclareCAmkESComponent(Client SOURCES components/Client/src/client.c)
```

Without a `CMakeLists.txt`, the sources of a component `Client` are looked for beside the `.camkes` file:
`components/Client/src/*.c`, `components/Client/*.c`, `Client/*.c`, `Client.c`, `client.c`.
""",
)

COMPILE_ERROR = Code(
    "E0722",
    "compile-error",
    """The C compiler rejects a source file of a component. The message is the compiler's own.

The functions a component calls and defines are declared in its `camkes.h`, in the build folder.

Fails, for `component Meter { provides Reading reading; }` and the method `int value(in int sensor);`:

```c
#include <camkes.h>
void reading_value(void) {}
```

Works:

```c
#include <camkes.h>
int reading_value(int sensor) { return sensor; }
```
""",
)

LINK_ERROR = Code(
    "E0723",
    "link-error",
    """The parts of a component do not fit together: a name is defined twice or not at all.

A component defines `run()` if it has `control`, and a function `IFACE_method()` for each method of each
interface it provides. It may call the functions declared in its `camkes.h` and those of the C library.

Fails, for `component Meter { control; provides Reading reading; }` where `Reading` has a method `value`:

```c
int run(void) { return 0; }
```

Works:

```c
int run(void) { return 0; }
int reading_value(void) { return 20; }
```
""",
)

NO_COMPILER = Code(
    "E0724",
    "no-compiler",
    """No C compiler was found. The tool runs `cc`, or what the environment variable `CC` names.

On Debian and Ubuntu: `apt install build-essential`; on Fedora: `dnf install gcc make`.
""",
)

BUILD_FOLDER = Code(
    "E0725",
    "build-folder",
    """The build folder cannot be written: the disk is full, or permissions are missing.

Choose another one with `-o FOLDER`, or make room. What was written stays whole: running the command again
continues where it stopped.
""",
)

FOLDER_IN_USE = Code(
    "E0726",
    "folder-in-use",
    """Another command builds in the same output folder, and did not finish within a minute.

Builds in one folder wait for each other; runs do not, so that a sweep of `--choices random:SEED` can use one
folder. A command that was stopped holds the folder as long as a compiler that it started is still there. Wait
for the other command, or give this one a folder of its own:

```
camkes build system.camkes -o build/other
```
""",
)

KERNEL_BUILD = Code(
    "E0727",
    "host-kernel-build",
    """The host kernel could not be compiled. It needs a C11 compiler and `make` on Linux. The notes are what
the compiler said.

It is compiled once for each compiler and kept in the user's cache (`~/.cache`, or XDG_CACHE_HOME); where that
cannot be written, in the build folder.
""",
)

COMPILE_WARNING = Code(
    "W0728",
    "compile-warning",
    """The C compiler warns about a source file of a component. The message is the compiler's own.

It is said in each build until the file is put right, also when the file is not compiled again. Flags of a
component turn a kind of warning off:

```cmake
DeclareCAmkESComponent(Client SOURCES client.c C_FLAGS -Wno-unused-variable)
```
""",
)

FAULT = Code(
    "E0729",
    "fault",
    """A thread of a component could not go on: it used memory that is not the component's, overran its
stack, divided by zero, or ran for ever without letting time pass. The other threads go on.

The place is the C line at which the thread stopped, in the component's own code: where a function of a
library stopped, such as `strlen(NULL)`, it is the line that calls it. The notes say which calls led there,
when it was, whose request the thread served, which locks it holds and who waits for ever because of it.

A component can only touch its own memory and the dataports it is connected to, with the access rights they
have.

Fails:

```c
int run(void) { while (!data->ready) { } return 0; }
```

Works, with an event that the writer emits:

```c
int run(void) { ready_wait(); return 0; }
```
""",
)

RUN_FAILED = Code(
    "E0730",
    "run-failed",
    """The host kernel could not run the system, or ended before the run did. The notes are its own words.

It cannot start where a file that it was given cannot be read, such as the one of `--choices script:FILE`, or
where there is no memory for the system. Signal 9 means that somebody else ended it, often because memory ran
out; signal 25 that a trace grew beyond the limit for files.
""",
)

WAITS_FOR_EVER = Code(
    "W0731",
    "waits-for-ever",
    """A thread waits for what cannot come, and no fault is the reason: a call to a thread whose code has
returned, calls in a circle, or a call whose server waits for an event when nothing is left that could emit
it. The message says who waits for whom.

Fails, for `component A { provides P p; uses P q; }` and two of them that are connected both ways, once
somebody calls `p_go()` of one:

```c
void p_go(void) { q_go(); }
```

Works: one of the two does not call back, but emits an event that the other one waits for in `run()`.
""",
)

C_TYPE = Code(
    "E0736",
    "c-type",
    """A procedure or a dataport names a type that the C compiler does not know, or that cannot be passed by
value: an incomplete struct, an array, a function.

C types are defined in headers, and a procedure names those that it needs. They are looked for in the folders
that `DeclareCAmkESComponent(... INCLUDES ...)` lists for each component that has the procedure.

Fails, if only a source of the component defines `reading_t`:

```camkes
procedure Meter { reading_t value(in int sensor); }
```

Works, with `typedef struct { int value; } reading_t;` in `meter.h`:

```camkes
procedure Meter { include "meter.h"; reading_t value(in int sensor); }
```
""",
)

UNUSABLE_NAME = Code(
    "E0735",
    "unusable-name",
    """The name of a source, of a folder with headers or of the build folder has a backslash, a line break or
another control character. Compilers write the headers that they read as rules for make, which have no way
to write such names, so a header that changes would be overlooked.

Rename the file or folder. Blanks and letters of every script are no problem.
""",
)

SANITIZER = Code(
    "E0733",
    "sanitizer-finding",
    """The address or the undefined-behaviour sanitizer (`--sanitize`) found a mistake in a component's code.
The message is in the sanitizer's words; its own report is in `camkes run --json`, under `findings`. The
thread goes on, so that one run finds several mistakes; each place in the code is reported once.

Fails, when `n` is 8:

```c
int values[8];
void store_put(int n, int value) { values[n] = value; }
```

Works:

```c
int values[8];
void store_put(int n, int value) { if (n >= 0 && n < 8) { values[n] = value; } }
```
""",
)

CODES = (
    NO_SOURCES,
    COMPILE_ERROR,
    LINK_ERROR,
    NO_COMPILER,
    BUILD_FOLDER,
    FOLDER_IN_USE,
    KERNEL_BUILD,
    COMPILE_WARNING,
    FAULT,
    RUN_FAILED,
    WAITS_FOR_EVER,
    UNUSABLE_NAME,
    C_TYPE,
)
