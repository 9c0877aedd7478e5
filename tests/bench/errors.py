#!/usr/bin/env python3
# ctest: errors
"""Files given by mistake: each is named once, with what is wanted in its place; nothing is asked of a server, nothing written."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

NESTOR = os.environ["NESTOR"]
SERVER = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--attempts", "1")
TASKS, KEYS = "tasks are what `nestor bench gen -o` wrote", "a key is what `nestor bench gen --key` wrote"
checks = 0


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)

        def bench(*args, code=0, stdin=os.devnull):
            with open(work / stdin, "rb") as given:
                done = subprocess.run([NESTOR, "bench", *map(str, args)], cwd=work, capture_output=True, text=True, stdin=given, timeout=200)
            if done.returncode != code:
                sys.exit(f"failed: {args} gave {done.returncode}, not {code}: {done.stdout}{done.stderr}")
            return done.stdout, done.stderr

        def refused(*args, says, lines=1, code=3, stdin=os.devnull):
            global checks
            checks += 1
            out, said = bench(*args, code=code, stdin=stdin)
            for text in says:
                if text not in said:
                    sys.exit(f"failed: {args} does not say {text!r}:\n{said}")
            if len(said.splitlines()) != lines or out:
                sys.exit(f"failed: {args} says {len(said.splitlines())} lines, not {lines}, and gives {len(out)} bytes:\n{said}")

        def left(*args):
            """A reader that has left wants no message; a full disk does."""
            global checks
            checks += 1
            end, output = os.pipe()
            os.close(end)
            done = subprocess.run([NESTOR, "bench", *map(str, args)], cwd=work, stdout=output, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            os.close(output)
            if (done.returncode, done.stderr) != (3, b""):
                sys.exit(f"failed: {args} into a pipe that nobody reads gave {done.returncode}: {done.stderr}")
            with open("/dev/full", "wb") as full:
                done = subprocess.run([NESTOR, "bench", *map(str, args)], cwd=work, stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            if done.returncode != 3 or b"standard output: No space left on device" not in done.stderr:
                sys.exit(f"failed: {args} to a full disk gave {done.returncode}: {done.stderr}")

        bench("gen", "--count", 3, "-o", "tasks.jsonl", "--key", "key.jsonl", "--quick")
        bench("gen", "--suite", "other", "--seed", 2, "--count", 3, "-o", "other.jsonl", "--key", "other-key.jsonl", "--quick")
        bench("demo", "-n", 8, "--samples", 1, "-o", "demo")
        (work / "empty.jsonl").write_text("\n")
        (work / "junk.txt").write_text("hello\nyou\n")
        (work / "samples.jsonl").write_text(json.dumps({"task_id": "x", "sample_id": "0", "completion": ""}) + "\n")
        (work / "mixed.jsonl").write_text((work / "tasks.jsonl").read_text() + "{}\n" * 25)
        both = work / "both-keys.jsonl"
        both.write_text((work / "key.jsonl").read_text() + (work / "other-key.jsonl").read_text())
        run = "demo/oracle.run"
        there = set(os.listdir(work))

        for args in (("report", run, "--format", "csv"), ("card",), ("card", "--count"), ("gen", "--help"), ("help",), ("gen", "-n", 1, "--quick", "-o", "-"),
                     ("validate", "tasks.jsonl", "--key", "key.jsonl"), ("grade", "-t", "tasks.jsonl", "-k", "key.jsonl", "known.jsonl")):
            (work / "known.jsonl").write_text(json.dumps({"task_id": json.loads((work / "key.jsonl").read_text().splitlines()[0])["task_id"], "sample_id": "0", "completion": ""}) + "\n")
            left(*args)
        (work / "known.jsonl").unlink()

        files = {"none.jsonl": ["cannot open none.jsonl"], "empty.jsonl": ["empty.jsonl holds no {}"], "junk.txt": ["junk.txt:1: it is not JSON"],
                 "samples.jsonl": ['samples.jsonl:1: "schema" is missing'], run: [run + " is a run file", "`nestor bench report` reads run files"]}
        for name, says in (files | {"key.jsonl": ['key.jsonl:1: its schema is "nestor.key/1", not "nestor.task/1"']}).items():
            says = [text.format("tasks") for text in says] + [TASKS]
            refused("grade", "-t", name, "-k", "key.jsonl", "samples.jsonl", says=says)
            refused("serve", "-t", name, "-k", "key.jsonl", says=says)
            refused("validate", name, "-k", "key.jsonl", says=says)
            refused("run", name, *SERVER, says=says)
        for name, says in (files | {"tasks.jsonl": ['tasks.jsonl:1: its schema is "nestor.task/1", not "nestor.key/1"']}).items():
            says = [text.format("keys") for text in says] + [KEYS]
            refused("grade", "-t", "tasks.jsonl", "-k", name, "samples.jsonl", says=says)
            refused("validate", "tasks.jsonl", "-k", name, says=says)
        refused("grade", "-t", "tasks.jsonl", "-k", "other-key.jsonl", says=["other-key.jsonl is the key of other tasks: its first is of other/"])
        refused("validate", "tasks.jsonl", "-k", both, says=["3 keys are of tasks that are not in tasks.jsonl, the first of other/"])
        for name in "run", "revise":
            refused(name, "tasks.jsonl", "-k", "other-key.jsonl", *SERVER, "-r", "new.run", says=["--key holds answers to other tasks, and none to these"])
            (work / "new.run").unlink(missing_ok=True)
        # Two seeds, the same names: the key of one is no key of the other, and a result of one none of the other.
        for seed in 1, 2:
            bench("gen", "--kinds", "qa.compare,gen.optimize", "--levels", 1, "--count", 6, "--seed", seed, "-o", f"seed{seed}.jsonl", "--key", f"seed{seed}.key.jsonl", "--quick")
        other = ["the key of ", "its answer is not the one that the task has committed to", "give the key that `nestor bench gen` wrote with these tasks"]
        refused("grade", "-t", "seed1.jsonl", "-k", "seed2.key.jsonl", "samples.jsonl", says=[*other, "seed2.key.jsonl: 5 more keys are bad"], lines=2)
        refused("serve", "-t", "seed1.jsonl", "-k", "seed2.key.jsonl", says=other, lines=2)
        for name in "run", "revise":
            refused(name, "seed1.jsonl", "-k", "seed2.key.jsonl", *SERVER, "-r", "new.run", says=["the file given as --key: the key of ", *other])
            (work / "new.run").unlink(missing_ok=True)
        keys = [json.loads(line) for line in (work / "seed1.key.jsonl").read_text().splitlines()]
        (work / "right.jsonl").write_text("".join(json.dumps({"task_id": k["task_id"], "sample_id": "0", "completion": "answer: " + k["answer"]}) + "\n" for k in keys))
        bench("grade", "-t", "seed1.jsonl", "-k", "seed1.key.jsonl", "-o", "results.jsonl", "right.jsonl")
        bench("report", "results.jsonl", "-t", "seed1.jsonl")
        refused("report", "results.jsonl", "-t", "seed2.jsonl", says=["results.jsonl has a result of another task named ", "give the tasks that it was judged by"])
        results = [json.loads(line) for line in (work / "results.jsonl").read_text().splitlines()]
        (work / "older.jsonl").write_text("".join(json.dumps({k: v for k, v in r.items() if k != "content_hash"}) + "\n" for r in results))
        bench("report", "older.jsonl", "-t", "seed2.jsonl")
        for path in (*work.glob("seed*.jsonl"), *(work / name for name in ("right.jsonl", "results.jsonl", "older.jsonl"))):
            path.unlink()

        refused("run", "mixed.jsonl", *SERVER, says=['mixed.jsonl:4: "schema" is missing', "15 more lines are bad"], lines=11)
        refused("grade", "-t", "tasks.jsonl", "-k", "key.jsonl", run, says=[run + " is a run file"])
        refused("report", "samples.jsonl", "-t", "tasks.jsonl", says=['samples.jsonl:1: "schema" is missing'])
        for name, what in ("tasks.jsonl", "these are tasks"), ("key.jsonl", "this is a key"):
            for options in (), ("-t", "tasks.jsonl"):
                refused("report", name, *options, says=[f"{name}: {what}; name a run file, or results of `nestor bench grade` with --tasks"])
        refused("report", "junk.txt", says=["junk.txt: it is not a run file"])
        refused("run", "tasks.jsonl", *SERVER, "-r", "junk.txt", says=["junk.txt: it is not a run file"])
        # What is read, or written already, is not written over, whatever it is called.
        samples = (work / "samples.jsonl").read_bytes()
        os.link(work / "samples.jsonl", work / "link.jsonl")
        grade = ("grade", "-t", "tasks.jsonl", "-k", "key.jsonl", "samples.jsonl", "-o")
        for args in ((*grade, "samples.jsonl"), (*grade, "link.jsonl"), (*grade, "tasks.jsonl"), (*grade, "./key.jsonl"), ("report", run, "-o", run),
                     ("report", run, "--html", f"./{run}"), ("report", run, "-o", "new", "--html", "new"), ("report", "results.jsonl", "-t", "tasks.jsonl", "-o", "tasks.jsonl"),
                     ("gen", "-n", 1, "-o", "new", "--key", "new"), ("gen", "-n", 1, "-o", "new", "--key", "./new"), ("gen", "-n", 1, "-o", "tasks.jsonl", "--key", "./tasks.jsonl"),
                     ("gen", "-n", 1, "--split", "hidden", "--secret", "mixed.jsonl", "-o", "mixed.jsonl")):
            refused(*args, says=["would be written over"], code=2)
        # So is what comes in as standard input, named or not; and "-" is standard output where it is written.
        good = ("grade", "-t", "tasks.jsonl", "-k", "key.jsonl")
        for stdin, args in (("samples.jsonl", (*good, "-o", "samples.jsonl")), ("samples.jsonl", (*good, "-o", "link.jsonl")),
                            ("samples.jsonl", (*good, "mixed.jsonl", "-", "-o", "samples.jsonl")),
                            ("key.jsonl", ("grade", "-t", "tasks.jsonl", "-k", "-", "samples.jsonl", "-o", "key.jsonl")),
                            ("tasks.jsonl", ("report", "results.jsonl", "-t", "-", "-o", "tasks.jsonl")),
                            ("tasks.jsonl", ("report", "results.jsonl", "-t", "-", "--html", "./tasks.jsonl")),
                            ("mixed.jsonl", ("gen", "-n", 1, "--split", "hidden", "--secret", "-", "-o", "mixed.jsonl"))):
            refused(*args, says=["<stdin> would be written over"], code=2, stdin=stdin)
        bench("gen", "-n", 1, "--quick", "-o", "own.jsonl", "--key", "-", stdin="junk.txt")
        bench("gen", "-n", 1, "--quick", "-o", "own.jsonl", "--key", "-", stdin="own.jsonl")
        bench(*good, "samples.jsonl", "-o", "own.jsonl", code=1, stdin="own.jsonl")
        (work / "own.jsonl").unlink()
        (work / "link.jsonl").unlink()
        if (work / "samples.jsonl").read_bytes() != samples or not (work / run).read_bytes().startswith(b"SQLite"):
            sys.exit("failed: a file was written over")
        (work / "copy.run").write_bytes((work / run).read_bytes())
        refused("report", run, "copy.run", says=[f"copy.run is a copy of {run}: a run counts once"], code=2)
        (work / "copy.run").unlink()
        os.mkfifo(work / "pipe.run")
        refused("report", run, "pipe.run", says=["pipe.run: it is not a regular file"])
        (work / "pipe.run").unlink()
        (work / "part-key.jsonl").write_text("".join((work / "key.jsonl").read_text().splitlines(True)[:2]))
        for name in ("grade", "-t", "tasks.jsonl"), ("serve", "-t", "tasks.jsonl"):
            refused(*name, "-k", "part-key.jsonl", says=["part-key.jsonl: 1 of the 3 tasks in tasks.jsonl have no key"])
        (work / "part-key.jsonl").unlink()
        for messages in [], [5], [{"role": "user"}], [{"role": "user", "content": ["a"]}]:
            (work / "mute.jsonl").write_text(json.dumps({**json.loads((work / "tasks.jsonl").read_text().splitlines()[0]), "messages": messages}) + "\n")
            refused("run", "mute.jsonl", *SERVER, says=["has nothing to ask", TASKS], code=1)
        (work / "mute.jsonl").unlink()
        refused("run", "tasks.jsonl", "--base-url", "http:///v1", "--model", "m", says=["--base-url is not an address"], code=2)
        for name in "\udcff", "a/b", "a b", "", "x" * 41, "a\n":
            refused("gen", "--suite", name, "-n", 1, "-o", "new", says=["--suite takes a name of 1 to 40 letters"], code=2)
        refused("gen", "--suite", "v1", "-n", 3, "-o", "new", says=["the suite v1 is always the same"], code=2)
        refused("gen", "-n", 1, "-o", "/dev/full", says=["cannot write /dev/full: No space left"])
        bench("run", "tasks.jsonl", "--base-url", "http://127.0.0.1:9/v1", "--model", "-/m", "--attempts", 1, code=3)
        (work / "_-m.run").unlink()  # a name that no command takes for an option
        if set(os.listdir(work)) != there:
            sys.exit(f"failed: files came: {set(os.listdir(work)) - there}")
    print(f"{checks} refusals")


main()
