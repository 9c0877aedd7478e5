#!/usr/bin/env python3
# ctest: rl
"""Rewards: the server, the library and the shims give what `nestor bench grade` gives, by the signatures their hosts call."""

import asyncio
import concurrent.futures
import http.client
import importlib
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest

NESTOR = os.environ["NESTOR"]
SOURCE = pathlib.Path(os.environ["NESTOR_SOURCE"])
BUILD = pathlib.Path(os.environ["NESTOR_BUILD"])
SANITIZED = os.environ.get("NESTOR_SANITIZED") == "1"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench" / "python"))

import nestor_grade  # noqa: E402


def bench(*words, **options):
    return subprocess.run([NESTOR, "bench", *words], check=True, capture_output=True, **options).stdout


class Server:
    def __init__(self, tasks, key):
        self.process = subprocess.Popen([NESTOR, "bench", "serve", "--tasks", tasks, "--key", key, "--workers", "2"],
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.url = re.search(r"http://127\.0\.0\.1:(\d+)", line).group(0)
        self.port = int(self.url.rsplit(":", 1)[1])

    def call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def json(self, method, path, body=None):
        status, data = self.call(method, path, None if body is None else json.dumps(body))
        return status, json.loads(data)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


class Rewards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.directory.name)
        cls.tasks, cls.key, cls.samples = (str(path / name) for name in ("tasks.jsonl", "key.jsonl", "samples.jsonl"))
        bench("gen", "--suite", "rl", "--seed", "5", "--count", "24", "--levels", "1-3", "--split", "train", "--quick", "-o", cls.tasks,
              "--key", cls.key)
        cls.rows = [json.loads(line) for line in open(cls.tasks, encoding="utf-8")]
        answers = {k["task_id"]: k["answer"] for k in map(json.loads, open(cls.key, encoding="utf-8"))}
        cls.right = [(t["task_id"], "Here it is:\n```nest\n" + answers[t["task_id"]] + "\n```\n"
                      if t["spec"]["answer"] in ("program", "model") else "answer: " + answers[t["task_id"]])
                     for t in cls.rows]
        cls.wrong = [(t["task_id"], "I do not know.") for t in cls.rows]
        cls.all = cls.right + cls.wrong
        with open(cls.samples, "w", encoding="utf-8") as out:
            for i, (task, text) in enumerate(cls.all):
                out.write(json.dumps({"task_id": task, "sample_id": str(i), "completion": text}) + "\n")
        cls.expected = bench("grade", "--tasks", cls.tasks, "--key", cls.key, cls.samples)
        cls.server = Server(cls.tasks, cls.key)
        os.environ["NESTOR_TASKS"], os.environ["NESTOR_KEY"] = cls.tasks, cls.key
        os.environ.pop("NESTOR_GRADE_URL", None)
        os.environ["NESTOR_GRADE_LIBRARY"] = str(BUILD / "lib" / "libnestor-grade.so")
        if SANITIZED:  # the library cannot be loaded into an unsanitized Python
            os.environ["NESTOR_GRADE_URL"] = cls.server.url

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.directory.cleanup()
        assert code == 0, code

    def grader(self):
        return nestor_grade.Grader(url=self.server.url) if SANITIZED else nestor_grade.Grader(self.tasks, self.key)

    @unittest.skipIf(SANITIZED, "the library is not loaded")
    def test_files_of_no_use_are_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            part, lines = pathlib.Path(directory, "part.jsonl"), pathlib.Path(self.key).read_text().splitlines(keepends=True)
            part.write_text("".join(lines[2:]))
            for tasks, key, says in ((directory, self.key, "^cannot read .*: Is a directory$"), (self.tasks, directory, "^cannot read .*: Is a directory$"),
                                     (self.tasks, str(part), f"part.jsonl: 2 of the {len(lines)} tasks in .* have no key; give the key")):
                with self.assertRaisesRegex(nestor_grade.GraderError, says):
                    nestor_grade.Grader(tasks, key)

    def test_the_library_is_found_in_a_build_tree(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory).resolve()
            python, names = root / "bench" / "python", ("asan", "release", "tsan")
            python.mkdir(parents=True)
            (python / "nestor_grade.py").write_text((SOURCE / "bench/python/nestor_grade.py").read_text(encoding="utf-8"), encoding="utf-8")
            env = {k: v for k, v in os.environ.items() if not k.startswith("NESTOR_GRADE_")} | {"PYTHONPATH": str(python)}
            # What a system may have installed is not looked for.
            tries = ("import ctypes.util, nestor_grade as n\nctypes.util.find_library = lambda name: None\n"
                     "print(n._find_library(None))\ntry: n.Grader('t', 'k')\nexcept n.GraderError as e: print(e)")

            def tried(**more):
                return subprocess.run([sys.executable, "-B", "-c", tries], env=env | more, check=True, capture_output=True, text=True).stdout.splitlines()

            for name in names:
                place = root / "build" / name / "lib" / "libnestor-grade.so"
                place.parent.mkdir(parents=True)
                place.write_text("no library\n")
                self.assertEqual(tried()[0], str(root / "build" / ("asan" if name == "asan" else "release") / "lib" / "libnestor-grade.so"))
            for said in tried(), tried(NESTOR_GRADE_LIBRARY=str(root / "none.so")):
                self.assertRegex(said[1], "^cannot load libnestor-grade .*: build Nestor, or set NESTOR_GRADE_LIBRARY .* or NESTOR_GRADE_URL")
            self.assertEqual(tried(NESTOR_GRADE_LIBRARY=str(root / "none.so"))[0], str(root / "none.so"))

    def test_a_key_of_another_seed_is_refused(self):
        tasks = str(pathlib.Path(self.directory.name) / "other.jsonl")
        bench("gen", "--suite", "rl", "--seed", "6", "--count", "24", "--levels", "1-3", "--split", "train", "--quick", "-o", tasks)
        if not SANITIZED:
            with self.assertRaisesRegex(nestor_grade.GraderError, "key.jsonl:1: its answer is not the one that the task has committed to"):
                nestor_grade.Grader(tasks, self.key)

    def test_right_answers_pass_and_others_do_not(self):
        results = [json.loads(line) for line in self.expected.splitlines()]
        self.assertEqual(len(results), len(self.all))
        self.assertEqual([r["passed"] for r in results], [True] * len(self.right) + [False] * len(self.wrong))

    def test_the_server_gives_the_bytes_of_the_filter(self):
        body = pathlib.Path(self.samples).read_bytes()
        self.assertEqual(self.server.call("POST", "/grade", body), (200, self.expected))
        array = b"[" + b",".join(body.splitlines()) + b"]"
        status, data = self.server.call("POST", "/grade", array)
        self.assertEqual((status, json.loads(data)), (200, [json.loads(line) for line in self.expected.splitlines()]))

    def test_many_clients_at_once(self):
        lines = pathlib.Path(self.samples).read_bytes().splitlines()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            got = list(pool.map(lambda line: self.server.call("POST", "/grade", line)[1], lines * 4))
        self.assertEqual(b"".join(got), self.expected * 4)

    def test_bad_requests_are_answered(self):
        status, data = self.server.call("POST", "/grade", b'{"task_id":"nobody","completion":"x"}\nnot json\n\xff\xfe\n')
        self.assertEqual(status, 200)
        results = [json.loads(line) for line in data.splitlines()]
        self.assertEqual([r["outcome"] for r in results], ["infra_error"] * 3)
        self.assertEqual(self.server.call("POST", "/grade", b"[1,")[0], 200)
        self.assertEqual(self.server.call("POST", "/grade", b""), (200, b""))
        self.assertEqual(self.server.call("GET", "/grade")[0], 405)
        self.assertEqual(self.server.call("GET", "/nothing")[0], 404)
        self.assertEqual(self.server.call("GET", "/health", headers={"Host": "example.org"})[0], 403)
        self.assertEqual(self.server.json("GET", "/health")[1]["status"], "ok")

    def test_episodes(self):
        task, text = self.right[0]
        status, start = self.server.json("POST", "/reset", {"task_id": task})
        self.assertEqual((status, start["done"], start["reward"]), (200, False, None))
        self.assertEqual(start["observation"]["messages"], self.rows[0]["messages"])
        episode = start["episode_id"]
        self.assertEqual(self.server.json("GET", "/state?episode_id=" + episode)[1],
                         {"episode_id": episode, "step_count": 0, "task_id": task})
        step = {"episode_id": episode, "action": {"completion": text}}
        status, end = self.server.json("POST", "/step", step)
        self.assertEqual((status, end["done"], end["reward"]), (200, True, 1.0))
        self.assertEqual(set(end["observation"]), {"task_id", "passed", "outcome", "score", "sub"})
        self.assertEqual(end["observation"]["outcome"], "passed")
        self.assertEqual(self.server.json("POST", "/step", step)[0], 400)
        self.assertEqual(self.server.json("POST", "/step", {"episode_id": "999999", "action": {"completion": ""}})[0], 404)
        self.assertEqual(self.server.json("POST", "/reset", {"task_id": "nobody"})[0], 404)
        seeded = [self.server.json("POST", "/reset", {"seed": 3})[1]["observation"]["task_id"] for _ in range(2)]
        self.assertEqual(seeded[0], seeded[1])

    def test_library_and_url_agree(self):
        with nestor_grade.Grader(url=self.server.url) as remote, self.grader() as local:
            here, there = local.grade_many(self.all), remote.grade_many(self.all)
            self.assertEqual(here, there)
            self.assertEqual(here, [json.loads(line) for line in self.expected.splitlines()])
            self.assertEqual(local.grade(self.right[0][0], "\ud800")["outcome"], "no_answer")
            with self.assertRaises(nestor_grade.GraderError):
                local.grade("nobody", "x")

    def test_separators_of_other_alphabets_are_no_line_ends(self):
        with nestor_grade.Grader(url=self.server.url) as remote, self.grader() as local:
            for grader in remote, local:
                task = next(t for t in self.rows if t["kind"] == "gen.mapping")["task_id"]
                odd = [(task, "```nest\nx\u2028y\u2029z\u0085\n```", None, "a\u2028b"), self.right[0]]
                results = grader.grade_many(odd)
                self.assertEqual([r["outcome"] for r in results], ["syntax", "passed"])
                self.assertEqual(results[0]["sample_id"], "a\u2028b")

    def test_threads_share_a_grader(self):
        with self.grader() as grader, concurrent.futures.ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda s: grader.grade(*s)["passed"], self.all))
        self.assertEqual(got, [True] * len(self.right) + [False] * len(self.wrong))

    @unittest.skipIf(SANITIZED, "the library is not loaded")
    def test_a_forked_process_shares_a_grader(self):
        """What data loaders do; a thread may be judging while the process is forked."""
        with self.grader() as grader, concurrent.futures.ThreadPoolExecutor(1) as pool:
            judged = pool.submit(lambda: [grader.grade_many(self.right) for _ in range(20)])
            children = []
            for _ in range(4):
                child = os.fork()
                if child == 0:
                    try:
                        code = 0 if [r["passed"] for r in grader.grade_many(self.all)] == [True] * len(self.right) + [False] * len(self.wrong) else 1
                        grader.close()
                    except BaseException:
                        code = 2
                    os._exit(code)
                children.append(child)
            self.assertEqual([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children], [0] * 4)
            self.assertTrue(all(r["passed"] for batch in judged.result() for r in batch))

    def test_trl(self):
        trl = importlib.import_module("nestor_trl")
        rows = trl.dataset(self.rows)
        function = trl.make_reward(self.grader())
        # What GRPOTrainer passes: prompts, completions and their tokens, columns by name, its state.
        rewards = function(prompts=[r["prompt"] for r in rows] * 2,
                           completions=[[{"role": "assistant", "content": text}] for _, text in self.all],
                           completion_ids=[[1]] * len(self.all), task_id=[r["task_id"] for r in rows] * 2, trainer_state=None)
        self.assertEqual(rewards, [1.0] * len(self.right) + [0.0] * len(self.wrong))
        self.assertTrue(function.__name__)

    def test_verl(self):
        verl = importlib.import_module("nestor_verl")
        self.assertEqual(list(inspect.signature(verl.compute_score).parameters)[:4],
                         ["data_source", "solution_str", "ground_truth", "extra_info"])
        task, text = self.right[0]
        row = verl.rows(self.rows)[0]
        got = verl.compute_score(row["data_source"], text, row["reward_model"]["ground_truth"], row["extra_info"])
        self.assertEqual(got["score"], 1.0)
        self.assertEqual(verl.compute_score(data_source="nestor", solution_str="?", ground_truth=task)["score"], 0.0)
        batch = verl.compute_scores(data_sources=["nestor"] * 2, solution_strs=[text, "?"], ground_truths=[task] * 2,
                                    extra_infos=[None] * 2)
        self.assertEqual([b["score"] for b in batch], [1.0, 0.0])
        # Cut off is said where a finish reason comes along, and only there.
        cut = "<think>I begin to"
        self.assertEqual(verl.compute_score("nestor", cut, task, {"num_turns": 1})["outcome"], "no_answer")
        self.assertEqual(verl.compute_score("nestor", cut, task, {"finish_reason": "length"})["outcome"], "truncated")
        self.assertEqual(verl.compute_score("nestor", cut, task, finish_reason="length")["outcome"], "truncated")
        batch = verl.compute_scores(["nestor"] * 2, [cut] * 2, [task] * 2, [{"finish_reason": "length"}, {"finish_reason": "stop"}])
        self.assertEqual([b["outcome"] for b in batch], ["truncated", "no_answer"])

    def test_verifiers(self):
        made = {}
        vf = types.ModuleType("verifiers")
        vf.Rubric = lambda funcs, weights: made.update(funcs=funcs, weights=weights) or "rubric"
        vf.SingleTurnEnv = lambda **words: made.update(words) or "environment"
        datasets = types.ModuleType("datasets")
        datasets.Dataset = types.SimpleNamespace(from_list=lambda rows: rows)
        sys.modules.update(verifiers=vf, datasets=datasets)
        url = self.server.url if SANITIZED else None
        shim = importlib.import_module("nestor_verifiers")
        self.assertEqual(shim.load_environment(self.tasks, self.key, url=url, max_concurrent=4), "environment")
        self.assertEqual((made["rubric"], made["max_concurrent"], made["weights"]), ("rubric", 4, [1.0, 0.0]))
        row, state = made["dataset"][0], {}
        completion = [{"role": "assistant", "content": self.right[0][1]}]
        values = [asyncio.run(f(prompt=row["prompt"], completion=completion, answer="", state=state, info=row["info"], task="x"))
                  for f in made["funcs"]]
        self.assertEqual(values, [1.0, 1.0])
        for truncated, outcome in (True, "truncated"), (False, "no_answer"):
            state = {"is_truncated": truncated}
            value = asyncio.run(made["funcs"][0](completion=[{"role": "assistant", "content": "<think>I begin to"}], info=row["info"],
                                                 state=state))
            self.assertEqual((value, state["nestor"]["outcome"]), (0.0, outcome))

    def test_inspect(self):
        package = {name: types.ModuleType(name) for name in
                   ("inspect_ai", "inspect_ai.dataset", "inspect_ai.model", "inspect_ai.scorer", "inspect_ai.solver")}
        record = lambda kind: lambda *args, **words: types.SimpleNamespace(kind=kind, args=args, **words)  # noqa: E731
        package["inspect_ai"].Task, package["inspect_ai"].task = record("task"), lambda f: f
        package["inspect_ai.dataset"].MemoryDataset = lambda samples: samples
        package["inspect_ai.dataset"].Sample = record("sample")
        for name in ("ChatMessageAssistant", "ChatMessageSystem", "ChatMessageUser"):
            setattr(package["inspect_ai.model"], name, record(name))
        scorers = package["inspect_ai.scorer"]
        scorers.Score, scorers.Target = record("score"), object
        scorers.accuracy, scorers.stderr = (lambda: "accuracy"), (lambda cluster=None: "stderr")
        scorers.scorer = lambda metrics: lambda f: f
        package["inspect_ai.solver"].TaskState, package["inspect_ai.solver"].generate = object, (lambda: "generate")
        sys.modules.update(package)
        shim = importlib.import_module("nestor_inspect")
        task = shim.nestor(self.tasks, self.key, self.server.url if SANITIZED else None)
        sample = task.dataset[0]
        self.assertEqual(sample.id, self.rows[0]["task_id"])
        state = types.SimpleNamespace(metadata=sample.metadata,
                                      output=types.SimpleNamespace(completion=self.right[0][1], stop_reason="stop"))
        score = asyncio.run(task.scorer(state, types.SimpleNamespace(text=sample.target)))
        self.assertEqual((score.value, score.explanation), (1.0, "passed"))

    def test_lm_eval(self):
        shim = importlib.import_module("nestor_lm_eval")
        doc = self.rows[0]
        self.assertIn(doc["messages"][-1]["content"], shim.doc_to_text(doc))
        self.assertEqual(shim.process_results(doc, [self.right[0][1]]), {"nestor_pass": 1.0, "nestor_score": 1.0})
        for name in re.findall(r"!function nestor_lm_eval\.(\w+)", (SOURCE / "bench/python/nestor.yaml").read_text()):
            self.assertTrue(callable(getattr(shim, name)))


if __name__ == "__main__":
    unittest.main(verbosity=1)
