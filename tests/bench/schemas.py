# ctest: schemas
"""Tasks, keys, samples and results are what the published schemas say, and the schemas refuse what they are not."""
import copy
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = os.environ["NESTOR_SOURCE"]
NESTOR = os.environ["NESTOR"]
sys.dont_write_bytecode = True
sys.path += [str(HERE), str(HERE.parent / "cli")]
from server import Server, chat  # noqa: E402
from validate import load, validate  # noqa: E402

RECORDS = ("task", "key", "sample", "result")
SCHEMAS = {name: load(SOURCE, f"nestor.{name}-1.schema.json") for name in RECORDS}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.scratch.name)
        cls.bench("gen", "--seed", "9", "--count", "40", "--quick", "-o", "tasks.jsonl", "--key", "key.jsonl")
        cls.tasks, cls.keys = lines(cls.dir / "tasks.jsonl"), lines(cls.dir / "key.jsonl")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def bench(cls, *words, code=0):
        done = subprocess.run([NESTOR, "bench", *words], cwd=cls.dir, capture_output=True, text=True)
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def holds(self, name, record):
        """By the schema, and with no member that the schema does not name."""
        validate(SCHEMAS[name], record)
        self.assertLessEqual(set(record), set(SCHEMAS[name]["properties"]), name)

    def check_run(self, path, samples):
        """Every record of a run file, of which so many are samples, all of them judged."""
        db = sqlite3.connect(path)
        for name in ("task", "sample", "result"):
            rows = db.execute(f"SELECT json FROM {name}").fetchall()
            if name != "task":
                self.assertEqual(len(rows), samples, (path, name))
            for (text,) in rows:
                self.holds(name, json.loads(text))
        db.close()

    def refused(self, name, record):
        with self.assertRaises(Exception, msg=record):
            validate(SCHEMAS[name], record)

    def test_tasks_and_keys(self):
        self.assertEqual({t["kind"] for t in self.tasks}, set(SCHEMAS["task"]["properties"]["kind"]["enum"]))
        for task, key in zip(self.tasks, self.keys):
            self.holds("task", task)
            self.holds("key", key)

    def test_samples_and_results(self):
        samples = []
        for task, key in zip(self.tasks, self.keys):
            answer = key["answer"]
            texts = (answer, "I do not know.", answer.replace("2", "3"), answer + " }", "<think>so</think>" + answer,
                     answer[:len(answer) // 2])
            samples += [{"task_id": task["task_id"], "sample_id": str(i), "completion": text,
                         "finish_reason": "length" if i == 5 else "stop"} for i, text in enumerate(texts)]
        for sample in samples:
            self.holds("sample", sample)
        with open(self.dir / "samples.jsonl", "w", encoding="utf-8") as out:
            out.writelines(json.dumps(s) + "\n" for s in samples)
            out.write('{"no": "sample"}\nnonsense\n')
        self.bench("grade", "--tasks", "tasks.jsonl", "--key", "key.jsonl", "--timing", "-o", "results.jsonl", "samples.jsonl", code=1)
        results = lines(self.dir / "results.jsonl")
        self.assertEqual(len(results), len(samples) + 2)
        for result in results:
            self.holds("result", result)
        self.assertLessEqual({"passed", "wrong", "syntax", "no_answer", "truncated", "infra_error"}, {r["outcome"] for r in results})
        self.assertTrue(any(r["counterexample"] and r["counterexample"].get("params") for r in results))

    def test_records_of_a_run_file(self):
        few = [i for i, t in enumerate(self.tasks) if t["spec"]["answer"] == "choice"][:2]
        for name, records in (("few.jsonl", self.tasks), ("few.key.jsonl", self.keys)):
            with open(self.dir / name, "w", encoding="utf-8") as out:
                out.writelines(json.dumps(records[i]) + "\n" for i in few)
        env = dict(os.environ, NESTOR_API_KEY="a-key-of-a-test")
        with Server(lambda request: chat("answer: B", reasoning_content="so it is")) as server:
            done = subprocess.run([NESTOR, "bench", "revise", "few.jsonl", "--key", "few.key.jsonl", "--base-url", server.url, "--model", "m",
                                   "--rounds", "1", "--temperature", "0.5", "--price-in", "1", "--run", "few.run"],
                                  cwd=self.dir, env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_run(self.dir / "few.run", samples=2 + 2 * 5)

    def test_scripted_models(self):
        self.bench("demo", "-o", "demo", "-n", "8", "--samples", "1")
        models = sorted((self.dir / "demo").glob("*.run"))
        self.assertGreater(len(models), 2)
        for path in models:
            self.check_run(path, samples=8)

    def test_schemas_refuse(self):
        task, key = self.tasks[0], self.keys[0]
        result = {"schema": "nestor.result/1", "task_id": "t", "sample_id": "0", "passed": True, "outcome": "passed", "score": 1.0, "sub": {},
                  "stage": "compare", "extraction": {"step": "json", "line": 1}, "diagnostics": [], "counterexample": None,
                  "grader_version": "0.1.0/1/1"}
        sample = {"task_id": "t", "completion": ""}
        wrong = {"task": (task, {"level": 6, "kind": "gen", "messages": [], "spec": {"answer": "program"}, "answer_commit": "ab", "seed": "x"}),
                 "key": (key, {"salt": "", "answer": 1, "schema": "nestor.task/1"}),
                 "sample": (sample, {"completion": None, "task_id": 1, "round": 0, "usage": {"input_tokens": "7"}}),
                 "result": (result, {"score": 1.5, "outcome": "good", "sub": {"a": 1}, "stage": "", "extraction": {}, "counterexample": {}})}
        for name, (record, changes) in wrong.items():
            self.holds(name, record)
            for member, value in changes.items():
                self.refused(name, copy.deepcopy(record) | {member: value})
            for member in SCHEMAS[name]["required"]:
                self.refused(name, {k: v for k, v in record.items() if k != member})


if __name__ == "__main__":
    unittest.main()
