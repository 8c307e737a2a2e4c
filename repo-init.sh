#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# Makes a CAmkES workspace for seL4 with this repository as its camkes-tool. Safe to run again.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=${0##*/}

usage() {
    cat <<EOF
usage: $name [-m MANIFEST] [-u URL] [-b BRANCH] [-c] [DIR]

Makes (or brings up to date) a CAmkES workspace in DIR (default: camkes-workspace).

  -m MANIFEST  manifest file of the repository (default: manifest.xml)
  -u URL       where this repository is fetched from (default: its remote "origin", else this checkout)
  -b BRANCH    branch, tag or commit of this repository (default: the one checked out)
  -c           only check that the host has what a build needs
  -h           this text
EOF
}

say() { printf '%s: %s\n' "$name" "$*"; }
complain() { printf '%s: %s\n' "$name" "$*" >&2; }

manifest=manifest.xml
url=
branch=
check_only=false
while getopts m:u:b:ch option; do
    case $option in
        m) manifest=$OPTARG ;;
        u) url=$OPTARG ;;
        b) branch=$OPTARG ;;
        c) check_only=true ;;
        h) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -gt 1 ]; then
    usage >&2
    exit 2
fi
workspace=${1:-camkes-workspace}

# --- the host ---------------------------------------------------------------

# what a build calls, and the Debian or Ubuntu package that brings it
required=(git:git repo:repo python3:python3 cmake:cmake ninja:ninja-build gcc:gcc g++:g++ cpp:cpp
    cpio:cpio xmllint:libxml2-utils dtc:device-tree-compiler)
# what only some builds call, the package, and what for
optional=("qemu-system-x86_64:qemu-system-x86:to boot x86_64 images"
    "qemu-system-aarch64:qemu-system-arm:to configure and boot qemu-arm-virt"
    "aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu:to build for aarch64"
    "aarch64-linux-gnu-g++:g++-aarch64-linux-gnu:to build for aarch64"
    "ccache:ccache:to build again faster")
# modules of Python that the kernel's and capDL's scripts import, and the packages that bring them
modules=(yaml:pyyaml jinja2:jinja2 lxml:lxml ply:ply jsonschema:jsonschema pyfdt:pyfdt
    elftools:pyelftools six:six future:future sortedcontainers:sortedcontainers lark:lark)

present() { command -v "$1" >/dev/null 2>&1; }

check_host() {
    local item command package why missing=() packages=() status=0
    for item in "${required[@]}"; do
        IFS=: read -r command package <<<"$item"
        present "$command" && continue
        missing+=("$command")
        packages+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        complain "this host lacks: ${missing[*]}"
        complain "install with:    sudo apt-get install ${packages[*]}"
        status=1
    fi

    for item in "${optional[@]}"; do
        IFS=: read -r command package why <<<"$item"
        present "$command" || complain "not found, only needed $why: $command (sudo apt-get install $package)"
    done
    if ! present stack && ! present parse-capDL; then
        complain "not found, an image needs one: parse-capDL (capDL-tool), or stack to build it" \
            "(sudo apt-get install haskell-stack)"
    fi

    packages=()
    if present python3; then
        for item in "${modules[@]}"; do
            python3 -c "import ${item%%:*}" >/dev/null 2>&1 || packages+=("${item#*:}")
        done
    fi
    if [ ${#packages[@]} -gt 0 ]; then
        complain "python3 lacks modules that a build imports; in a virtual environment:"
        complain "                 python3 -m pip install ${packages[*]}"
    fi
    return $status
}

check_host || exit 1
if $check_only; then
    say "this host has what a build needs"
    exit 0
fi

# --- where this repository comes from -----------------------------------------

if [ -z "$url" ]; then
    url=$(git -C "$here" remote get-url origin 2>/dev/null || printf 'file://%s' "$here")
fi
url=${url%/}
if [ -z "$branch" ]; then
    branch=$(git -C "$here" symbolic-ref --short -q HEAD || git -C "$here" rev-parse HEAD)
fi
if [ ! -f "$here/$manifest" ]; then
    complain "there is no manifest '$manifest' in $here"
    exit 2
fi

# --- the workspace ------------------------------------------------------------

mkdir -p "$workspace"
cd "$workspace"
say "workspace $PWD, camkes-rt from $url ($branch)"

if ! repo init -q -u "$url" -b "$branch" -m "$manifest"; then
    complain "could not reach $url, or it has no '$manifest' at $branch; nothing was changed"
    exit 1
fi

# The manifest calls this repository camkes-rt and takes its branch main. A fork or a branch may differ.
own=$(basename "$url" .git)
override=.repo/local_manifests/camkes-rt.xml
rm -f "$override"
if [ "$own" != camkes-rt ] || [ "$branch" != main ]; then
    mkdir -p "${override%/*}"
    cat >"$override" <<EOF
<manifest>
    <remove-project name="camkes-rt"/>
    <project remote="self" revision="$branch" name="$own" path="projects/camkes-tool">
        <linkfile src="docs/sel4.md" dest="README.md"/>
    </project>
</manifest>
EOF
fi

synced=true
repo sync --no-clone-bundle || synced=false

# --- what is there now ----------------------------------------------------------

# Lists what is missing and why; status 1 if more is than single applications or platforms ask for.
missing=$(GIT_TERMINAL_PROMPT=0 python3 - "$here/$manifest" <<'EOF'
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

root = ElementTree.parse(sys.argv[1]).getroot()
fetch = {remote.get("name"): remote.get("fetch") for remote in root.iter("remote")}
default = root.find("default").get("remote")
status = 0
for project in root.iter("project"):
    path, groups = project.get("path"), project.get("groups")
    if Path(path, ".git").exists():
        continue
    url = f"{fetch[project.get('remote', default)]}/{project.get('name')}"
    reached = subprocess.run(["git", "ls-remote", "-q", url, "HEAD"], capture_output=True).returncode == 0
    why = f"did not get revision {project.get('revision')} from" if reached else "could not reach"
    only = f" (only needed for: {groups})" if groups else ""
    print(f"    {path}: {why} {url}{only}")
    status = status if groups else 1
sys.exit(status)
EOF
) && needed=false || needed=true
if [ -n "$missing" ]; then
    complain "not there:"
    printf '%s\n' "$missing" >&2
fi
if $needed || { [ -z "$missing" ] && ! $synced; }; then
    [ -n "$missing" ] || complain "repo could not bring everything up to date (see above)"
    complain "run this command again to continue where it stopped"
    exit 1
fi

cat <<EOF
$name: the workspace is ready. To build and boot an application:
    cd $PWD && mkdir build && cd build
    ../init-build.sh -DCAMKES_APP=adder -DPLATFORM=x86_64 -DSIMULATION=1 && ninja && ./simulate
EOF
