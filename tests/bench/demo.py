#!/usr/bin/env python3
# ctest: demo
"""nestor bench demo: the same bytes each time, and what its report says of models that are known."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

NESTOR = os.environ["NESTOR"]
FILES = {".nestor-demo", "tasks.jsonl", "key.jsonl", "report.html", "report.txt", "oracle.run", "no-reuse.run", "bounding-boxes.run", "coin.run", "truncator.run", "idle.run"}
checks = 0


def expect(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"failed: {what}")


def bench(*args, code=0, cwd=None):
    done = subprocess.run([NESTOR, "bench", *map(str, args)], capture_output=True, text=True, cwd=cwd)
    expect(done.returncode == code, f"{args} gave {done.returncode}, not {code}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


def contents(directory):
    return {p.name: p.read_bytes() for p in directory.iterdir()}


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="nestor-demo-"))
    try:
        first = bench("demo", "-n", 80, "--samples", 3, cwd=work)
        there = contents(work / "demo")
        expect(set(there) == FILES, f"the files of a demonstration: {sorted(there)}")
        expect(bench("demo", "-n", 80, "--samples", 3, cwd=work) == first, "the same again, over the old one")
        expect(contents(work / "demo") == there, "the same bytes over the old ones")
        bench("demo", "-n", 80, "--samples", 3, "-o", work / "other")
        expect(contents(work / "other") == there, "the same bytes elsewhere")
        bench("demo", "-n", 80, "--samples", 3, "-o", work / "seed", "--seed", 2)
        mine = work / "mine"  # files of others are not overwritten
        mine.mkdir()
        (mine / "tasks.jsonl").write_text("mine\n")
        said = bench("demo", "-n", 8, "--samples", 1, "-o", mine, code=3)
        expect("tasks.jsonl is one" in said and "--force" in said, f"other files are named: {said}")
        expect(contents(mine) == {"tasks.jsonl": b"mine\n"}, "and stay as they are")
        bench("demo", "-n", 8, "--samples", 1, "-o", mine, "--force")
        expect(set(contents(mine)) == FILES, "unless that is asked for")
        expect(first.startswith("80 tasks of all kinds and levels, 6 scripted models, 3 samples of each task\n"), f"what there is: {first[:80]}")
        for n, says in (1, "1 task of 1 kind, of level 1 alone"), (3, "3 tasks of 3 kinds, of level 1 alone"), (8, "8 tasks of all kinds, of level 1 alone"), (9, "9 tasks of all kinds, of levels 1 to 2"):
            told = bench("demo", "-n", n, "--samples", 1, "--models", "idle", "-o", work / f"n{n}")
            tasks = [json.loads(line) for line in (work / f"n{n}" / "tasks.jsonl").read_text().splitlines()]
            expect(told.startswith(says + ", 1 scripted model, 1 sample of each task\n"), f"{n} tasks: {told[:80]}")
            expect({t["level"] for t in tasks} == set(range(1, 2 if n < 9 else 3)) and len({t["kind"] for t in tasks}) == min(n, 8), f"which they are: {n}")
        (work / "empty").mkdir()
        bench("demo", "-n", 8, "--samples", 1, "-o", work / "empty")
        expect(contents(work / "seed")["tasks.jsonl"] != there["tasks.jsonl"], "another seed, other tasks")

        runs = [work / "demo" / f"{m}.run" for m in ("oracle", "no-reuse", "bounding-boxes", "coin", "truncator", "idle")]
        data = json.loads(bench("report", *runs, "--format", "json"))
        expect(contents(work / "demo") == there, "a report changes nothing")
        models = {m["name"]: m for m in data["models"]}
        expect(list(models) == ["oracle", "no-reuse", "bounding-boxes", "coin", "truncator", "idle"], f"models: {list(models)}")
        for model in models.values():
            expect(model["samples"] == 240 and model["outstanding"] == 0, f"nothing is outstanding of {model['name']}")
            expect(model["outcomes"]["crashed"] == model["outcomes"]["infra_error"] == 0, f"no crash of {model['name']}")
        expect(models["oracle"]["pass_at_1"]["mean"] == 1 and models["oracle"]["pass_hat_k"]["2"] == 1, "the oracle is always right")
        expect(models["truncator"]["outcomes"]["truncated"] == 240, "all of the truncator is cut off")
        idle = {c["kind"]: c["mean"] for c in models["idle"]["by_kind_and_level"] if c["kind"] and c["level"] is None}
        expect(all(mean == 0 for kind, mean in idle.items() if kind not in ("qa.compare", "gen.optimize")), f"doing nothing solves nothing: {idle}")
        for name in "no-reuse", "bounding-boxes":
            model = models[name]
            expect(0.2 < model["pass_at_1"]["mean"] < 0.9, f"{name} is right in part")
            expect(model["repetition"]["sd"] == 0, f"{name} is always the same")
            level = {c["level"]: c["mean"] for c in model["by_kind_and_level"] if c["kind"] is None}
            expect(level[5] < level[1], f"{name} finds level 5 harder than level 1")
        expect(models["coin"]["repetition"]["sd"] > 0, "the coin falls anew")
        expect(models["coin"]["pass_at_k"]["2"] > models["coin"]["pass_at_1"]["mean"] > models["coin"]["pass_hat_k"]["2"], "pass@2 > pass@1 > pass^2")
        expect(data["files"][0]["facts"]["suite"] == "demo" and len(data["files"][0]["facts"]["tasks_hash"]) == 64, "what was measured")
        page = there["report.html"].decode()
        for text in [*models, "gen.model", "level 5", ">expected<", "truncated"]:
            expect(text in page, f"{text} is in the page")

        given = work / "demo" / "tasks.jsonl", work / "demo" / "key.jsonl"
        said = bench("demo", "--tasks", given[0], "--key", given[1], "--models", "idle,coin", "--samples", 3, "-o", work / "some")
        expect(said.startswith("80 tasks, 2 scripted models, 3 samples"), "tasks of a file")
        expect(set(contents(work / "some")) == FILES - {"oracle.run", "no-reuse.run", "bounding-boxes.run", "truncator.run"}, "two models")
        same = [json.loads(bench("report", work / d / "idle.run", "--format", "json"))["models"][0]["pass_at_1"] for d in ("demo", "some")]
        expect(same[0] == same[1] and contents(work / "some")["tasks.jsonl"] == there["tasks.jsonl"], "the same tasks, the same answers")
        expect("did you mean coin?" in bench("demo", "--models", "coinn", code=2), "no such model")
        expect("is empty" in bench("demo", "--models", "", code=2), "no model")
        expect("go together" in bench("demo", "--tasks", given[0], code=2), "tasks without a key")
        expect("not tasks and keys of each other" in bench("demo", "--tasks", given[0], "--key", work / "seed" / "key.jsonl", "-o", work / "x", code=3),
               "the key of other tasks")
        expect("takes no" in bench("demo", "somewhere", code=2), "a word too many")
        expect("--count takes" in bench("demo", "-n", 0, code=2), "no tasks")
        expect("cannot make" in bench("demo", "-o", work / "none" / "there", code=3), "a directory that cannot be")
        (work / "file").write_text("")
        bench("demo", "-n", 8, "-o", work / "file", code=3)
        print(f"{checks} checks")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
