# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Public CAmkES files get the verdict that the original tool gives them.

Set CAMKES_CORPUS to a folder with the repositories (`camkes-tool`, `camkes`, `global-components`, ...) and
CAMKES_CORPUS_VERDICTS to a table "repository <tab> path <tab> verdict"; CAMKES_CORPUS_DTB may name a folder
of device trees (`sabre.dtb`, ...) for files that ask one.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes.diagnostics import Severity, Sink
from camkes.resolve import LoadOptions, codes, load

CORPUS = os.environ.get("CAMKES_CORPUS")
VERDICTS = os.environ.get("CAMKES_CORPUS_VERDICTS")
TREES = os.environ.get("CAMKES_CORPUS_DTB")

#: The platform folders of a platform, most special first.
PLATFORMS = {
    "x86_64": ("pc99", "x86"),
    "sabre": ("imx6", "arm_common", "arm", "sabre"),
    "exynos5422": ("exynos5", "arm_common", "arm"),
    "qemu-arm-virt": ("qemu-arm-virt", "arm_common", "arm"),
}

#: Macros that the build of an application gives.
DEFINES = ("-DCAMKES_TOOL_PROCESSING", '-DPICOSERVER_IP_ADDR="10.0.0.2"')

#: Headers of repositories that are not part of the corpus.
ELSEWHERE = ("rumprun_camkes.h",)


def rows() -> Iterator[tuple[Path, str]]:
    if not CORPUS or not VERDICTS:
        return
    for line in Path(VERDICTS).read_text(encoding="utf-8").splitlines():
        repository, path, verdict = line.split("\t")
        file = Path(CORPUS) / repository / path
        if verdict.startswith(("ACCEPT", "REJECT", "FRAGMENT")) and file.exists():
            yield file, verdict


def options(file: Path, verdict: str) -> LoadOptions:
    """The options that the build of an application gives, as far as they can be guessed."""
    assert CORPUS is not None
    corpus = Path(CORPUS)
    match = re.search(r"platform (\S+?)\)", verdict)
    platform = match[1] if match else "tx2" if "tx2" in str(file) else "x86_64"
    platforms = PLATFORMS.get(platform, (platform, "arm_common", "arm"))
    components = corpus / "global-components"
    standard = corpus / "camkes-tool" / "components"
    parts = file.relative_to(corpus).parts
    application = corpus.joinpath(*parts[:3]) if parts[1] == "apps" else file.parent
    below = [p for p in sorted(application.rglob("*")) if p.is_dir()]
    plat = [components / "plat_components" / p for p in platforms]
    plat += [standard, *(standard / kind / p for p in platforms for kind in ("plat", "arch"))]
    plat.append(standard / "plat/pc99/plat/components/serial_com1")
    include = [p for p in sorted(components.rglob("*include")) if p.is_dir()]
    include += [q for p in include for name in platforms if (q := p / "plat" / name).is_dir()]
    plat += [p for p in include if p.name == "camkes-include"]
    tree = Path(TREES) / f"{platform}.dtb" if TREES else None
    return LoadOptions(
        import_path=(*(components / n for n in ("", "interfaces", "components")), *plat, application, *below),
        cpp_flags=(*DEFINES, "-DKernelArchX86" if platform == "x86_64" else "-DKernelArchArm"),
        include_path=(application, *below, *include),
        allow_forward_references="multiassembly" in str(file),
        dtb=tree if tree and tree.exists() else None,
    )


@pytest.mark.skipif(not (CORPUS and VERDICTS), reason="CAMKES_CORPUS and CAMKES_CORPUS_VERDICTS are not set")
def test_corpus() -> None:
    wrong, right, elsewhere = [], 0, 0
    for file, verdict in rows():
        sink = Sink()
        load(file, options(file, verdict), sink)
        errors = [d for d in sink.diagnostics if d.severity is Severity.ERROR]
        if any(name in d.message for d in errors for name in ELSEWHERE):
            elsewhere += 1
        elif agrees(verdict, [d.code.number for d in errors]):
            right += 1
        else:
            wrong.append(f"{file}: {verdict[:60]}: {errors[0].message if errors else 'accepted'}")
    print(f"\n{right} of {right + len(wrong)} as the original; {elsewhere} need files from elsewhere")
    assert not wrong, "\n".join(wrong)


def agrees(verdict: str, errors: list[str]) -> bool:
    if verdict.startswith("ACCEPT all"):
        return not errors
    if verdict.startswith("REJECT"):
        return bool(errors)
    if "stage4" in verdict or "needs IOPort" in verdict:  # a part that counts on what is imported before it
        return codes.UNKNOWN_NAME.number in errors
    return codes.NO_ASSEMBLY.number in errors or codes.NO_INSTANCES.number in errors
