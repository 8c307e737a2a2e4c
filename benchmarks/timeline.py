# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How soon the page of a timeline with 1.5 million records is drawn, beside that of an earlier commit.

    .venv/bin/python benchmarks/timeline.py [--beside COMMIT] [--rounds N]

Needs Chromium. The time is from the begin of the navigation until the layout of what was drawn is known: the
least of some rounds, in turns.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from run_report import CAMKES, write_system

ROOT = Path(__file__).resolve().parents[1]
RECORD = 30  # bytes, on average, of this system
END = """<script>
document.body.getBoundingClientRect();
document.title = `drawn after ${Math.round(performance.now())} ms`;
document.body.innerHTML = document.title;
</script></body>"""


def page(system: Path, folder: Path, commit: str | None) -> Path:
    """The page that this tree, or that of a commit, makes of a run."""
    command = [str(CAMKES)]
    if commit is not None:
        tree = folder / commit
        tree.mkdir()
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
        subprocess.run([sys.executable, "-m", "camkes.parser.tables"], cwd=tree, check=True)
        command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tree)!r})\n"
                   "from camkes.cli.main import main; sys.exit(main())"]  # fmt: skip
    out = folder / f"{commit or 'now'}.html"
    words = ["run", str(system), "-o", str(folder / f"out-{commit or 'now'}"), "--for", "135s", "--quiet"]
    words += ["--record-limit", "1G", "--timeline", str(out)]
    subprocess.run([*command, *words], stdout=subprocess.DEVNULL, check=True)
    trace = folder / f"out-{commit or 'now'}" / "host-image" / "run.trace"
    records = trace.stat().st_size / RECORD / 1e6
    print(f"{out.name}: about {records:.1f} million records, {out.stat().st_size:,} bytes")
    return out


def drawn(browser: str, file: Path, folder: Path) -> int:
    measured = folder / "measured.html"
    measured.write_text(file.read_text().replace("</body>", END))
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    words += ["--window-size=1600,1200", "--dump-dom", measured.as_uri()]
    done = subprocess.run([browser, *words], capture_output=True, text=True, timeout=300, check=True)
    found = re.search(r"<body>drawn after (\d+) ms", done.stdout)
    assert found is not None, done.stdout[-300:]
    return int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("no Chromium is installed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        system = write_system(folder)
        commits = [None, *([arguments.beside] if arguments.beside else [])]
        pages = [page(system, folder, commit) for commit in commits]
        times: dict[Path, list[int]] = {file: [] for file in pages}
        for _ in range(arguments.rounds):
            for file in pages:
                times[file].append(drawn(browser, file, folder))
    for file, found in times.items():
        print(f"{file.stem:12} drawn after {min(found):5} ms ({', '.join(map(str, found))})")


if __name__ == "__main__":
    main()
