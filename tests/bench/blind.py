#!/usr/bin/env python3
# ctest: blind
"""What answers without a look at the numbers get: optima by loops of one, choices by where they stand."""
import collections
import itertools
import json
import os
import re
import subprocess
import tempfile

NESTOR = os.environ["NESTOR"]


def suite(directory, name, *options):
    tasks, keys = (os.path.join(directory, name + end) for end in (".jsonl", ".key.jsonl"))
    subprocess.run([NESTOR, "bench", "gen", "--suite", name, "--quick", "--card", "none", "--examples", "0", *options, "-o", tasks, "--key", keys], check=True)
    return tasks, keys, [json.loads(line) for line in open(tasks, encoding="utf-8")], [json.loads(line) for line in open(keys, encoding="utf-8")]


def mappings(task):
    """At most two loops of steps of one, with all kept behind them."""
    given = task["spec"]["given"]
    workload, hardware = (re.search(rf"^{word} (\w+)", given, re.M).group(1) for word in ("workload", "hardware"))
    dims = re.findall(r"(\w+) = \w+", re.search(r"dim (.*)", given).group(1))
    memories = re.findall(r"memory (\w+)", given)[1:]
    for loops in itertools.chain([()], ((d,) for d in dims), itertools.permutations(dims, 2)):
        for memory in memories:
            yield f"mapping ans of {workload} on {hardware} {{ {' '.join(f'for {d} by 1' for d in loops)} keep all in {memory} compute }}"


def places(directory):
    """Right choices stand everywhere alike."""
    *_, records, keys = suite(directory, "places", "--seed", "9", "--kinds", "qa.compare", "--count", "1500", "--levels", "3-5", "--split", "train")
    where = collections.Counter()
    for task, key in zip(records, keys):
        choices = re.search(r"where X is one of ([A-D, ]+)", task["messages"][-1]["content"]).group(1).split(", ")
        where[len(choices), choices.index(key["choice"])] += 1
    print("where the right choice stands, of so many:", dict(sorted(where.items())))
    for n in (2, 3, 4):
        counts = [where[n, i] for i in range(n)]
        mean = sum(counts) / n
        # Chi-squared of up to three degrees of freedom is above 16.3 once in a thousand.
        assert sum(counts) > 200 and sum((c - mean) ** 2 / mean for c in counts) < 16.3, (n, counts)


with tempfile.TemporaryDirectory() as directory:
    tasks, keys, records, _ = suite(directory, "blind", "--seed", "9", "--kinds", "gen.optimize", "--count", "120")
    samples = [{"task_id": t["task_id"], "sample_id": str(i), "completion": f"```nest\n{m}\n```"} for t in records for i, m in enumerate(mappings(t))]
    done = subprocess.run([NESTOR, "bench", "grade", "--tasks", tasks, "--key", keys], input="".join(json.dumps(s) + "\n" for s in samples),
                          capture_output=True, text=True, check=True)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    outcomes = collections.Counter(r["outcome"] for r in results)
    print(len(results), "mappings that look at no size:", dict(outcomes))
    assert len(results) == len(samples) > 1000
    assert outcomes["passed"] == 0, [r["task_id"] for r in results if r["passed"]][:5]
    assert outcomes["wrong"] > len(results) // 10, "they fit here and there, and are worse"

    places(directory)
