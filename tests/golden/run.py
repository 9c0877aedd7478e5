#!/usr/bin/env python3
"""Golden files: what the nestor command prints for each case.

A case is a file NAME.cmd or NAME.nest in any directory below this one, with what is expected of it:
  NAME.cmd   the arguments, one line (default: check NAME.nest); run in the case's directory
  NAME.out   standard output (default: nothing)
  NAME.err   standard error (default: nothing)
  NAME.code  exit code (default: 0)
A .nest file is input of other cases and no case itself where some .cmd of its directory names it and it
has no .cmd, .out, .err or .code of its own, and in directories called `parts`.

  run.py NESTOR                  run all
  run.py NESTOR syntax/comma     run the cases whose path contains the text
  run.py --update NESTOR [...]   rewrite the expected files; review with git diff
  run.py NESTOR --codes FILE [--prefix E01]   also require that each code of the catalogue FILE (with the
                                 prefix) appears in some NAME.err or NAME.out
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent
PARTS = ("out", "err", "code")


def find(filters):
    cases = set()
    for cmd in ROOT.rglob("*.cmd"):
        cases.add(cmd.with_suffix(""))
    for nest in ROOT.rglob("*.nest"):
        base = nest.with_suffix("")
        own = any(base.with_name(base.name + "." + part).exists() for part in PARTS)
        if "parts" in nest.relative_to(ROOT).parts:
            continue
        if own or not any(nest.name in shlex.split(cmd.read_text()) for cmd in nest.parent.glob("*.cmd")):
            cases.add(base)
    names = sorted(base.relative_to(ROOT).as_posix() for base in cases)
    return [name for name in names if not filters or any(f in name for f in filters)]


def expected(name):
    base = ROOT / name
    out = {}
    for part in PARTS:
        file = base.with_name(base.name + "." + part)
        out[part] = file.read_bytes() if file.exists() else b"0\n" if part == "code" else b""
    return out


def run(nestor, name, timeout):
    base = ROOT / name
    cmd = base.with_name(base.name + ".cmd")
    args = shlex.split(cmd.read_text()) if cmd.exists() else ["check", base.name + ".nest"]
    env = dict(os.environ, LC_ALL="C", NO_COLOR="1")
    env.pop("COLUMNS", None)
    done = subprocess.run([nestor, *args], cwd=base.parent, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=timeout, check=False)
    return {"out": done.stdout, "err": done.stderr, "code": b"%d\n" % done.returncode}, done.returncode


def update(name, actual):
    base = ROOT / name
    for part in PARTS:
        file = base.with_name(base.name + "." + part)
        if actual[part] == (b"0\n" if part == "code" else b""):
            file.unlink(missing_ok=True)
        elif not file.exists() or file.read_bytes() != actual[part]:
            file.write_bytes(actual[part])


def show(name, want, got):
    for part in PARTS:
        if want[part] == got[part]:
            continue
        print(f"--- {name}.{part}")
        lines = [side.decode("utf-8", "backslashreplace").splitlines() for side in (want[part], got[part])]
        for line in list(difflib.unified_diff(*lines, "expected", "found", lineterm="", n=2))[:60]:
            print(line)


def missing_codes(catalogue, prefix):
    codes = re.findall(r"^NST_DIAG\(\w+,\s*\"?(\w+)\"?,", pathlib.Path(catalogue).read_text(encoding="utf-8"), re.M)
    seen = b"".join(p.read_bytes() for part in ("err", "out") for p in ROOT.rglob(f"*.{part}"))
    return [c for c in codes if c.startswith(prefix) and c.encode() not in seen]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nestor", help="the command to test")
    parser.add_argument("filters", nargs="*", help="run only cases whose path contains one of these")
    parser.add_argument("--update", action="store_true", help="rewrite the expected files")
    parser.add_argument("--codes", metavar="FILE", help="the catalogue of diagnostics")
    parser.add_argument("--prefix", default="", help="require only the codes with this prefix")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a case may take")
    args = parser.parse_args()

    nestor = str(pathlib.Path(args.nestor).resolve())
    names = find(args.filters)
    if not names:
        print("no case matches")
        return 1
    failed = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = {name: pool.submit(run, nestor, name, args.timeout) for name in names}
        for name in names:
            try:
                got, code = jobs[name].result()
            except subprocess.TimeoutExpired:
                print(f"--- {name}: more than {args.timeout:g} s")
                failed.append(name)
                continue
            if code < 0 or code >= 126:
                print(f"--- {name}: ended by signal {-code}" if code < 0 else f"--- {name}: exit code {code}")
                print(got["err"].decode("utf-8", "backslashreplace")[-2000:])
                failed.append(name)
            elif args.update:
                update(name, got)
            elif got != (want := expected(name)):
                show(name, want, got)
                failed.append(name)
    lost = missing_codes(args.codes, args.prefix) if args.codes else []
    if lost:
        print("no golden file shows:", " ".join(lost))
    print(f"{len(names)} cases, {len(failed)} failed" + (": " + " ".join(failed) if failed else ""))
    return 1 if failed or lost else 0


if __name__ == "__main__":
    sys.exit(main())
