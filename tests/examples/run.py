#!/usr/bin/env python3
"""Evaluates every example and every file of the standard library and compares the numbers.

    run.py --nestor BUILD/bin/nestor [--update] [--no-jit] [FILE.nest ...]

For each program: it is accepted without warnings, is laid out as `nestor fmt` would, its tests pass, and what
`nestor test`, `nestor eval` and `nestor sweep` print is what golden/PATH.out holds. Compiled code gives the same
bytes as the analysis; without it sweeps are left out. --update rewrites golden/.
"""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
ENV = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8", COLUMNS="100")


def nestor(program, *args):
    p = subprocess.run([program, *args], cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=300)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def run_file(program, path, update, jit):
    name = str(path.relative_to(ROOT))
    text = path.read_text(encoding="utf-8")
    problems = []
    code, out, err = nestor(program, "check", name)
    if code or err:
        return [f"{name}: not accepted without a message\n{err}"]
    code, out, err = nestor(program, "fmt", "--check", name)
    if code:
        problems.append(f"{name}: not laid out as `nestor fmt` does it\n{out}{err}")
    parts = []
    if "\ntest " in text or "\nverify " in text:
        code, out, err = nestor(program, "test", name)
        if code or err:
            problems.append(f"{name}: `nestor test` fails\n{out}{err}")
        parts.append(f"$ nestor test {name}\n{out}")
    if "\nmapping " in text:
        code, out, err = nestor(program, "eval", "--format", "csv", name)
        if "\nsweep " in text and err.count("warning[") == err.count("warning[W0950]"):
            err = ""  # what a sweep starts from need not fit
        if code or err:
            problems.append(f"{name}: `nestor eval` has a message\n{err}")
        parts.append(f"$ nestor eval --format csv {name}\n{out}")
        if jit:
            code, compiled, err = nestor(program, "eval", "--format", "csv", "--engine", "jit", name)
            if code or compiled != out:
                problems.append(f"{name}: compiled code gives something else\n{err}")
    if "\nsweep " in text and jit:
        code, out, err = nestor(program, "sweep", "-q", "--format", "csv", name)
        if code or err:
            problems.append(f"{name}: `nestor sweep` has a message\n{err}")
        parts.append(f"$ nestor sweep -q --format csv {name}\n{out}")
    elif "\nsweep " in text:
        parts = []  # half of what the golden file holds
    if parts:
        golden = GOLDEN / (name.removesuffix(".nest") + ".out")
        new = "\n".join(parts)
        old = golden.read_text(encoding="utf-8") if golden.exists() else ""
        if new != old:
            if update:
                golden.parent.mkdir(parents=True, exist_ok=True)
                golden.write_text(new, encoding="utf-8")
                print(f"{golden.relative_to(ROOT)}: rewritten")
            else:
                diff = difflib.unified_diff(old.split("\n"), new.split("\n"), "golden", "now", lineterm="", n=1)
                problems.append(f"{name}: other numbers\n" + "\n".join(diff))
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nestor", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--no-jit", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    program = str(args.nestor.resolve())
    files = [f.resolve() for f in args.files] or sorted(
        [*(ROOT / "examples").rglob("*.nest"), *(ROOT / "stdlib").rglob("*.nest")])
    bad = 0
    for path in files:
        problems = run_file(program, path, args.update, not args.no_jit)
        bad += bool(problems)
        for problem in problems:
            print(problem, file=sys.stderr)
    print(f"{len(files)} programs, {bad} with problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
