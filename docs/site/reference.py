# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Pages of the reference that are made of the code, as Markdown."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from camkes.cli.commands.schemas import DOCUMENTS, json_schema
from camkes.cli.table import MODULES, command_named, make_parser
from camkes.diagnostics.explain import all_codes, explanation
from camkes.model import settings

ROOT = Path(__file__).resolve().parents[2]

#: What the first two digits of a code stand for.
SUBJECTS = {
    "01": "Syntax",
    "02": "Files and names",
    "03": "Connections",
    "04": "Settings",
    "05": "Protocols and tasks",
    "06": "Values, capabilities and generated code",
    "07": "Applications, builds and tests",
    "08": "Runs, traces and migration",
    "09": "Analysis and builds for seL4",
}
HEADERS = ("realtime.h", "test.h", "error.h", "dataport.h")


def codes() -> str:
    """All diagnostics, ordered by number, each with its page."""
    parts = [
        "# Diagnostics",
        "Each message of the tool has a code: `E` errors, `W` warnings, `N` notes. `camkes explain CODE` "
        "prints the same text.",
    ]
    found = sorted(all_codes(), key=lambda code: (code.number[1:3], code.number[1:]))
    subject = ""
    for code in found:
        if code.number[1:3] != subject:
            subject = code.number[1:3]
            parts.append(f"## {SUBJECTS[subject]}")
        parts.append(f"### {code.number} {code.name}")
        parts.append(explanation(code))
    return "\n\n".join(parts) + "\n"


def settings_table() -> str:
    """The settings that the tool reads, with ranges and defaults."""
    rows = [
        "# Settings",
        "Settings that the tool reads, in a `configuration` or as the default of an attribute. "
        "[The language](../language.md#priorities-and-time) describes those of tasks and locks.",
        "The name depends on what a setting is for: `inst._priority` is that of the control thread, "
        "`inst.IFACE_priority` that of the threads of an interface, `inst.priority`, where the table says "
        "*all threads*, that of all threads without a setting of their own. A time "
        "without a unit is in microseconds.",
    ]
    table = ["| setting | of | meaning | values | default |", "|---|---|---|---|---|"]
    for known in settings.TABLE.values():
        of = f"{known.owner}, all threads" if known.owner == "thread" and known.shared else known.owner
        table.append(f"| `{known.name}` | {of} | {known.about} | {known.values} | {known.usual or '-'} |")
    return "\n\n".join(rows) + "\n\n" + "\n".join(table) + "\n"


def commands() -> str:
    """The command line."""
    parser = make_parser()
    parts = ["# Command line", parser.epilog or "", "```text\n" + _help(parser) + "\n```"]
    for name in MODULES:
        command = command_named(name)
        sub = argparse.ArgumentParser(
            prog=f"camkes {name}",
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=100),
        )
        command.add_arguments(sub)
        parts.append(f"## camkes {name}")
        parts.append(f"{command.help[0].upper()}{command.help[1:]}.")
        parts.append("```text\n" + _help(sub) + "\n```")
        parts.append("Examples:\n\n```text\n" + _unindented(command.examples) + "\n```")
    return "\n\n".join(parts) + "\n"


def _help(parser: argparse.ArgumentParser) -> str:
    parser.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=100)
    return parser.format_help().strip()


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip("\n").splitlines())


def c_api() -> str:
    """What the headers for component code declare, with their comments."""
    parts = [
        "# C interface",
        "What component code can use beyond the names of its own interfaces. "
        "[The language](../language.md#in-component-code) says how they are used; `<camkes.h>`, which is "
        "generated for each instance, includes all but the header of tests.",
    ]
    for name in HEADERS:
        text = (ROOT / "runtime" / "include" / "camkes" / name).read_text("utf-8")
        parts.append(f"## &lt;camkes/{name}&gt;")
        parts += _declarations(text)
    return "\n\n".join(parts) + "\n"


#: A comment of a header, and the declarations up to the next empty line or comment.
_COMMENTED = re.compile(
    r"^/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/\n(?P<code>(?:(?!/\*)[^\n]+\n)*)", re.MULTILINE
)


def _declarations(text: str) -> Iterator[str]:
    for match in _COMMENTED.finditer(text):
        comment = " ".join(line.strip(" *") for line in match["comment"].splitlines()).strip()
        if comment.startswith("SPDX"):
            continue
        code = _interface(match["code"])
        yield comment
        if code:
            yield f"```c\n{code}\n```"


def _interface(code: str) -> str:
    """Declarations without bodies, continuation lines of macros and directives."""
    lines = []
    for line in re.sub(r"\\\n\s*", " ", code).splitlines():
        if line.startswith("#define"):
            head = re.match(r"#define \w+(\([^)]*\))?", line)
            lines.append(head[0] if head else line)
        elif line.startswith("{"):
            break
        elif not line.startswith(("#", "}", 'extern "C"')):
            lines.append(line)
    return "\n".join(lines)


def json_documents() -> str:
    """The JSON documents of commands."""
    parts = [
        "# JSON documents",
        "`--json` prints a document; reports have the number of their form (`schema`). Fields keep "
        "their names and meanings; new ones may be added. Times are nanoseconds. `camkes schema NAME` prints "
        "the JSON Schema of a document. Diagnostics can also be written as SARIF 2.1.0, with "
        "`--format sarif`; `camkes dump` prints the resolved system in a form that follows the model and "
        "is not stable.",
    ]
    for name, document in DOCUMENTS.items():
        file = f"[{name}.schema.json](schemas/{name}.schema.json)"
        parts += [f"## {document.written_by}", f"{'A list. ' if document.listed else ''}Schema: {file}"]
        parts += _tables(name)
    return "\n\n".join(parts) + "\n"


def _tables(name: str) -> Iterator[str]:
    """The types of a document, the outermost first."""
    found = json_schema(name)
    outer = found.get("$ref") or found.get("items", found.get("anyOf", [{}])[0])["$ref"]
    first = outer.rpartition("/")[2]
    structs = {key: each for key, each in found["$defs"].items() if "properties" in each}
    for each in sorted(structs, key=lambda key: key != first):
        struct = structs[each]
        if each != first:
            yield f"({name}-{each.lower()})=\n### {each}"
        yield struct.get("description", "")
        rows = ["| field | type | |", "|---|---|---|"]
        for field, what in struct["properties"].items():
            always = field in struct.get("required", ()) or "default" in what
            rows.append(
                f"| `{field}` | {_type(what, name, found['$defs'])} | {'' if always else 'not always'} |"
            )
        yield "\n".join(rows)


def _type(what: dict[str, Any], name: str, known: dict[str, Any]) -> str:
    def inner(each: dict[str, Any]) -> str:
        return _type(each, name, known)

    if "$ref" in what:
        target = what["$ref"].rpartition("/")[2]
        found = known[target]
        return f"[{target}](#{name}-{target.lower()})" if "properties" in found else inner(found)
    if "anyOf" in what:
        return " or ".join(map(inner, what["anyOf"]))
    if "enum" in what:
        return ", ".join(f"`{each}`" for each in what["enum"])
    if "const" in what:
        return f"`{str(what['const']).lower()}`"
    if "prefixItems" in what:
        return f"list of {', '.join(map(inner, what['prefixItems']))}"
    if what.get("type") == "array":
        return f"list of {inner(what.get('items', {}))}"
    if "additionalProperties" in what:
        return f"object of {inner(what['additionalProperties'])}"
    return str(what.get("type", "any"))


def grammar() -> str:
    """The grammar that the parser is made of."""
    head, *sections = re.split(r"\n\n(?=// )", (ROOT / "parser" / "camkes.lark").read_text("utf-8"))
    comment, _, rules = head.partition("\n\n")
    parts = [
        "# Grammar",
        "The notation is that of Lark: words in quotes and names in capitals are terminals, `[x]` and `x?` "
        "are optional, `x*` is any number and `x+` at least one; what follows `->` names the result.",
        *_comment(comment)[1:],
        f"```text\n{rules}\n```",
    ]
    for section in sections:
        comment = "".join(line for line in section.splitlines(keepends=True) if line.startswith("//"))
        title, _, more = _comment(comment)[0].partition(". ")
        parts += [f"## {title}", more, f"```text\n{section.removeprefix(comment).strip()}\n```"]
    return "\n\n".join(filter(None, parts)) + "\n"


def _comment(text: str) -> list[str]:
    """The paragraphs of lines that begin with `//`."""
    lines = "\n".join(line.removeprefix("//").strip() for line in text.splitlines())
    return [" ".join(part.split()) for part in lines.split("\n\n")]


#: Of a header: a record, or the comment above several; an enumeration, and one of its values.
_RECORD = re.compile(
    r'^ {4}(?:X\((\w+), (\d+), "(.*)"\)|/\* (.*?) \*/ *\\$)(?:.*?/\* (.*?) *\*/)?', re.MULTILINE
)
_ENUMERATION = re.compile(r"^/\* (.*) \*/\nenum (\w+) \{\n((?: {4}.*\n)+)\};", re.MULTILINE)
_VALUE = re.compile(r"CAMKES_(\w+) = (\d+),(?: +/\* (.*) \*/)?")


def trace() -> str:
    """The format of traces, from the header that the host kernel is compiled with."""
    text = (ROOT / "kernel" / "host" / "include" / "camkes" / "trace.h").read_text("utf-8")
    form = text[text.index(" * A trace file") : text.index("*/\n#pragma")]
    parts = [
        "# Trace",
        "`camkes run --trace FILE.trace` writes this format, `--trace FILE.json` that of Perfetto.",
        " ".join(line.strip(" *") for line in form.splitlines()),
        f"```c\n{text[text.index('struct') : text.index('};')]}}};\n```",
    ]
    for name, number, arguments, section, meaning in _RECORD.findall(text):
        if section:
            title, _, more = section.partition("; ")
            parts += [
                f"## {title}",
                f"{more[:1].upper()}{more[1:]}",
                "| number | kind | arguments | |\n|---|---|---|---|",
            ]
        else:
            words = ", ".join(f"`{word}`" for word in arguments.split())
            parts[-1] += f"\n| {number} | `{name}` | {words} | {meaning} |"
    for meaning, name, values in _ENUMERATION.findall(text):
        rows = [f"| {number} | `{value}` | {more} |" for value, number, more in _VALUE.findall(values)]
        parts += [f"## enum {name}", meaning, "\n".join(["| number | name | |\n|---|---|---|", *rows])]
    return "\n\n".join(filter(None, parts)) + "\n"


def examples() -> str:
    """The examples, each with the first paragraph of its page."""
    rows = [
        "# Examples",
        "Small systems, each about one thing, in the folder `examples`.",
        "| | |\n|---|---|",
    ]
    for page in sorted((ROOT / "examples").glob("*/README.md")):
        text = re.sub(r"<!--.*?-->\n", "", page.read_text("utf-8"))
        first = next(
            part for part in text.split("\n\n") if part.strip() and not part.lstrip().startswith("#")
        )
        first = " ".join(first.split()).replace("](../../docs/", "](../")
        rows[-1] += f"\n| [{page.parent.name}](../examples/{page.parent.name}.md) | {first} |"
    return "\n\n".join(rows) + "\n"


SCHEMAS = {
    f"reference/schemas/{name}.schema.json": lambda name=name: json.dumps(json_schema(name), indent=2) + "\n"
    for name in DOCUMENTS
}

PAGES = {
    "reference/codes.md": codes,
    "reference/settings.md": settings_table,
    "reference/commands.md": commands,
    "reference/c-api.md": c_api,
    "reference/json.md": json_documents,
    "reference/grammar.md": grammar,
    "reference/trace.md": trace,
    "reference/examples.md": examples,
}
