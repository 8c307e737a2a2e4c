# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Scripts that complete the `camkes` command in a shell, made from the argument parser itself."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct


class Option(Struct, frozen=True):
    words: tuple[str, ...]
    choices: tuple[str, ...]
    takes_value: bool
    help: str


class CommandCompletion(Struct, frozen=True):
    name: str
    help: str
    options: tuple[Option, ...]
    values: tuple[str, ...]  # of the positional argument, where only some words are right


def commands(parser: argparse.ArgumentParser, values: Mapping[str, Sequence[str]]) -> list[CommandCompletion]:
    """The sub-commands of `parser` with their options. `values` are words that are not in it."""
    found = []
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, sub in action.choices.items():
            options = tuple(
                Option(tuple(a.option_strings), choices(a), a.nargs != 0, a.help or "")
                for a in sub._actions
                if a.option_strings
            )
            known = tuple(v for a in sub._actions if not a.option_strings for v in choices(a))
            found.append(
                CommandCompletion(name, helps.get(name, ""), options, (*known, *values.get(name, ())))
            )
    return found


def choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(choice) for choice in action.choices or ())


def script(shell: str, parser: argparse.ArgumentParser, values: Mapping[str, Sequence[str]]) -> str:
    """The completion script for bash, zsh or fish. `values` are words that can follow a command."""
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell](commands(parser, values))


def bash(found: list[CommandCompletion]) -> str:
    """Names of files, which may have spaces, are separated by line ends. `--format=json` is three words."""
    lines = [
        "_camkes() {",
        "    local IFS=$'\\n' words='' at=$COMP_CWORD",
        '    local word="${COMP_WORDS[at]}" command="${COMP_WORDS[1]}"',
        '    if [ "$word" = = ]; then word=; elif [ "${COMP_WORDS[at-1]}" = = ]; then at=$((at - 1)); fi',
        '    case "$COMP_CWORD $command ${COMP_WORDS[at-1]} $word" in',
        f"        '1 '*' -'*) words={listed(['--help', '--version'])} ;;",
        f"        '1 '*) words={listed(c.name for c in found)} ;;",
    ]
    for command in found:
        for option in command.options:
            for word in option.words if option.choices else ():
                lines.append(f"        *' {command.name} {word} '*) words={listed(option.choices)} ;;")
        options = listed(w for o in command.options for w in o.words)
        lines.append(f"        *' {command.name} '*' -'*) words={options} ;;")
        if command.values:
            lines.append(f"        *' {command.name} '*) words={listed(command.values)} ;;")
    lines += [
        "    esac",
        '    if [ "$words" ]; then words="$(compgen -W "$words" -- "$word")"',
        '    else words="$(compgen -f -- "$word")"; fi',
        "    COMPREPLY=($words)",
        "}",
        "complete -o filenames -F _camkes camkes",
        "",
    ]
    return "\n".join(lines)


def listed(words: Iterable[str]) -> str:
    """Words for `compgen`, a line each."""
    return "$'" + "\\n".join(words) + "'"


def zsh(found: list[CommandCompletion]) -> str:
    lines = ["#compdef camkes", "_camkes() {", "    local -a commands=("]
    lines += [f"        {quote(f'{c.name}:{c.help}')}" for c in found]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
        "    case $words[2] in",
    ]
    for command in found:
        specs = []
        for option in command.options:
            value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files"
            text = option.help.replace("[", "(").replace("]", ")").replace(":", " -")
            if not option.takes_value:
                value = ""
            specs += [quote(f"{zsh_option(w) if value else w}[{text}]{value}") for w in option.words]
        rest = f":argument:({' '.join(command.values)})" if command.values else ":path:_files"
        lines.append(f"    {command.name}) _arguments {' '.join([*specs, quote('*' + rest)])} ;;")
    # as a file of `fpath` it is called, else it is sourced
    called = 'if [ "$funcstack[1]" = _camkes ]; then _camkes "$@"; else compdef _camkes camkes; fi'
    lines += ["    esac", "}", called, ""]
    return "\n".join(lines)


def fish(found: list[CommandCompletion]) -> str:
    lines = []
    for command in found:
        lines.append(
            f"complete -c camkes -n __fish_use_subcommand -f -a {command.name} -d {quote(command.help)}"
        )
        when = f"-n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = " ".join(map(fish_option, option.words))
            value = f" -x -a {quote(' '.join(option.choices))}" if option.choices else ""
            value = value or (" -r" if option.takes_value else "")
            lines.append(f"complete -c camkes {when} {names}{value} -d {quote(option.help)}")
        if command.values:
            lines.append(f"complete -c camkes {when} -f -a {quote(' '.join(command.values))}")
    return "\n".join(lines) + "\n"


def zsh_option(word: str) -> str:
    """An option whose value may be in the same word."""
    if word.startswith("--"):
        return f"{word}="
    return f"{word}+" if len(word) == 2 else word


def fish_option(word: str) -> str:
    """How fish names an option: long, short, or long with one dash."""
    if word.startswith("--"):
        return f"-l {word[2:]}"
    return f"-s {word[1:]}" if len(word) == 2 else f"-o {word[1:]}"


def quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
