# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes SVG: elements with attributes in the order given, so that equal input gives equal bytes."""

from __future__ import annotations

import html

from camkes.visible import visible

#: Faces as wide as `text_width` computes; some converters try only the first.
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
INK = "#1f2933"
FAINT = "#5f6b7a"
RULE = "#e4e7eb"

#: colours that stay apart for colour-blind readers and in print, lightly toned
PALETTE = (
    "#7aa6dc",
    "#f2b35e",
    "#7fc29b",
    "#d08fc7",
    "#ec8a80",
    "#83c9d4",
    "#c9ae8c",
    "#b5bd61",
    "#a79be0",
    "#f0a6c2",
)
OWN = "#cfd6df"

_NARROW = frozenset("fijlrtI.,:;'|!()[] ")
_WIDE = frozenset("mwMWÖ@%")


def escaped(text: str) -> str:
    """A text as the content of an element."""
    return html.escape(visible(text), quote=False)


def _quoted(text: str) -> str:
    """An attribute's value."""
    return '"' + escaped(text).replace('"', "&quot;") + '"'


def number(value: float) -> str:
    """At most two decimals, none if they are zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def text_width(text: str, size: float) -> float:
    """About how wide a text is, in a common sans-serif face."""
    units = sum(0.32 if c in _NARROW else 0.86 if c in _WIDE else 0.66 if c.isupper() else 0.56 for c in text)
    return units * size


def shortened(words: str, size: float, width: float) -> str:
    """As much of a text as fits, with an ellipsis for the rest; empty if fewer than three characters do."""
    if text_width(words, size) <= width:
        return words
    lengths = range(len(words) - 1, 2, -1)
    return next((words[:n] + "…" for n in lengths if text_width(words[:n] + "…", size) <= width), "")


def darker(colour: str, by: float = 0.62) -> str:
    """The same hue, darker: for borders and lettering."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part * by):02x}" for part in parts)


def element(name: str, content: str = "", /, **attributes: str | float | None) -> str:
    """An element. Underscores in attribute names become hyphens; None leaves an attribute out."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is not None:
            text = value if isinstance(value, str) else number(value)
            parts.append(f" {key.rstrip('_').replace('_', '-')}={_quoted(text)}")
    parts.append(f">{content}</{name}>" if content else "/>")
    return "".join(parts)


def text(x: float, y: float, words: str, **attributes: str | float | None) -> str:
    return element("text", escaped(words), x=x, y=y, **attributes)


def framed(x: float, y: float, words: str, size: float, fill: str = INK) -> str:
    """Words around (x, y), on white, so that they can be read on lines and patterns. (An outline of the
    letters would cover them where a viewer does not know `paint-order`.)"""
    width = text_width(words, size) + 6
    height = size + 4
    ground = element(
        "rect", x=x - width / 2, y=y - height / 2, width=width, height=height, rx=2, fill="#ffffff"
    )
    return ground + text(x, y + size * 0.35, words, font_size=size, text_anchor="middle", fill=fill)


def title(words: str) -> str:
    """What a viewer shows when the pointer rests on the element that contains this."""
    return element("title", escaped(words))


class Drawing:
    """A picture that grows by added elements. `definitions` come first, each once."""

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width, self.height, self.label = width, height, label
        self._definitions: dict[str, str] = {}
        self._body: list[str] = []

    def add(self, *elements: str) -> None:
        self._body.extend(elements)

    def define(self, key: str, content: str) -> None:
        self._definitions.setdefault(key, content)

    def hatch(self, key: str, colour: str) -> str:
        """A fill of slanted lines; what is returned goes into a `fill` attribute."""
        lines = element("path", d="M-1,1 L1,-1 M0,6 L6,0 M5,7 L7,5", stroke=colour, stroke_width=1.5)
        return self._pattern(f"hatch-{key}", lines)

    def dots(self, key: str, colour: str) -> str:
        """A fill of dots; what is returned goes into a `fill` attribute."""
        dot = element("circle", cx=3, cy=3, r=1.4, fill=colour)
        return self._pattern(f"dots-{key}", dot)

    def lined(self, key: str, colour: str, variant: int) -> str:
        """A colour with fine lines, for more things than there are hues; a plain one for variant 0."""
        if variant == 0:
            return colour
        path = ("M3,0 V6", "M0,3 H6", "M3,0 V6 M0,3 H6")[(variant - 1) % 3]
        lines = element("path", d=path, stroke=darker(colour), stroke_width=0.9)
        return self._pattern(f"lined-{key}", lines, colour)

    def _pattern(self, name: str, content: str, ground: str = "#ffffff") -> str:
        tile = element("rect", width=6, height=6, fill=ground) + content
        self.define(name, element("pattern", tile, id=name, width=6, height=6, patternUnits="userSpaceOnUse"))
        return f"url(#{name})"

    def render(self) -> str:
        width, height = number(self.width), number(self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label={_quoted(self.label)} '
            f'font-family="{FONT}" font-size="12" fill="{INK}">'
        )
        parts = ['<?xml version="1.0" encoding="UTF-8"?>', head, title(self.label)]
        if self._definitions:
            parts.append("<defs>" + "".join(self._definitions.values()) + "</defs>")
        parts.append(element("rect", width=self.width, height=self.height, fill="#ffffff"))
        parts.extend(self._body)
        parts.append("</svg>\n")
        return "\n".join(parts)
