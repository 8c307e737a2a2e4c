# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages of linkers."""

from __future__ import annotations

import pytest

from camkes.backends.host import link

pytestmark = pytest.mark.requirement("CHECK-6")


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("/a/b.c:3: undefined reference to `f'", ("/a/b.c", "3")),
        ("/a/b.c:3:(.text+0x5): undefined reference to `f'", ("/a/b.c", "3")),  # Binutils 2.47
        ("b.o:(.text+0x5): undefined reference to `f'", (None, None)),
    ],
)
def test_the_place_of_a_name_that_is_not_defined(message: str, place: tuple[str | None, str | None]) -> None:
    found = link._UNDEFINED.search(message)
    assert found is not None
    assert (found["file"], found["line"], found["name"]) == (*place, "f")


@pytest.mark.parametrize("section", ["", "(.text+0x5):"])
def test_the_places_of_a_name_that_is_defined_twice(section: str) -> None:
    message = f"/a/b.c:3:{section} multiple definition of `f'; /tmp/c.o:/a/c.c:4:{section} first defined here"
    found = link._DUPLICATE.search(message)
    assert found is not None
    places = found["file"], found["line"], found["first_file"], found["first_line"]
    assert places == ("/a/b.c", "3", "/a/c.c", "4")
