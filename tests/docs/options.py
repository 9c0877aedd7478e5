#!/usr/bin/env python3
"""Every command of `nestor bench` and every option of it stands in the documentation: options.py NESTOR

Options of `run` and `revise` stand in docs/bench-run.md, those of `report` in docs/bench-report.md; the others in docs/benchmark.md,
docs/bench-run.md or docs/rl.md. An option is there by its long name."""
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = {"run": ["bench-run"], "revise": ["bench-run"], "report": ["bench-report"]}
OTHERS = ["benchmark", "bench-run", "rl"]


def bench(*words):
    return subprocess.run([sys.argv[1], "bench", *words], check=True, capture_output=True, text=True).stdout


missing, seen = [], 0
for command in re.findall(r"^  ([a-z]+) ", bench("help"), re.M):
    text = "".join((DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES.get(command, OTHERS))
    if f"bench {command}" not in text and f"`{command}`" not in text:
        missing.append(f"bench {command}")
    for option in re.findall(r"^  [- ].[, ] (--[a-z-]+)", bench(command, "--help"), re.M):
        seen += 1
        if option != "--help" and not re.search(re.escape(option) + r"(?![a-z-])", text):
            missing.append(f"{option} of bench {command}")
for what in missing:
    print(f"the documentation lacks {what}")
print(f"{seen} options")
sys.exit(1 if missing or seen < 20 else 0)
