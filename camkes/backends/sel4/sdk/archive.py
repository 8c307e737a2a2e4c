# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The file of an SDK: a compressed tar archive, the first member of which is the description of the
others. It is unpacked once, into the user's cache."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from msgspec import Struct

from camkes.backends.sel4.sdk.description import Description, DescriptionError, Packed
from camkes.cache import cache_folder, forget_older, mark_used
from camkes.files import write_whole

MEMBER = "sdk.json"
_MOST_FILES, _LARGEST, _MOST_BYTES, _LONGEST = 50_000, 2**28, 2**31, 2**25
_KEPT = 8  # SDKs that stay unpacked
_CHUNK = 1 << 20
_LEVEL = 6


class ArchiveError(Exception):
    """A file is not an SDK that can be used. The message says why."""


class Sdk(Struct, frozen=True):
    """An SDK in the `folder` that it was unpacked to; `identity` is the hash of its file."""

    description: Description
    folder: Path
    identity: str


def write_archive(path: Path, description: Description, content: Mapping[str, Path | bytes]) -> None:
    """Write an SDK; `content` has what `description.files` names. The same content makes the same file.
    OSError where it cannot be written."""
    file = BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=_LEVEL) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add(tar, MEMBER, description.write())
        for name in sorted(description.files):
            data = content[name]
            _add(tar, name, data if isinstance(data, bytes) else data.read_bytes())
    write_whole(path, file.getvalue())


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o644
    tar.addfile(member, BytesIO(data))


def packed(data: bytes) -> Packed:
    return Packed(hashlib.sha256(data).hexdigest(), len(data))


def read_description(path: Path) -> Description:
    """The description in an SDK. Raises ArchiveError, and OSError where the file cannot be read."""
    with path.open("rb") as file:
        try:
            with tarfile.open(fileobj=file, mode="r|gz") as tar:
                return _first(tar)
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ArchiveError(f"it is not an archive, or a damaged one ({error})") from error


def _first(tar: tarfile.TarFile) -> Description:
    member = tar.next()
    if member is None or member.name != MEMBER or not member.isreg() or member.size > _LONGEST:
        raise ArchiveError(f"it does not begin with {MEMBER}: `camkes sdk` did not make it")
    try:
        return Description.read(_content(tar, member))
    except DescriptionError as error:
        raise ArchiveError(str(error)) from error


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    data = file.read(member.size) if file is not None else b""
    if len(data) != member.size:
        raise ArchiveError(f"{member.name} is not whole")
    return data


def open_sdk(path: Path) -> Sdk:
    """An SDK, unpacked unless it is already. Raises ArchiveError, and OSError where the file cannot be
    read or the cache cannot be written."""
    parent = Path(cache_folder("sdk") or tempfile.gettempdir(), "sdk")
    parent.mkdir(parents=True, exist_ok=True)
    status = path.stat()
    known = [str(path.resolve()), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    note = parent / "known" / hashlib.sha256(repr(known).encode()).hexdigest()[:32]
    try:
        return _unpacked(parent, note.read_text())
    except (OSError, DescriptionError):
        identity = _hash(path)
    try:
        found = _unpacked(parent, identity)
    except (OSError, DescriptionError):
        forget_older(parent, _KEPT)
        shutil.rmtree(parent / identity, ignore_errors=True)  # of another version, or damaged
        _unpack(path, parent / identity)
        found = _unpacked(parent, identity)
    write_whole(note, identity.encode())
    return found


def _unpacked(parent: Path, identity: str) -> Sdk:
    folder = parent / identity
    mark_used(folder)  # a build takes some time
    return Sdk(Description.read((folder / MEMBER).read_bytes()), folder, identity)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            digest.update(part)
    return digest.hexdigest()


def _unpack(path: Path, folder: Path) -> None:
    """Into a folder beside it first, which takes its place when all is as the description has it."""
    with (
        tempfile.TemporaryDirectory(prefix=".unpack-", dir=folder.parent) as scratch,
        path.open("rb") as file,
    ):
        work = Path(scratch, "sdk")
        work.mkdir()
        try:
            with tarfile.open(fileobj=file, mode="r|gz") as tar:
                _unpack_members(tar, work)
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ArchiveError(f"it is damaged ({error})") from error
        try:
            work.rename(folder)
        except OSError:
            if not (folder / MEMBER).is_file():  # else another command was faster
                raise


def _unpack_members(tar: tarfile.TarFile, work: Path) -> None:
    description = _first(tar)
    files = dict(description.files)
    if len(files) > _MOST_FILES or sum(each.size for each in files.values()) > _MOST_BYTES:
        raise ArchiveError("it has more files, or larger ones, than an SDK can have")
    while (member := tar.next()) is not None:
        expected = files.pop(member.name, None)
        if expected is None or not member.isreg():
            raise ArchiveError(
                f"it has a member {member.name!r} that its description does not name, or not a plain file"
            )
        if member.size != expected.size or member.size > _LARGEST:
            raise ArchiveError(f"{member.name} does not have the size in its description")
        data = _content(tar, member)
        if hashlib.sha256(data).hexdigest() != expected.sha256:
            raise ArchiveError(f"{member.name} does not have the SHA-256 in its description")
        place = work / member.name
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as made:  # only plain files are made: no link is on the way
            made.write(data)
    if files:
        raise ArchiveError(f"{next(iter(files))} is missing")
    write_whole(work / MEMBER, description.write())
