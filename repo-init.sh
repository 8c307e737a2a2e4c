#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# Makes a CAmkES workspace for seL4 with this repository as its camkes-tool. Safe to run again. Needs git and what
# Debian 12 has packages of; not the tool `repo`.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=${0##*/}

usage() {
    cat <<EOF
usage: $name [-m MANIFEST] [-u URL] [-b BRANCH] [-g GROUP,...] [-p] [-c] [DIR]

Makes (or brings up to date) a CAmkES workspace in DIR (default: camkes-workspace).

  -m MANIFEST  manifest file of the repository (default: manifest.xml)
  -u URL       where this repository is fetched from (default: its remote "origin", else this checkout)
  -b BRANCH    branch, tag or commit of this repository (default: the one checked out)
  -g GROUP,... also projects of these groups: vm (virtual machines, with images of guests)
  -p           also builds parse-capDL with ghc, which only proofs and comparisons need
  -c           only check that the host has what a build needs
  -h           this text
EOF
}

say() { printf '%s: %s\n' "$name" "$*"; }
complain() { printf '%s: %s\n' "$name" "$*" >&2; }

manifest=manifest.xml
url=
branch=
check_only=false with_parse_capdl=false groups_wanted=""
while getopts m:u:b:g:pch option; do
    case $option in
        m) manifest=$OPTARG ;;
        u) url=$OPTARG ;;
        b) branch=$OPTARG ;;
        g) groups_wanted=$OPTARG ;;
        p) with_parse_capdl=true ;;
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

# programs that a build calls, with their Debian or Ubuntu packages
required=(git:git python3:python3 make:make cmake:cmake ninja:ninja-build gcc:gcc g++:g++ cpp:cpp
    cpio:cpio xmllint:libxml2-utils dtc:device-tree-compiler)
# programs that only some builds call, with their packages and purposes
optional=("qemu-system-x86_64:qemu-system-x86:to boot x86_64 images"
    "qemu-system-aarch64:qemu-system-arm:to configure and boot qemu-arm-virt"
    "aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu:to build for aarch64"
    "aarch64-linux-gnu-g++:g++-aarch64-linux-gnu:to build for aarch64"
    "ccache:ccache:to build again faster"
    "rsync:rsync:to build root file systems of guests"
    "mkimage:u-boot-tools:to make images for boards with U-Boot")
# packages of Python that scripts of the kernel, its build system and capDL import
python_packages=(pyyaml jinja2 lxml ply jsonschema pyfdt pyelftools six future sortedcontainers aenum libarchive-c)
# Haskell packages that capDL-tool imports beyond those that come with ghc, and Debian's packages of them
haskell=(base-compat:libghc-base-compat-dev lens:libghc-lens-dev MissingH:libghc-missingh-dev
    regex-compat:libghc-regex-compat-dev split:libghc-split-dev yaml:libghc-yaml-dev)
haskell_with_ghc=(array base containers filepath mtl parsec pretty unix)

present() { command -v "$1" >/dev/null 2>&1; }

# Prints what is missing, and one command that installs it; status 1 if a build requires any of it.
check_host() {
    local item command package why missing=() packages=() wished=()
    for item in "${required[@]}"; do
        IFS=: read -r command package <<<"$item"
        present "$command" && continue
        missing+=("$command")
        packages+=("$package")
    done
    if present python3 && ! python3 -c 'import ensurepip' >/dev/null 2>&1; then
        missing+=("venv of python3")
        packages+=(python3-venv)
    fi
    present python3 || packages+=(python3-venv)
    if $with_parse_capdl && ! present parse-capDL && ! present stack; then
        if ! present ghc; then
            missing+=("parse-capDL, or ghc to build it")
            packages+=(ghc)
        fi
        for item in "${haskell[@]}"; do
            IFS=: read -r command package <<<"$item"
            [ -n "$(ghc-pkg list --simple-output "$command" 2>/dev/null)" ] || packages+=("$package")
        done
    fi
    for item in "${optional[@]}"; do
        IFS=: read -r command package why <<<"$item"
        present "$command" && continue
        complain "not found, only needed $why: $command"
        wished+=("$package")
    done
    if [ ${#wished[@]} -gt 0 ]; then
        complain "for these:       sudo apt-get install ${wished[*]}"
    fi
    if [ ${#packages[@]} -gt 0 ]; then
        complain "this host lacks: ${missing[*]:-Haskell packages to build parse-capDL}"
        complain "install with:    sudo apt-get install ${packages[*]}"
        return 1
    fi
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
    # not those of a repository around an installation
    if [ ! -e "$here/.git" ]; then
        complain "$here is not a clone of camkes-rt: run $name in one, or name one with -u URL and -b BRANCH"
        exit 2
    fi
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

# Whether projects of these groups are checked out: all but those of "notdefault", and those that were asked for.
is_wanted() {
    local group
    case ",$1," in *,notdefault,*) ;; *) return 0 ;; esac
    for group in ${groups_wanted//,/ }; do
        case ",$1," in *,"$group",*) return 0 ;; esac
    done
    return 1
}

# A line for each project: path, where it is fetched from, revision, groups, links (each FILE>PLACE), by "|".
projects() {
    python3 - "$here/$manifest" "$url" "$branch" <<'EOF'
import sys
from xml.etree import ElementTree

manifest, own, branch = sys.argv[1:]
root = ElementTree.parse(manifest).getroot()
fetch = {remote.get("name"): remote.get("fetch") for remote in root.iter("remote")}
default = root.find("default").get("remote")
for project in root.iter("project"):
    remote = project.get("remote", default)
    # this repository is fetched from where it is, whatever it and its branch are called
    mine = remote == "self"
    url = own if mine else f"{fetch[remote]}/{project.get('name')}"
    links = [f"{link.get('src')}>{link.get('dest')}" for link in project.iter("linkfile")]
    revision = branch if mine else project.get("revision")
    print(project.get("path"), url, revision, project.get("groups") or "", " ".join(links), sep="|")
EOF
}

# Gets a revision, by itself if the server gives that, else with all branches, and sets `commit`. Status 2: the server
# was not reached.
fetch_revision() {
    local path=$1 url=$2 revision=$3
    if [[ $revision =~ ^[0-9a-f]{40}$ ]] && git -C "$path" cat-file -e "$revision^{commit}" 2>/dev/null; then
        commit=$revision
    elif git -C "$path" fetch -q --depth 1 origin "$revision" 2>/dev/null; then
        commit=$(git -C "$path" rev-parse "FETCH_HEAD^{commit}")
    else
        git ls-remote -q "$url" HEAD >/dev/null 2>&1 || return 2
        git -C "$path" fetch -q --tags origin '+refs/heads/*:refs/remotes/origin/*' || return
        commit=$(git -C "$path" rev-parse -q --verify "$revision^{commit}")
    fi
}

# Checks out one project at its revision; the reason of a failure is in `why`. The repository is outside its folder,
# which the build of the C library relies on.
checkout() {
    local path=$1 url=$2 revision=$3 status=0 commit=
    if [ -L "$path" ]; then
        complain "$path is a link: left as it is"
        return
    fi
    if [ ! -e "$path/.git" ] || { [ -d "$path/.git" ] && [ ! -L "$path/.git" ]; }; then
        mkdir -p ".git-dirs/${path%/*}" "$path"
        git -C "$path" init -q --separate-git-dir "$PWD/.git-dirs/$path.git"
    fi
    git -C "$path" config remote.origin.url "$url"
    fetch_revision "$path" "$url" "$revision" || status=$?
    case $status in
        0) ;;
        2) why="could not reach"; return 1 ;;
        *) why="did not get revision $revision from"; return 1 ;;
    esac
    [ "$(git -C "$path" rev-parse -q --verify HEAD)" != "$commit" ] || return 0
    if ! git -C "$path" -c advice.detachedHead=false checkout -q "$commit"; then
        why="has changes of its own in the way of revision $revision of"
        return 1
    fi
}

not_there=()
needed=false
while IFS='|' read -r path from revision groups links; do
    is_wanted "$groups" || continue
    say "$path"
    if ! checkout "$path" "$from" "$revision"; then
        not_there+=("    $path: $why $from${groups:+ (only needed for: $groups)}")
        [ -n "$groups" ] || needed=true
        continue
    fi
    for link in $links; do
        ln -sfn "$path/${link%>*}" "${link#*>}"
    done
done <<<"$(projects)"

if [ ${#not_there[@]} -gt 0 ]; then
    complain "not there:"
    printf '%s\n' "${not_there[@]}" >&2
fi
if $needed; then
    complain "run this command again to continue where it stopped"
    exit 1
fi

# --- what a build runs ----------------------------------------------------------

# capDL-tool, by ghc with Debian's libraries, if it is asked for and nothing else brings it. It is small: without
# optimisation.
capdl_tool() {
    local sources=projects/capdl/capDL-tool out=.capdl-tool revision item options=()
    if ! $with_parse_capdl || present parse-capDL || present stack; then
        return
    fi
    revision=$(git -C projects/capdl rev-parse HEAD)
    [ "$(cat $out/revision 2>/dev/null)" = "$revision" ] && return
    say "parse-capDL (ghc, some minutes)"
    for item in "${haskell_with_ghc[@]}" "${haskell[@]%%:*}"; do
        options+=(-package "$item")
    done
    mkdir -p $out/objects tools/bin
    if ! ghc --make -v0 -w -O0 -hide-all-packages "${options[@]}" -i$sources -outputdir $out/objects \
        -o tools/bin/parse-capDL $sources/Main.hs; then
        complain "parse-capDL could not be built (see above)"
        return 1
    fi
    printf '%s' "$revision" >$out/revision
}

# The tool's own environment, with what the scripts of a build import besides.
python_environment() {
    local python=projects/camkes-tool/.venv/bin/python
    say "Python environment (pip)"
    make -s -C projects/camkes-tool setup && $python -m pip install -q "${python_packages[@]}"
}

capdl_tool
if ! python_environment; then
    complain "the Python environment could not be made (see above); run this command again"
    exit 1
fi

cat <<EOF
$name: the workspace is ready. To build and boot an application:
    cd $PWD && . projects/camkes-tool/.venv/bin/activate && mkdir build && cd build
    ../init-build.sh -DCAMKES_APP=adder -DPLATFORM=x86_64 -DSIMULATION=1 && ninja && ./simulate
EOF
