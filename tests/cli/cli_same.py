"""The same input gives the same bytes: again, in any locale, and beside fifteen other runs."""
from common import NESTOR, SAMPLE, SOURCE, expect, main, run, write
import json
import os
import subprocess

COMMANDS = [("eval",), ("eval", "--format", "json"), ("eval", "--format", "csv"), ("test",), ("explain",), ("fmt",),
            ("emit", "ir"), ("emit", "expr"), ("emit", "ast"), ("check",)]


def test_again():
    for command in COMMANDS:
        first = run(*command, "gemm.nest")
        expect(first, 0)
        for _ in range(3):
            again = run(*command, "gemm.nest")
            assert (again.out, again.err) == (first.out, first.err), command


def test_copy_of_a_file():
    write("copy.nest", SAMPLE)
    for command in COMMANDS[:3]:
        assert run(*command, "gemm.nest").out == run(*command, "copy.nest").out


def test_declaration_order_changes_nothing():
    write("other.nest", SAMPLE.replace("dim m = M, n = N, k = K", "dim k = K, z = 1, n = N, m = M")
          .replace("tensor A, B : int8, C : int32", "tensor C : int32, B, A : int8")
          .replace("C[m, n] +=", "C[m, n] += A[m, z + k] * B[k, n] #"))
    ours = json.loads(run("eval", "--format", "json", "gemm.nest").out)["results"][0]
    other = json.loads(run("eval", "--format", "json", "other.nest").out)["results"][0]
    assert ours["levels"] == other["levels"] and ours["metrics"] == other["metrics"], (ours, other)


def test_locales():
    """Compiles a locale with decimal commas where localedef is there; a program that never calls setlocale
    must not mind either way."""
    env = {"LC_ALL": "de_DE.UTF-8"}
    try:
        done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", "./de_DE.UTF-8"], capture_output=True)
        if done.returncode == 0:
            env["LOCPATH"] = os.getcwd()
    except FileNotFoundError:
        pass
    for command in COMMANDS:
        plain, german = run(*command, "gemm.nest", env={"LC_ALL": "C"}), run(*command, "gemm.nest", env=env)
        assert (plain.out, plain.err) == (german.out, german.err), command
    for utf8 in ["C", "C.UTF-8", "POSIX"]:
        assert run("eval", "gemm.nest", env={"LC_ALL": utf8}).out == run("eval", "gemm.nest").out


def test_numbers_round_trip():
    """Every number of the JSON output is what Python reads and writes again."""
    text = run("eval", "--format", "json", "gemm.nest").out
    data = json.loads(text, parse_constant=lambda c: (_ for _ in ()).throw(ValueError(c)))
    energy = data["results"][0]["metrics"]["energy_pj"]
    assert json.loads(json.dumps(energy)) == energy
    write("thirds.nest", SAMPLE.replace("bandwidth = 32 B/cycle", "bandwidth = 9.6 B/cycle").replace("0.5 pJ", "0.1 pJ"))
    data = json.loads(run("eval", "--format", "json", "thirds.nest").out)
    assert data["results"][0]["compute"]["energy_pj"] == 13421772.8


def test_sixteen_at_once():
    """In one folder, different inputs: each as alone."""
    tiles = [1, 2, 4, 8, 16, 32, 64, 128, 3, 5, 7, 9, 11, 13, 100, 511]
    names = [write(f"t{t}.nest", SAMPLE.replace("tm = 64", f"tm = {t}")) for t in tiles]
    alone = [run("eval", "--format", "json", name).out for name in names]
    running = [subprocess.Popen([NESTOR, "eval", "--format", "json", name, "-o", f"{name}.json"]) for name in names]
    assert all(p.wait() == 0 for p in running)
    for name, want in zip(names, alone):
        with open(f"{name}.json") as f:
            assert f.read() == want, name
    running = [subprocess.Popen([NESTOR, "eval", "--format", "json", names[i % 2], "-o", "same.json"]) for i in range(16)]
    assert all(p.wait() == 0 for p in running)
    with open("same.json") as f:
        assert f.read() in alone[:2], "a mixture of two runs"
    assert not [n for n in os.listdir(".") if n.endswith(".tmp")]


main(globals())
