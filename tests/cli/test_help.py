"""`--help` of every command: what it does, every option and what it means, and an example that is a command line."""

import re
import shlex

import pytest
import typer.main

from metapn.cli import app


def commands(group, path=()):
    """Every command with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.fixture
def wide(monkeypatch):
    """A terminal so wide that no line is broken."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("TERMINAL_WIDTH", "400")


def example(words):
    """The example in a command's help, as arguments after ``metapn``."""
    text = re.sub(r"\[/?bold\]", "", COMMANDS[words].help)
    return shlex.split(re.search(r"Examples?: metapn (.+)", " ".join(text.split()))[1])


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_is_in_the_help_and_says_what_it_does(metapn, wide, words):
    code, out, err = metapn(*words, "--help")
    assert (code, err) == (0, "")
    for option in COMMANDS[words].params:
        if option.param_type_name == "option":
            assert option.help, f"{option.name} says nothing"
            assert all(re.search(rf"{re.escape(name)}\b", out) for name in option.opts), option.opts
        else:
            assert option.name in out.lower()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_example_is_a_command_line_that_the_command_understands(words):
    given = example(words)
    assert tuple(given[: len(words)]) == words
    parser = COMMANDS[words].make_parser(COMMANDS[words].context_class(COMMANDS[words]))
    parser.parse_args(given[len(words) :])  # an option that is not there is an error


def test_the_list_of_commands_is_complete(metapn, wide):
    _, out, _ = metapn("--help")
    assert all(re.search(rf"\b{words[0]}\b", out) for words in COMMANDS)
