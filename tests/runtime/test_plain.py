"""A command that needs no shell does what it would do in one."""

import subprocess

import pytest
from hypothesis import given, strategies as st

from pygent.runtime import Runtime
from pygent.runtime.plain import plain_words

SHELL = ["/bin/bash", "-c"]


@pytest.fixture
def rt(tmp_path):
    with Runtime(sandbox="local", workspace=tmp_path) as runtime:
        (tmp_path / "a.txt").write_text("one\n")
        (tmp_path / "bare.sh").write_text("echo bare $1\n")
        (tmp_path / "bare.sh").chmod(0o755)
        (tmp_path / "no.sh").write_text("echo no\n")
        yield runtime


@pytest.mark.parametrize(
    "command",
    [
        "true", "false", "true --help", "ls", "ls -a", "cat a.txt", "cat  a.txt   a.txt", "pwd",
        "echo -e a", "no-such-program", "no-such-program x", "./bare.sh x", "./no.sh", "./", ".",
        "env --version", "printf x", "cd /", "exit 3", "test -e a.txt", "ls --color=never", "/bin/ls",
        "sh ./bare.sh y", "kill -0 1", "time true", "printenv PWD",
    ],
)  # fmt: skip
def test_it_does_what_the_shell_does(rt, command):
    """The same output and the same exit code as `bash -c`."""
    done = subprocess.run(
        [*SHELL, command], cwd=rt.base_dir, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    result = rt.run(command)
    assert result.exit_code == done.returncode
    if command != "time true":
        assert result.output == done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    ["a b=c", "--x=y", "a.b/c:d@e%f+g,h-i", "python3 -m pytest -q tests/test_x.py"],
)
def test_words_are_split_at_blanks(command):
    """What is plain is its words."""
    expected = None if command.startswith("b=") else command.split()
    assert plain_words(command) == (None if "=" in command.split()[0] else expected)


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_whatever_a_shell_would_look_at_is_left_to_it(command):
    """A command with any character that means something to a shell is not plain."""
    words = plain_words(command)
    if words is not None:
        assert not set(command) & set("\"'\\$`*?[]{}()<>|&;#~!\n\t\r")
        assert "=" not in words[0]
        listed = subprocess.run(
            ["/bin/bash", "-c", f"type -t {words[0]}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        assert listed not in ("builtin", "keyword") or words in (["true"], ["false"])


def test_every_builtin_is_known():
    """What bash does itself is done by bash, whatever its version has."""
    listed = subprocess.run(
        ["/bin/bash", "-c", "compgen -b; compgen -k"], capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split():
        assert plain_words(name) is None or name in ("true", "false")
