#!/usr/bin/env python3
# ctest: validate
"""nestor bench validate: a good suite passes; of tasks and keys that were changed, as carefully as one likes, each change is found and named."""
import copy
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

NESTOR = os.environ["NESTOR"]


def commit(task, key):
    task["answer_commit"] = hashlib.sha256(f"{key['salt']}\n{key['answer']}".encode()).hexdigest()


def hash_content(task):
    def text(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    task["content_hash"] = hashlib.sha256(f"content\n{text(task['messages'])}\n{text(task['spec'])}".encode()).hexdigest()


def raise_first(values):
    """One more, wherever the first whole number is; values may be an object or a list."""
    for i in values if isinstance(values, dict) else range(len(values)):
        if isinstance(values[i], int) and not isinstance(values[i], bool):
            values[i] += 1
            return
    sys.exit("no number to change")


# What is changed, in a task of a kind, and what must be said of it. All but the last of them keep task and key consistent.

def prediction(task, key):
    raise_first(key["values"])
    key["answer"] = json.dumps(key["values"])


def choice(task, key):
    key["choice"] = key["answer"] = next(c for c in task["spec"]["choices"] if c != key["choice"])


def model(task, key):
    out = task["spec"]["outs"].index(re.search(r"\bout (\w+) =", key["answer"])[1])
    key["answer"] = re.sub(r"\bout (\w+) = ", r"out \1 = 1 + ", key["answer"], count=1)
    for row in key["values"]:
        row[out] += 1


def model_point(task, key):
    key["points"][-1], key["values"][-1] = key["points"][0], key["values"][0]


def optimum(task, key):
    key["optimum"] *= 2


def program_point(task, key):
    raise_first(key["points"][-1]["values"])


def program_fewer_points(task, key):
    del key["points"][-1]


def floor(task, key):
    key["floor"] = 0.99


def low_floor(task, key):
    key["floor"] = 0


def long_answer(task, key):
    key["hint"] = "é" * 100


def extra(task, key):
    key["hint"] = "none"


def question(task, key):
    task["messages"][-1]["content"] += "\nThink twice.\n"
    hash_content(task)


def spec(task, key):
    task["spec"]["raises"] = "cascade"
    hash_content(task)


def broken_hash(task, key):
    task["messages"][0]["content"] += " "


def broken_commit(task, key):
    task["answer_commit"] = task["answer_commit"][::-1]


SEED = "its seed gives"
TAMPERS = [
    ("qa.predict", prediction, ['"values.', SEED, "its answer is not"]), ("qa.compare", choice, ['"choice" of the key is', SEED, "its answer is not"]),
    ("gen.model", model, ['"values[0][', SEED, "its answer is not"]), ("gen.model", model_point, ['"points[259]', SEED]),
    ("gen.optimize", optimum, ['"optimum" of the key is', SEED]), ("gen.mapping", program_point, ['"points[', "].values[", SEED]),
    ("gen.workload", program_fewer_points, ['"points" of the key', SEED]), ("gen.hardware", floor, ['"floor" of the key is 0.99', SEED]),
    ("repair", extra, ['"hint" of the key is "none", and its seed gives nothing']), ("gen.mapping", question, ["its question is not", SEED]),
    ("qa.predict", spec, ['"spec.raises" of the task is "cascade"', SEED]), ("qa.compare", broken_hash, ["its content_hash is not"]),
    ("gen.workload", broken_commit, ["its answer is not the one that the task has committed to"]),
]


class Validate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.scratch.name)
        (cls.dir / "secret").write_text("thirty-two letters of good chance\n")
        (cls.dir / "wrong").write_text("thirty-two letters of no chance\n")
        cls.suite, cls.hidden = cls.made("dev", "--levels", "2"), cls.made("hidden", "--levels", "1", "--split", "hidden", "--secret", "secret")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def made(cls, name, *options):
        subprocess.run([NESTOR, "bench", "gen", "--quick", "--count", "8", "--examples", "1", *options, "-o", f"{name}.jsonl", "--key", f"{name}.key.jsonl"],
                       cwd=cls.dir, check=True)
        tasks, keys = ([json.loads(line) for line in (cls.dir / file).read_text(encoding="utf-8").splitlines()] for file in (f"{name}.jsonl", f"{name}.key.jsonl"))
        return {task["kind"]: (task, key) for task, key in zip(tasks, keys)}

    def validate(self, records, *options, code, says=(), env=None):
        """records: (task, key), of which either may be None."""
        for name, at in ("tasks.jsonl", 0), ("key.jsonl", 1):
            (self.dir / name).write_text("".join(json.dumps(r[at], ensure_ascii=False) + "\n" for r in records if r[at]), encoding="utf-8")
        done = subprocess.run([NESTOR, "bench", "validate", "tasks.jsonl", "--key", "key.jsonl", "--workers", "1", *options], cwd=self.dir,
                              env=dict(os.environ, **(env or {})), capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, said)
        for text in says:
            self.assertIn(text, said)
        return said

    def tampered(self, suite, kind, change):
        task, key = copy.deepcopy(suite[kind])
        change(task, key)
        if change is not broken_commit:
            commit(task, key)
        return task, key

    def test_a_good_suite_passes(self):
        points = sum(len(key.get("points", ())) for _, key in self.suite.values())
        self.assertGreater(points, 260)
        self.validate(self.suite.values(), code=0, says=["8 reference answers", f"8 tasks made again, {points} points of programs and models by three engines", ": 0 faults"])

    def test_each_change_is_found_and_named(self):
        for kind, change, says in TAMPERS:
            with self.subTest(kind=kind, change=change.__name__):
                task, key = self.tampered(self.suite, kind, change)
                said = self.validate([(task, key)], code=1, says=[task["task_id"] + ": ", *says])
                self.assertNotIn(": 0 faults", said)

    def test_what_is_cut_is_marked(self):
        said = self.validate([self.tampered(self.suite, "repair", long_answer)], code=1)
        self.assertIn('"hint" of the key is "' + "é" * 27 + "…, and its seed gives nothing", said)

    def test_one_among_good_ones(self):
        records = dict(self.suite)
        records["qa.predict"] = self.tampered(self.suite, "qa.predict", prediction)
        said = self.validate(records.values(), code=1)
        for kind, (task, _) in records.items():
            self.assertEqual(task["task_id"] + ": " in said, kind == "qa.predict", said)

    def test_missing_and_second_keys(self):
        (a, a_key), (b, b_key) = self.suite["qa.compare"], self.suite["qa.predict"]
        said = self.validate([(a, None), (b, b_key)], code=1, says=[a["task_id"] + ": its key is missing", "1 reference answers", ": 1 faults"])
        self.assertNotIn(b["task_id"] + ": ", said)
        self.validate([(a, a_key), (b, b_key), (None, a_key)], code=1, says=[a["task_id"] + ": a second key for this task"])

    def test_keys_of_another_seed(self):
        other = self.made("other", "--levels", "2", "--seed", "2")
        said = self.validate([(self.suite[kind][0], other[kind][1]) for kind in self.suite], code=1)
        self.assertEqual(said.count("its answer is not the one that the task has committed to"), 8)

    def test_the_split_hidden(self):
        hidden, secret = self.hidden, ("--secret", "secret")
        floors = sum("floor" in key for _, key in hidden.values())
        self.assertGreater(floors, 4)
        self.validate(hidden.values(), code=0, says=["8 reference answers", f" 0 that do nothing ({floors} not checked: hidden)", " 0 tasks made again", ": 0 faults",
                                                        "8 tasks of the split hidden were not made again", "--secret FILE"])
        said = self.validate(hidden.values(), *secret, code=0, says=[f" {floors} that do nothing, 8 tasks made again", ": 0 faults"])
        self.assertNotIn("--secret", said)
        said = self.validate([*hidden.values(), *self.suite.values()], "--secret", "wrong", code=1, says=["tasks.jsonl: these tasks were not made with this secret"])
        self.assertEqual(len(said.splitlines()), 1, said)
        self.validate(self.suite.values(), "--secret", "wrong", code=0, says=["8 tasks made again", ": 0 faults"])
        self.validate(hidden.values(), "--secret", "none", code=3, says=["cannot open none"])
        # What figures of programs do not show, the secret does.
        for kind, change, says in (("gen.mapping", program_point, ["the figures are not those of the key"]),
                                   ("gen.optimize", optimum, ["does not come to the optimum of the key"])):
            self.validate([self.tampered(hidden, kind, change)], code=1, says=says)
        self.validate([self.tampered(hidden, "gen.workload", low_floor)], *secret, code=1, says=["doing nothing has a score: the floor of the key is too low"])
        for kind, change, says in TAMPERS[:6]:
            self.validate([self.tampered(hidden, kind, change)], *secret, code=1, says=says)

    def test_without_the_code_generator(self):
        env = {"NESTOR_LLVM_MODULE": str(self.dir / "none.so")}
        self.validate(self.suite.values(), code=0, says=["8 tasks made again", "two engines", ": 0 faults"], env=env)
        self.validate([self.tampered(self.suite, "gen.mapping", program_point)], code=1, says=["the figures are not those of the key", SEED], env=env)


if __name__ == "__main__":
    unittest.main()
