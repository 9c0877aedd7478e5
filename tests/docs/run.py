#!/usr/bin/env python3
"""Runs every example of the documentation and compares what it prints.

    run.py --nestor BUILD/bin/nestor [--update] [FILE.md ...]

Blocks of a Markdown file, in order, share one empty directory:

    ```nest NAME.nest    written to NAME.nest
    ```c NAME.c          written to NAME.c
    ```nest              a whole program: `nestor check` must accept it
    ```nest mapping      items of a mapping, and likewise workload, hardware, test:
                         wrapped in the scaffold below, then as a whole program
    ```console           `$ command` lines, each with what it prints (both streams)

A block that is to show a mistake is a named file followed by a console block.
In commands `nestor` is the built one, and examples/ is the one of the repository. With --update the
console blocks are rewritten with what the commands print now.
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^`]*)$")
USES = "use std.workloads.gemm\nuse std.hardware.edge\n"
SCAFFOLD = {
    "workload": ("workload doc(M = 64, N = 64, K = 64, H = 32, W = 32, C = 8, stride = 2, pad = 1) {\n", "\n}\n"),
    "hardware": ("hardware doc {\n", "\n}\n"),
    "mapping": (USES + "mapping doc(tm = 64, tn = 64, tk = 32) of gemm(512, 512, 512) on edge {\n", "\n}\n"),
    "test": (USES + "mapping os(tm = 64, tn = 64, tk = 32) of gemm(512, 512, 512) on edge {\n"
             "  keep all in DRAM\n  for m by tm\n  for n by tn\n  for k by tk\n  keep all in GLB\n"
             "  par m on PE.y\n  par n on PE.x\n  keep all in RF\n  compute\n}\n"
             "test of os {\n", "\n}\n"),
}


class Block:
    def __init__(self, info, first, lines):
        self.info, self.first, self.lines = info, first, lines  # first: index of the line after the fence

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks_of(lines):
    out, i = [], 0
    while i < len(lines):
        m = FENCE.match(lines[i])
        if not m:
            i += 1
            continue
        j = i + 1
        while j < len(lines) and lines[j].strip() != m["ticks"]:
            j += 1
        if j == len(lines):
            raise SystemExit(f"line {i + 1}: this block is never closed")
        out.append(Block(m["info"].strip(), i + 1, lines[i + 1:j]))
        i = j + 1
    return out


def pkg_config_shim(directory, build):
    """A pkg-config that knows the library of this build: examples compile as against an installed one."""
    libs = sorted(build.rglob("libnestor.so"))
    flags = f"-I{ROOT}/include"
    if libs:
        flags += f" -L{libs[0].parent} -Wl,-rpath,{libs[0].parent} -lnestor"
    path = directory / "pkg-config"
    path.write_text(f'#!/bin/sh\necho "{flags}"\n')
    path.chmod(0o755)


def run(command, cwd, env):
    p = subprocess.run(["sh", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return p.returncode, p.stdout.decode("utf-8", "replace")


def run_file(path, nestor, update, skip):
    """Returns a list of failures; rewrites the file with --update."""
    lines = path.read_text(encoding="utf-8").split("\n")
    failures, replacements, ran = [], [], 0
    name = path.relative_to(ROOT)
    with tempfile.TemporaryDirectory(prefix="nestor-docs-") as tmp:
        work, tools = pathlib.Path(tmp) / "work", pathlib.Path(tmp) / "bin"
        work.mkdir()
        tools.mkdir()
        (tools / "nestor").symlink_to(nestor)
        pkg_config_shim(tools, nestor.parent.parent)
        (work / "examples").symlink_to(ROOT / "examples")
        env = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", NO_COLOR="1", LC_ALL="C.UTF-8", COLUMNS="100")
        for block in blocks_of(lines):
            where = f"{name}:{block.first}"
            words = block.info.split()
            if words[:1] in (["nest"], ["c"]) and len(words) == 2 and "." in words[1]:
                target = work / words[1]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, encoding="utf-8")
            elif words[:1] == ["nest"]:
                if len(words) > 2 or (len(words) == 2 and words[1] not in SCAFFOLD):
                    failures.append(f"{where}: unknown kind of block '{block.info}'")
                    continue
                before, after = SCAFFOLD[words[1]] if len(words) == 2 else ("", "")
                (work / "block.nest").write_text(before + block.text + after, encoding="utf-8")
                code, out = run("nestor check block.nest", work, env)
                ran += 1
                if code != 0:
                    failures.append(f"{where}: this example is not accepted\n{out}")
            elif words[:1] == ["console"]:
                if any(skip(l) for l in block.lines if l.startswith("$ ")):
                    continue
                new = []
                commands = 0
                for line in block.lines:
                    if line.startswith("$ "):
                        code, out = run(line[2:], work, env)
                        ran += 1
                        commands += 1
                        if code >= 128 or (code and update and path.name != "diagnostics.md"):
                            print(f"{where}: exit code {code}: {line}")
                        if code >= 128:
                            failures.append(f"{where}: ends by a signal: {line}")
                        new.append(line)
                        new.extend(l.rstrip() for l in out.rstrip("\n").split("\n")) if out.strip() else None
                    elif commands == 0:
                        failures.append(f"{where}: text before the first command")
                        break
                old = [l.rstrip() for l in block.lines]
                if new != old:
                    if update:
                        replacements.append((block.first, len(block.lines), new))
                    else:
                        diff = difflib.unified_diff(old, new, "documented", "printed", lineterm="", n=2)
                        failures.append(f"{where}: prints something else\n" + "\n".join(diff))
    for first, count, new in reversed(replacements):
        lines[first:first + count] = new
    if replacements:
        path.write_text("\n".join(lines), encoding="utf-8")
    return failures, ran, len(replacements)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nestor", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--no-cc", action="store_true", help="skip C programs (the library needs a sanitizer's runtime)")
    parser.add_argument("--no-jit", action="store_true", help="skip what needs compiled code")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()

    def skip(command):
        return (args.no_cc and command.startswith("$ cc ")) or (
            args.no_jit and re.search(r"--engine (all|jit)|--points|\./kernel", command) is not None)

    nestor = args.nestor.resolve()
    if not shutil.which(str(nestor)):
        raise SystemExit(f"{nestor}: not a program")
    files = [f.resolve() for f in args.files] or sorted(
        [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md")])
    bad = total = 0
    for path in files:
        if not path.exists():
            continue
        failures, ran, changed = run_file(path, nestor, args.update, skip)
        total += ran
        bad += len(failures)
        for failure in failures:
            print(failure, file=sys.stderr)
        if changed:
            print(f"{path.relative_to(ROOT)}: {changed} blocks rewritten")
    print(f"{total} examples run, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
