"""Completions: what bash offers, and that every option of --help is offered."""
from common import NESTOR, SOURCE, main, run, write
import os
import re
import subprocess

BASH = os.path.join(SOURCE, "cli/completions/nestor.bash")
ZSH = os.path.join(SOURCE, "cli/completions/_nestor")


def offers(*words):
    """The words that bash offers for the last of `words`."""
    line = " ".join(f"'{w}'" for w in words)
    script = (f". {BASH}; compopt() {{ :; }}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMPREPLY=(); _nestor; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.split()


def test_commands():
    assert "simulate" in offers("nestor", "s")
    assert offers("nestor", "ev") == ["eval"]
    assert "explain" in offers("nestor", "help", "")


def test_values():
    assert offers("nestor", "eval", "--format", "") == ["table", "json", "csv"]
    assert offers("nestor", "test", "--format", "") == ["table", "json"]
    assert offers("nestor", "eval", "--engine", "a") == ["analysis", "all"]
    assert offers("nestor", "emit", "") == ["ast", "ir", "expr", "llvm"]
    assert offers("nestor", "grammar", "--format", "") == ["ebnf", "gbnf", "lark"]
    assert offers("nestor", "eval", "gemm.nest", "--mapping", "") == ["os"]


def test_parameters():
    assert offers("nestor", "eval", "gemm.nest", "--set", "") == ["tk=", "tm=", "tn="]
    assert offers("nestor", "eval", "gemm.nest", "-s", "tm") == ["tm="]
    assert offers("nestor", "eval", "--set", "") == []


def test_bench():
    """The benchmark's words come from the command itself, and there are none where it is not built."""
    overview = run("bench", "--help")
    if overview.code:
        return
    commands = re.findall(r"^  ([a-z]+) ", overview.out, re.M)
    assert offers(NESTOR, "bench", "") == commands and "gen" in commands
    for command in commands:
        options = re.findall(r"^  [- ].[, ] (--[a-z-]+)", run("bench", command, "--help").out, re.M)
        assert options and offers(NESTOR, "bench", command, "--") == options, command
    assert offers(NESTOR, "bench", "gen", "gem") == ["gemm.nest"]


def test_files():
    write("notes.txt", "")
    os.mkdir("lib")
    assert sorted(offers("nestor", "eval", "")) == ["gemm.nest", "lib/"]


def test_every_option():
    with open(ZSH) as f:
        zsh = f.read()
    for command in ["check", "fmt", "eval", "simulate", "test", "explain", "emit", "grammar", "sweep", "merge"]:
        options = set(re.findall(r"^  [- ].[, ] (--[a-z-]+)", run(command, "--help").out, re.M))
        offered = set(offers("nestor", command, "--"))
        assert options == offered, (command, options ^ offered)
        for option in options:
            assert option in zsh, option


def test_zsh_parses():
    try:
        done = subprocess.run(["zsh", "-n", ZSH], capture_output=True)
    except FileNotFoundError:
        return
    assert done.returncode == 0, done


main(globals())
