#!/usr/bin/env python3
"""nestor bench run from end to end, on llama.cpp (npm's node-llama-cpp) with a model of random weights (server.js).

  engine_bench.py NESTOR ROOT PACKAGES [--seed N] [--samples N]

Tasks of all kinds that want programs or models are made and asked three times: held to the grammar by the field of
llama.cpp, by that of vLLM, and free.
1. Held to the grammar every answer that ended by itself parses, at least 20 do, and the grader finds no error of
   syntax in what it takes whole. Both fields get the same answers.
2. Free, next to none parses: it was the grammar that made programs.
3. When all is answered the same command needs no server.
4. The report sets free against grammar-constrained decoding, from the run files.
Exit code 77: npm has no packages.
"""
import collections
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import npm
import serving

KINDS = "gen.workload,gen.hardware,gen.mapping,gen.model,gen.optimize,repair"
TASKS = 12
FORMS = {"llama.cpp": ["--grammar", "llama.cpp"], "vllm": ["--grammar", "vllm"], "free": []}


class Bench:
    def __init__(self, args, scratch):
        self.args, self.scratch, self.failures = args, scratch, []

    def check(self, good, what):
        if not good:
            self.failures.append(what)

    def bench(self, *words):
        done = subprocess.run([self.args.nestor, "bench", *map(str, words)], cwd=self.scratch, capture_output=True, text=True,
                              env=serving.environment())
        self.check(done.returncode == 0, f"nestor bench {words[0]}: exit code {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def run(self, form, url):
        # a concurrency above 1 although one request is computed at a time: the others wait, as they do at real servers
        self.bench("run", "tasks.jsonl", "--base-url", url, "--model", "noise", "--samples", self.args.samples, "--choices", 2,
                   "--temperature", 1, "--seed", self.args.seed, "--max-tokens", 300, "--concurrency", 4, *FORMS[form],
                   "--run", f"{form}.run", "--key", "key.jsonl")

    def records(self, form):
        """{(task, sample): (answer, judgement)} of a run file."""
        db = sqlite3.connect(self.scratch / f"{form}.run")
        try:
            read = {table: {(task, sample): json.loads(text) for task, sample, text in
                            db.execute(f"SELECT task_id, sample_id, json FROM {table}")} for table in ("sample", "result")}
        finally:
            db.close()
        self.check(set(read["sample"]) == set(read["result"]), f"{form}: not every answer is judged")
        self.check(len(read["sample"]) == TASKS * self.args.samples, f"{form}: {len(read['sample'])} answers")
        return {key: (sample, read["result"].get(key, {})) for key, sample in read["sample"].items()}


def taken_whole(text, result):
    """The grader takes an answer without fences from the first line that begins a declaration to the last brace."""
    first = text[:len(text) - len(text.lstrip())].count("\n") + 1
    return result.get("extraction", {}).get("line") == first and text.rstrip().endswith("}")


def held(bench, form, records):
    ended = [(sample["completion"], result) for sample, result in records.values() if sample.get("finish_reason") == "stop"]
    outcomes = collections.Counter(result["outcome"] for _, result in ended)
    print(f"{form}: {len(ended)} of {len(records)} answers ended by themselves: {dict(outcomes)}")
    bench.check(len(ended) >= 20, f"{form}: only {len(ended)} answers ended by themselves")
    whole = 0
    for text, result in ended:
        bench.check(serving.parses(bench.args.nestor, text), f"{form}: ended by itself and does not parse: {text!r}")
        if taken_whole(text, result):
            whole += 1
            bench.check(result["outcome"] != "syntax" and result["stage"] != "extract", f"{form}: judged {result}: {text!r}")
    bench.check(whole >= 3, f"{form}: the grader took only {whole} answers whole")


def free(bench, records):
    texts = [sample["completion"] for sample, _ in records.values()]
    good = sum(serving.parses(bench.args.nestor, text) for text in texts if text.strip())
    compiled = sum(result["outcome"] not in ("syntax", "no_answer", "truncated") for _, result in records.values())
    print(f"free: of {len(texts)} answers {good} parse, {compiled} are judged beyond syntax")
    bench.check(good * 10 <= len(texts) and compiled * 10 <= len(texts), f"free: {good} answers parse, {compiled} are compiled")


def report(bench):
    files = [f"{form}.run" for form in FORMS]
    text = bench.bench("report", *files)
    bench.check("Free against grammar-constrained decoding" in text, f"the report does not compare:\n{text}")
    out = bench.bench("report", *files, "--format", "json")
    data = json.loads(out) if out else {"models": [], "pairs": []}
    models = {model["name"]: model for model in data["models"]}
    bench.check([model["grammar"] for model in models.values()] == [True, True, False], f"models of the report: {list(models)}")
    bench.check(all(sum(model["outcomes"].values()) == TASKS * bench.args.samples for model in models.values()),
                "the report has other outcomes than answers")
    pairs = [pair for pair in data["pairs"] if pair["by_grammar"]]
    bench.check(len(pairs) == 2 and all(not models[pair["first"]]["grammar"] and models[pair["second"]]["grammar"]
                                        for pair in pairs), f"pairs that differ by the grammar: {pairs}")


def main():
    args, packages, node = npm.begin("llama", samples=5)
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(args, pathlib.Path(scratch))
        bench.bench("gen", "--seed", args.seed, "--count", TASKS, "--kinds", KINDS, "--card", "none", "--examples", 0,
                    "--quick", "-o", "tasks.jsonl", "--key", "key.jsonl")
        with serving.Server(node, packages, bench.scratch, args.seed) as server:
            for form in FORMS:
                bench.run(form, server.url)
        records = {form: bench.records(form) for form in FORMS}
        for form in ("llama.cpp", "vllm"):
            held(bench, form, records[form])
        same = sum(records["llama.cpp"][key][0]["completion"] == records["vllm"].get(key, ({},))[0].get("completion")
                   for key in records["llama.cpp"])
        bench.check(same == len(records["llama.cpp"]), f"only {same} answers are the same by either field")
        free(bench, records["free"])
        for form in FORMS:
            bench.run(form, server.url)  # nobody listens there any more
        report(bench)
    for text in bench.failures[:20]:
        print("FAILED", text)
    return 1 if bench.failures else 0


sys.exit(main())
