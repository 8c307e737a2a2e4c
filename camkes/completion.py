# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Scripts that complete the `camkes` command in a shell, made from the argument parser itself."""

from __future__ import annotations

import argparse

from camkes.records import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    words: tuple[str, ...]
    choices: tuple[str, ...]
    takes_value: bool
    help: str


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    help: str
    options: tuple[Option, ...]
    values: tuple[str, ...]  # of the positional argument, where only some words are right


def commands(parser: argparse.ArgumentParser) -> list[Command]:
    """The sub-commands of `parser` with their options."""
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
            values = tuple(v for a in sub._actions if not a.option_strings for v in choices(a))
            found.append(Command(name, helps.get(name, ""), options, values))
    return found


def choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(str(choice) for choice in action.choices or ())


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The completion script for bash, zsh or fish."""
    return {"bash": bash, "zsh": zsh, "fish": fish}[shell](commands(parser))


def bash(found: list[Command]) -> str:
    names = " ".join(c.name for c in found)
    lines = [
        "_camkes() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W "{names}" -- "$word"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $before" in',
    ]
    for command in found:
        for option in command.options:
            for word in option.words if option.choices else ():
                values = " ".join(option.choices)
                lines.append(
                    f'    "{command.name} {word}") COMPREPLY=($(compgen -W "{values}" -- "$word")); return ;;'
                )
    lines += ["    esac", '    case "${COMP_WORDS[1]}" in']
    for command in found:
        words = " ".join([w for o in command.options for w in o.words] + list(command.values))
        lines.append(f'    {command.name}) COMPREPLY=($(compgen -f -W "{words}" -- "$word")) ;;')
    lines += ["    esac", "}", "complete -o filenames -F _camkes camkes", ""]
    return "\n".join(lines)


def zsh(found: list[Command]) -> str:
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
            specs += [quote(f"{w}[{text}]{value if option.takes_value else ''}") for w in option.words]
        rest = f":argument:({' '.join(command.values)})" if command.values else ":path:_files"
        lines.append(f"    {command.name}) _arguments {' '.join([*specs, quote('*' + rest)])} ;;")
    lines += ["    esac", "}", "compdef _camkes camkes", ""]
    return "\n".join(lines)


def fish(found: list[Command]) -> str:
    lines = []
    for command in found:
        lines.append(
            f"complete -c camkes -n __fish_use_subcommand -f -a {command.name} -d {quote(command.help)}"
        )
        when = f"-n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = " ".join(f"-l {w[2:]}" if w.startswith("--") else f"-s {w[1:]}" for w in option.words)
            value = f" -x -a {quote(' '.join(option.choices))}" if option.choices else ""
            value = value or (" -r" if option.takes_value else "")
            lines.append(f"complete -c camkes {when} {names}{value} -d {quote(option.help)}")
        if command.values:
            lines.append(f"complete -c camkes {when} -f -a {quote(' '.join(command.values))}")
    return "\n".join(lines) + "\n"


def quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
