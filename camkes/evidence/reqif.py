# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requirements with their results as ReqIF 1.2, which tools for requirements import."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from camkes.evidence.matrix import CaseOutcome, Matrix, RequirementRow
from camkes.visible import visible

#: Of ReqIF 1.0 to 1.2, which have one schema; it has the version "1.0" for all of them.
NAMESPACE = "http://www.omg.org/spec/ReqIF/20110401/reqif.xsd"
_XHTML = "http://www.w3.org/1999/xhtml"

#: Attributes of requirements by their names, those that begin with ReqIF as tools expect them.
_STRINGS = ("ReqIF.ForeignID", "Result", *(f"Tests {outcome.value}" for outcome in CaseOutcome))
_TEXT = "ReqIF.Text"
_TESTS = "Tests"


def to_reqif(matrix: Matrix, time: str) -> bytes:
    """A specification for each page of requirements. `time` is that of the commit, as XML has times."""
    root = Element("REQ-IF", {"xmlns": NAMESPACE, "xmlns:xhtml": _XHTML})
    header = SubElement(SubElement(root, "THE-HEADER"), "REQ-IF-HEADER", IDENTIFIER="camkes-rt")
    comment = f"Results of version {matrix.version}, commit {matrix.revision}"
    for tag, words in (
        ("COMMENT", comment),
        ("CREATION-TIME", time),
        ("REQ-IF-TOOL-ID", f"camkes-rt {matrix.version}"),
        ("REQ-IF-VERSION", "1.0"),
        ("SOURCE-TOOL-ID", "camkes-rt"),
        ("TITLE", "Requirements of camkes-rt"),
    ):
        SubElement(header, tag).text = words
    content = SubElement(SubElement(root, "CORE-CONTENT"), "REQ-IF-CONTENT")

    def identified(above: Element, tag: str, name: str, **attributes: str) -> Element:
        return SubElement(above, tag, {"IDENTIFIER": name, "LAST-CHANGE": time, **attributes})

    datatypes = SubElement(content, "DATATYPES")
    identified(datatypes, "DATATYPE-DEFINITION-STRING", "string", **{"MAX-LENGTH": "1000"})
    identified(datatypes, "DATATYPE-DEFINITION-XHTML", "xhtml")
    types = SubElement(content, "SPEC-TYPES")
    kind = identified(types, "SPEC-OBJECT-TYPE", "requirement", **{"LONG-NAME": "Requirement"})
    attributes = SubElement(kind, "SPEC-ATTRIBUTES")
    for name in (*_STRINGS, _TEXT, _TESTS):
        form = "STRING" if name in _STRINGS else "XHTML"
        tag = f"ATTRIBUTE-DEFINITION-{form}"
        attribute = identified(attributes, tag, _identifier(name), **{"LONG-NAME": name})
        SubElement(SubElement(attribute, "TYPE"), f"DATATYPE-DEFINITION-{form}-REF").text = form.lower()
    identified(types, "SPECIFICATION-TYPE", "page", **{"LONG-NAME": "Page"})

    objects = SubElement(content, "SPEC-OBJECTS")
    specifications = SubElement(content, "SPECIFICATIONS")
    children: dict[str, Element] = {}
    for row in matrix.rows:
        name, area = row.requirement.id, row.requirement.area
        _values(identified(objects, "SPEC-OBJECT", name), row)
        if area not in children:
            page = f"page.{len(children) + 1}"
            specification = identified(specifications, "SPECIFICATION", page, **{"LONG-NAME": area})
            SubElement(SubElement(specification, "TYPE"), "SPECIFICATION-TYPE-REF").text = "page"
            children[area] = SubElement(specification, "CHILDREN")
        place = identified(children[area], "SPEC-HIERARCHY", f"place.{name}")
        SubElement(SubElement(place, "OBJECT"), "SPEC-OBJECT-REF").text = name
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _identifier(attribute: str) -> str:
    return f"attribute.{attribute.replace(' ', '.')}"


def _values(element: Element, row: RequirementRow) -> None:
    """What a requirement has of each attribute."""
    counts = {f"Tests {outcome.value}": str(number) for outcome, number in row.counts.items()}
    strings = {"ReqIF.ForeignID": row.requirement.id, "Result": _result(row), **counts}
    values = SubElement(element, "VALUES")
    for name, text in strings.items():
        value = SubElement(values, "ATTRIBUTE-VALUE-STRING", {"THE-VALUE": text})
        _definition(value, "STRING", name)
    _xhtml(values, _TEXT, {row.requirement.text: ""})
    _xhtml(values, _TESTS, {test: f": {outcome.value}" for test, outcome in row.tests.items()})
    SubElement(SubElement(element, "TYPE"), "SPEC-OBJECT-TYPE-REF").text = "requirement"


def _result(row: RequirementRow) -> str:
    """The result of a requirement in one word."""
    if row.counts[CaseOutcome.FAILED]:
        return CaseOutcome.FAILED.value
    return next((each.value for each in CaseOutcome if row.counts[each]), CaseOutcome.NOT_RUN.value)


def _xhtml(values: Element, name: str, lines: Mapping[str, str]) -> None:
    """An attribute whose value has a paragraph for each line."""
    value = SubElement(values, "ATTRIBUTE-VALUE-XHTML")
    _definition(value, "XHTML", name)
    block = SubElement(SubElement(value, "THE-VALUE"), "xhtml:div")
    for line, end in lines.items():
        SubElement(block, "xhtml:p").text = visible(line) + end


def _definition(value: Element, form: str, name: str) -> None:
    SubElement(SubElement(value, "DEFINITION"), f"ATTRIBUTE-DEFINITION-{form}-REF").text = _identifier(name)
