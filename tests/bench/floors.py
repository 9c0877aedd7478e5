#!/usr/bin/env python3
# ctest: floors
"""What chance and doing nothing earn on v1 test, by kind: the table of docs/benchmark.md, which --update rewrites."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

NESTOR = os.environ.get("NESTOR", "nestor")
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "benchmark.md"
HEAD = "| kind | tasks | chance: pass@1 | doing nothing: share of `sub` | doing nothing: pass@1 | doing nothing: score |\n| --- | --- | --- | --- | --- | --- |\n"


def bench(*args):
    subprocess.run([NESTOR, "bench", *args], check=True, stdout=subprocess.DEVNULL)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def share(result):
    return mean(result["sub"].values()) if result["sub"] else 0


def table(directory):
    bench("gen", "--suite", "v1", "--quick", "--quiet", "-o", f"{directory}/v1")
    bench("demo", "--tasks", f"{directory}/v1/test.jsonl", "--key", f"{directory}/v1/test.key.jsonl", "--models", "idle", "--samples", "1",
          "-o", f"{directory}/floors")
    with sqlite3.connect(f"{directory}/floors/idle.run") as run:
        results = {r["task_id"]: r for r in (json.loads(text) for (text,) in run.execute("select json from result"))}
    kinds = {}
    with open(f"{directory}/v1/test.jsonl", encoding="utf-8") as f:
        for task in map(json.loads, f):
            kinds.setdefault(task["kind"], []).append((task, results[task["task_id"]]))
    text = HEAD
    for kind, rows in kinds.items():
        chance = mean(1 / len(task["spec"]["choices"]) for task, _ in rows) if kind == "qa.compare" else 0
        right = "" if kind in ("qa.compare", "gen.optimize") else f"{mean(share(r) for _, r in rows):.3f}"
        text += f"| `{kind}` | {len(rows)} | {chance:.3f} | {right} | {mean(r['passed'] for _, r in rows):.3f} | {mean(r['score'] for _, r in rows):.3f} |\n"
    return text


def main():
    with tempfile.TemporaryDirectory() as directory:
        got = table(directory)
    page = PAGE.read_text(encoding="utf-8")
    rows = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(rows.sub(lambda _: got, page), encoding="utf-8")
    elif got not in page:
        sys.exit(f"docs/benchmark.md has another table than\n{got}tests/bench/floors.py --update rewrites it")


main()
