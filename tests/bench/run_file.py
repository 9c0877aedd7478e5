# ctest: run_file
"""The run file of nestor bench run over its life: gone on with after kills and interruptions, on a full disk, damaged, judged later, reported."""
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from client import KEY, NESTOR, Case, task  # noqa: E402
from server import Reply, Server, chat, refuse  # noqa: E402


class RunFiles(Case):
    # ---- going on

    def test_nothing_left_to_do_changes_nothing(self):  # H07
        with Server(lambda r: chat(f"x{r.nth}")) as server:
            self.run_it(server, self.tasks(5), "--samples", 2)
            before = self.run_file.read_bytes()
            self.run_it(server, self.tasks(5), "--samples", 2)
            self.assertIn("nothing to ask", self.said)
            self.assertEqual(self.run_file.read_bytes(), before)
            self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["m.run", "tasks.jsonl"])
            self.assertEqual(len(server.requests), 10)
            self.assertEqual(self.run_it(server, self.tasks(5), "--samples", 2, "--quiet"), "")
            self.run_it(server, self.tasks(5), "--samples", 3)
            self.assertEqual(len(server.requests), 15)
            self.run_it(server, self.tasks(5), "--samples", 2, code=2)
            self.assertIn("has 3 samples of each task, now 2: it may grow, not shrink; --samples 3 or more, or another --run FILE", self.said)

    def test_other_settings_are_refused_by_name(self):  # H06
        base = {"--temperature": "0.5", "--max-tokens": "10", "--system": "S", "--seed": "1"}

        def options(**change):
            both = {**base, **{"--" + k.replace("_", "-"): v for k, v in change.items()}}
            return [x for k, v in both.items() if v is not None for x in (k, v)]
        with Server(lambda r: chat("x")) as server, Server(lambda r: chat("x")) as other:
            self.run_it(server, self.tasks(2), *options())
            n = len(server.requests)
            self.run_it(server.url + "/", self.tasks(2), *options())
            self.run_file = self.dir / "extra.run"
            self.run_it(server, self.tasks(2), "--extra", '{"a": 1, "b": {"c": 2, "d": 3}}')
            self.run_it(server, self.tasks(2), "--extra", '{"b": {"d": 3, "c": 2}, "a": 1}')
            self.assertIn("nothing to ask", self.said)
            self.run_file = self.dir / "m.run"
            n += 2
            self.assertEqual(len(server.requests), n)
            for word, changed in (("model", options(model="b")), ("temperature", options(temperature="0.6")), ("max-tokens", options(max_tokens="11")),
                                  ("system", options(system="T")), ("seed", options(seed=None)), ("top-p", options(top_p="0.5")),
                                  ("extra", options(extra='{"a":1}')), ("omit", options(omit="seed")), ("grammar", options(grammar="vllm"))):
                self.run_it(server, self.tasks(2), *changed, code=2)
                self.assertIn(f"another {word}:", self.said)
            self.run_it(other, self.tasks(2), *options(), code=2)
            self.assertIn("another base-url", self.said)
            self.run_it(server, self.tasks(3), *options(), code=2)
            self.assertIn("another set of tasks", self.said)
            self.assertEqual(len(server.requests), n)
            self.run_file = self.dir / "b.run"
            self.run_it(server, self.tasks(2), *options(model="b"))
            self.assertEqual(len(server.requests), n + 2)

    def test_a_price_may_change(self):
        with Server(lambda r: chat("answer: A", usage=(1000, 10))) as server:
            tasks, key = self.files(2)

            def costs(*options, **more):
                self.run_it(server, tasks, "--key", key, *options, **more)
                return {round(s.get("cost", -1), 9) for s in self.samples().values()}
            self.assertEqual(costs(), {-1})
            self.assertEqual(costs("--price-in", 2), {0.002})  # of what was there
            before = self.run_file.read_bytes()
            self.assertEqual(costs(), {0.002})  # not given: that of the file
            self.assertEqual(self.run_file.read_bytes(), before)
            self.assertEqual(costs("--price-out", 100), {0.003})  # the other one stays
            self.assertEqual(costs("--samples", 2), {0.003})
            self.assertEqual(len(server.requests), 4)
            self.assertEqual(len(self.results()), 4)

    def test_of_the_first_tasks_is_said_what_is_of_them(self):
        with Server(lambda r: chat("answer: A")) as server:
            self.run_it(server, self.tasks(20), "--samples", 3)
            self.run_it(server, self.tasks(20), "--samples", 3, "--limit", 5)
            self.assertEqual(len(server.requests), 60)
        self.assertIn("15 of 15 answers (and 45 of tasks that are not asked now), 0 new", self.said)

    def test_a_sample_says_when_and_by_whom(self):
        reply = json.loads(chat("answer: A").body)
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.one(Reply({**reply, "system_fingerprint": "b4567-abc"}))
        sample = self.only()
        self.assertEqual((sample["served_model"], sample["system_fingerprint"]), ("served-model", "b4567-abc"))
        self.assertTrue(before <= sample["answered_at"] <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), sample)

    def test_a_run_of_500_killed_20_times(self):
        pick = random.Random(20)

        def script(r):
            reply = chat(f"answer {r.task} {r.body['seed']}")
            reply.seconds = pick.random() * 0.02
            return reply
        tasks = self.tasks(100)
        kills = 0
        with Server(script) as server:
            options = ("--samples", 5, "--seed", 0, "--concurrency", 6, "--quiet")
            while kills < 20:
                child = subprocess.Popen(self.command(server, tasks, *options), cwd=self.dir, env=self.environment(), stderr=subprocess.PIPE)
                started = len(server.requests)
                wait = pick.randrange(1, 16)  # until that many requests came, at most
                deadline = time.monotonic() + 20
                while len(server.requests) - started < wait and child.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.001)
                time.sleep(pick.random() * 0.01)
                if child.poll() is not None:
                    self.fail(child.stderr.read())
                child.send_signal(signal.SIGKILL)
                child.wait()
                child.stderr.close()
                kills += 1
            self.run_it(server, tasks, *options)
            samples = self.samples()
            self.assertEqual(len(samples), 500)
            for (task_id, sample_id), sample in samples.items():
                self.assertEqual(sample["completion"], f"answer {task_id.upper()} {sample_id}")
            asked = {}
            for r in server.requests:
                asked[r.task, r.body["seed"]] = asked.get((r.task, r.body["seed"]), 0) + 1
            self.assertEqual(len(asked), 500)
            print(f"500 answers, killed {kills} times: {len(server.requests)} requests", flush=True)
            # Only what was under way at a kill is asked for again.
            self.assertLessEqual(len(server.requests), 500 + 6 * kills)
            self.assertLessEqual(max(asked.values()), 1 + kills)
            before = len(server.requests)
            self.run_it(server, tasks, *options)
            self.assertEqual(len(server.requests), before)

    def test_one_kill_asks_each_request_at_most_once_more(self):
        def script(r):
            reply = chat(f"{r.task}")
            reply.seconds = 0.01
            return reply
        tasks = self.tasks(500)
        with Server(script) as server:
            child = subprocess.Popen(self.command(server, tasks, "--quiet"), cwd=self.dir, env=self.environment())
            while len(server.requests) < 250:
                time.sleep(0.001)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.run_it(server, tasks, "--quiet")
        self.assertEqual(len(self.samples()), 500)
        self.assertLessEqual(max(server.counts.values()), 2)
        self.assertLessEqual(len(server.requests), 500 + 16)

    def test_interrupted_it_keeps_what_came_and_goes_on(self):
        def script(r):
            reply = chat(r.task)
            reply.seconds = 0.3 if int(r.task[1:]) >= 20 else 0
            return reply
        tasks = self.tasks(60)
        with Server(script) as server:
            child = subprocess.Popen(self.command(server, tasks), cwd=self.dir, env=self.environment(), stderr=subprocess.PIPE, text=True)
            while len(server.requests) < 30:
                time.sleep(0.001)
            child.send_signal(signal.SIGINT)
            said = child.communicate()[1]
            self.assertEqual(child.returncode, 4, said)
            self.assertIn("stopping", said)
            self.assertEqual(len(self.samples()), len(server.requests))  # what was under way came
            self.run_it(server, tasks)
        self.assertEqual(len(server.requests), 60)
        self.assertEqual(len(self.samples()), 60)
        self.run_file.unlink()
        tasks, key = self.files(60)  # a terminal's Ctrl-C reaches the workers of the grader too
        with Server(lambda r: script(r) and chat("answer: " + "AB"[int(r.task[1:]) % 2])) as server:
            child = subprocess.Popen(self.command(server, tasks, "--key", key, "--concurrency", 2), cwd=self.dir, env=self.environment(), stderr=subprocess.PIPE,
                                     text=True, start_new_session=True)
            while len(server.requests) < 30:
                time.sleep(0.001)
            os.killpg(child.pid, signal.SIGINT)
            said = child.communicate()[1]
            self.assertEqual(child.returncode, 4, said)
            self.assertEqual(set(self.results()), set(self.samples()))
            self.assertEqual({r["outcome"] for r in self.results().values()}, {"passed"})
        self.run_file.unlink()
        tasks = self.tasks(60)
        with Server(lambda r: Reply(fault="hang", seconds=30)) as server:
            child = subprocess.Popen(self.command(server, tasks), cwd=self.dir, env=self.environment(), stderr=subprocess.PIPE, text=True)
            while not server.requests:
                time.sleep(0.001)
            child.send_signal(signal.SIGTERM)
            self.assertIn("stopping", child.stderr.readline())
            child.send_signal(signal.SIGTERM)
            child.communicate()
            self.assertEqual(child.returncode, 4)

    def test_two_commands_on_one_file(self):
        def script(r):
            reply = chat("x")
            reply.seconds = 3
            return reply
        with Server(script) as server:
            child = subprocess.Popen(self.command(server, self.tasks(1)), cwd=self.dir, env=self.environment(), stderr=subprocess.DEVNULL)
            while not server.requests:
                time.sleep(0.001)
            self.run_it(server, self.tasks(1), code=3)
            self.assertIn("in use by another process", self.said)
            self.assertEqual(child.wait(), 0)
        self.assertEqual(len(server.requests), 1)

    def test_a_disk_that_is_full_loses_nothing_that_is_there(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (400000, 400000))
        tasks = self.tasks(60)
        with Server(lambda r: chat(r.task + " " + "x" * 20000)) as server:
            done = subprocess.run(self.command(server, tasks), cwd=self.dir, env=self.environment(), capture_output=True, text=True, preexec_fn=small)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("file size limit", done.stderr)
            there = len(self.samples())
            self.assertGreater(there, 0)
            asked = len(server.requests)
            self.run_it(server, tasks)
            self.assertEqual(len(self.samples()), 60)
            self.assertEqual(len(server.requests), asked + 60 - there)

    def test_a_damaged_run_file_is_refused_and_left(self):
        """By every command that opens one: what is wrong with it, what to do, no request, no byte written."""
        tasks, key = self.files(60)
        with Server(lambda r: chat(r.task + "x" * 5000)) as server:
            self.run_it(server, tasks, "--key", key)
            whole, asked = self.run_file.read_bytes(), len(server.requests)
            middle = len(whole) // 2 // 4096 * 4096
            for damaged in (whole[:4096], whole[:middle], whole[:4096] + bytes(255 if i % 97 == 0 else b for i, b in enumerate(whole[4096:])),
                            whole[:middle] + bytes(8192) + whole[middle + 8192:]):
                self.run_file.write_bytes(damaged)
                for self.verb in ("run", "revise"):
                    self.run_it(server, tasks, "--key", key, *(["--arms", "self"] if self.verb == "revise" else []), code=3)
                    self.assertEqual(self.said.splitlines()[0].count(str(self.run_file)), 1, self.said)
                    self.assertRegex(self.said, "is damaged.*give another file")
                done = subprocess.run([NESTOR, "bench", "report", self.run_file], capture_output=True, text=True)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, f"{self.run_file}.*damaged")
                self.assertEqual(self.run_file.read_bytes(), damaged)
                self.assertEqual(sorted(p.name for p in self.dir.glob("m.run*")), ["m.run"])
            self.verb = "run"
            self.assertEqual(len(server.requests), asked)
            if shutil.which("sqlite3"):  # the last of the damaged ones, saved as docs/bench-run.md says
                text = (pathlib.Path(__file__).parents[2] / "docs" / "bench-run.md").read_text()
                (script,) = [x for x in text.split("```") if x.startswith("sh\n(echo")]
                shutil.copy(self.run_file, self.dir / "qwen.run")
                subprocess.run(script[3:], shell=True, check=True, cwd=self.dir, capture_output=True)
                damaged, self.run_file = self.run_file, self.dir / "saved.run"
                there = len(self.samples())
                self.assertGreater(there, 30)
                self.run_it(server, tasks, "--key", key)
                self.assertEqual((len(server.requests), len(self.samples())), (asked + 60 - there, 60))
                self.run_file, asked = damaged, len(server.requests)
            self.run_file.write_bytes(whole)
            self.run_it(server, tasks, "--key", key)
            self.assertEqual(len(server.requests), asked)

    def test_a_disk_that_is_full_at_any_moment_is_told(self):
        tasks = self.tasks(5)
        with Server(lambda r: chat(r.task)) as server:
            for size in range(8192, 160000, 8192):
                self.run_file = self.dir / f"{size}.run"
                done = subprocess.run(self.command(server, tasks), cwd=self.dir, env=self.environment(), capture_output=True, text=True,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
                self.assertIn(done.returncode, (0, 3), done.stderr)
                for line in done.stderr.splitlines():
                    self.assertLessEqual(line.count(f"{size}.run"), 1, line)

    # ---- judging

    def test_answers_are_judged_at_the_end_or_later(self):  # H07
        tasks, key = self.files(4)
        with Server(lambda r: refuse(500, "no") if r.task == "T3" else chat("answer: A")) as server:
            self.run_it(server, tasks, "--samples", 2, "--attempts", 1, code=4)
            self.assertEqual(self.results(), {})
            n = len(server.requests)
            server.script = lambda r: chat("answer: A")
            self.run_it(server, tasks, "--samples", 2, "--key", key)
            self.assertEqual(len(server.requests), n + 2)
            outcomes = {at: r["outcome"] for at, r in self.results().items()}
            self.assertEqual(outcomes, {(f"t{i}", str(k)): "wrong" if i % 2 else "passed" for i in range(4) for k in range(2)})
            before = self.run_file.read_bytes()
            self.run_it(server, tasks, "--samples", 2, "--key", key)
            self.assertEqual((len(server.requests), self.run_file.read_bytes()), (n + 2, before))
            self.run_it(server, tasks, "--samples", 2, "--key", KEY, code=3)  # the wrong key

    def report(self, *args):
        done = subprocess.run([NESTOR, "bench", "report", *map(str, args), "--format", "json"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_run_that_is_judged_and_reported_again_is_the_same(self):  # docs/bench-report.md, "Publishing a score"
        tasks, key = self.files(6)
        with Server(lambda r: chat("answer: A" if r.body["seed"] % 2 else "answer: B")) as server:
            self.run_it(server, tasks, "--key", key, "--samples", 3, "--temperature", 0.5, "--seed", 4, "--price-in", 3)
        samples, results = self.dir / "samples.jsonl", self.dir / "results.jsonl"
        with sqlite3.connect(f"file:{self.run_file}?mode=ro", uri=True) as db:
            samples.write_text("".join(row[0] + "\n" for row in db.execute("SELECT json FROM sample ORDER BY task_id, sample_id")))
        with open(results, "wb") as out:
            subprocess.run([NESTOR, "bench", "grade", samples, "--tasks", tasks, "--key", key], check=True, stdout=out, stderr=subprocess.DEVNULL)
        theirs, again = self.report(self.run_file), self.report(results, "--tasks", tasks, "--samples", samples)
        self.assertEqual(json.dumps(theirs["models"]), json.dumps(again["models"]))
        self.assertEqual(theirs, self.report(self.run_file))
        facts, same = theirs["files"][0]["facts"], again["files"][0]["facts"]
        lost = {"tool", "build", "dialect", "base_url", "price", "grammar"}
        self.assertEqual({k: v for k, v in facts.items() if k not in lost}, {k: v for k, v in same.items() if k not in lost})
        self.assertEqual({k for k in lost if same[k]}, set())
        self.assertRegex(facts["build"], "^[0-9a-f]{64}$")
        self.assertEqual((facts["suite"], facts["served"]), ("test", "served-model"))
        self.assertTrue(facts["first_answer"] <= facts["last_answer"])
        canonical = "".join(json.dumps(json.loads(line), separators=(",", ":")) + "\n" for line in tasks.read_text().splitlines())
        self.assertEqual(facts["tasks_hash"], hashlib.sha256(canonical.encode()).hexdigest())
        self.assertEqual(facts["system_hash"], hashlib.sha256(b"Be short.").hexdigest())

    def test_the_first_tasks_are_not_the_suite(self):
        tasks, key = self.files(6)
        with Server(lambda r: chat("answer: A")) as server:
            self.run_it(server, tasks, "--key", key, "--limit", 2)
            part = self.report(self.run_file)["files"][0]
            self.run_it(server, tasks, "--key", key)
        whole = self.report(self.run_file)["files"][0]
        self.assertEqual((part["tasks"], part["tasks_total"], part["part"]), (2, 6, True))
        self.assertEqual((whole["tasks"], whole["tasks_total"], whole["part"]), (6, 6, False))
        canonical = "".join(json.dumps(json.loads(line), separators=(",", ":")) + "\n" for line in tasks.read_text().splitlines()[:2])
        self.assertEqual(part["facts"]["tasks_hash"], hashlib.sha256(canonical.encode()).hexdigest())

    def test_refusals_are_counted_as_they_are_judged(self):
        tasks, key = self.files(6)
        with Server(lambda r: chat("I'm sorry, but I cannot help with that." if r.task in ("T1", "T4") else "answer: A")) as server:
            self.run_it(server, tasks, "--key", key)
        self.assertEqual(sum(r["outcome"] == "refused" for r in self.results().values()), 2)
        self.assertIn("; 2 refused, 0 cut", self.said)

    def test_a_model_that_knows_the_answers_passes_tasks_of_all_kinds(self):
        tasks, key = self.dir / "tasks.jsonl", self.dir / "key.jsonl"
        subprocess.run([NESTOR, "bench", "gen", "--seed", "5", "--count", "16", "--levels", "1-2", "--quick", "-o", tasks, "--key", key], check=True, cwd=self.dir,
                       stderr=subprocess.DEVNULL, env=self.environment())
        answers = {k["task_id"]: k["answer"] for k in map(json.loads, key.read_text().splitlines())}
        known = {t["messages"][-1]["content"]: answers[t["task_id"]] for t in map(json.loads, tasks.read_text().splitlines())}
        with Server(lambda r: chat(f"<think>hm</think>{known[r.last()]}")) as server:
            self.run_it(server, tasks, "--key", key)
        self.assertEqual({at[0]: r["outcome"] for at, r in self.results().items()}, {t: "passed" for t in answers})
        self.assertEqual(len(server.requests), 16)
        said = subprocess.run([NESTOR, "bench", "report", self.run_file], capture_output=True, text=True, env=self.environment()).stdout
        self.assertRegex(said, r"\n  m +1\.000 ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
