# ctest: revise
"""nestor bench revise against a scripted model whose rates of mending and spoiling are known, answer by answer."""
import json
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from client import NESTOR, Case  # noqa: E402
from server import Server, chat, refuse  # noqa: E402

ARMS = ("resample", "self", "compiler", "metrics", "counterexample")
MENDS = {"resample": 0.4, "self": 0.1, "compiler": 0.15, "metrics": 0.4, "counterexample": 0.7}
SPOILS = {"resample": 0.6, "self": 0.15, "compiler": 0.05, "metrics": 0.03, "counterexample": 0.0}
STEP = 1000000  # between the seeds of rounds


def arm_of(messages):
    """Which arm asks, by what it says; the answer it is about."""
    if messages[-1]["role"] != "user" or len(messages) < 4:
        return None, None
    said = messages[-1]["content"]
    words = {"Look at your answer": "self", "Your answer could be read": "compiler", "compared with the reference": "metrics",
             "Your answer is wrong": "counterexample", "No counterexample": "counterexample"}
    (arm,) = {arm for word, arm in words.items() if word in said}
    return arm, messages[-2]["content"]


class Model:
    """Right at first with 0.4; then by the rates. Every draw is a function of task, seed and arm, so that it can be done over."""

    def right(self, i, seed, arm, before):
        draw = random.Random(f"{i}/{seed}/{arm}").random()
        if arm == "resample":
            return draw < 0.4
        return draw >= SPOILS[arm] if before else draw < MENDS[arm]

    def __call__(self, request):
        arm, last = arm_of(request.body["messages"])
        i = int(request.task[1:])
        right = self.right(i, request.body["seed"], arm or "resample", last == f"answer: {'AB'[i % 2]}")
        return chat(f"answer: {'AB'[i % 2] if right else 'BA'[i % 2]}", usage=(10, 4))

    def expect(self, tasks, samples, rounds):
        """(arm, round) -> counts, by the same draws without a server."""
        out = {}
        for arm in ARMS:
            for i in range(tasks):
                for n in range(samples):
                    before = self.right(i, n, "resample", False)
                    for k in range(1, rounds + 1):
                        after = self.right(i, n + k * STEP, arm, before)
                        c = out.setdefault((arm, k), {"chains": 0, "passed": 0, "wrong_before": 0, "fixed": 0, "right_before": 0, "broken": 0})
                        c["chains"] += 1
                        c["passed"] += after
                        c["right_before" if before else "wrong_before"] += 1
                        c["fixed"] += after and not before
                        c["broken"] += before and not after
                        before = after
        return out


class Revisions(Case):
    verb = "revise"

    def rounds(self, server, tasks, key, *options, code=0):
        command = self.command(server, tasks, "--key", key, "--seed", 0, "--temperature", 0, "--format", "json", *options)
        done = subprocess.run(command, cwd=self.dir, env=self.environment(), capture_output=True, text=True, timeout=300)
        self.said = done.stderr
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.no_key()
        return {(r["arm"], r["round"]): r for r in map(json.loads, done.stdout.splitlines())}

    def same(self, got, expected):
        self.assertEqual(set(got), set(expected))
        for at, counts in expected.items():
            self.assertEqual({k: got[at][k] for k in counts}, counts, at)

    def test_progress_is_of_the_round(self):
        tasks, key = self.files(8)
        model, nth = Model(), [0]

        def script(r):
            nth[0] += 1
            return refuse(429, "slow down", headers={"Retry-After": "2"}) if nth[0] in (6, 30, 70) else model(r)
        with Server(script) as server:
            self.rounds(server, tasks, key, "--samples", 2, "--rounds", 2, "--concurrency", 1)
        told = re.findall(r"(\d+) of (\d+) (answers|revisions in round \d) \((\d+) %", self.said)
        self.assertGreaterEqual(len(told), 2, self.said)
        for done, of, what, percent in told:
            self.assertLessEqual(int(done), int(of), self.said)
            self.assertLessEqual(int(percent), 100)
            self.assertEqual(int(of), 16 if what == "answers" else 80)
        self.assertRegex(self.said, r"16 of 16 answers, 16 new, and 160 new revisions, by \d+ requests; ")
        self.assertRegex(self.said, r", put off 1 time \(429\)")

    def test_rates_are_those_of_the_model(self):
        tasks, key = self.files(40)
        model = Model()
        expected = model.expect(40, 3, 3)
        # The script has the rates it is meant to have.
        for arm in ("self", "metrics", "counterexample"):
            fixed, wrong = (sum(expected[arm, k][name] for k in (1, 2, 3)) for name in ("fixed", "wrong_before"))
            self.assertAlmostEqual(fixed / wrong, MENDS[arm], delta=0.15)
        with Server(model) as server:
            got = self.rounds(server, tasks, key, "--samples", 3, "--rounds", 3, "--quiet")
            self.same(got, expected)
            self.assertEqual(self.said, "")
            for at, r in got.items():
                self.assertEqual((r["missing"], r["tokens_out"]), (0, 4 * 120))
                self.assertAlmostEqual(r["gain"], 100 * (r["fixed"] - r["broken"]) / 120)
            # Equal budget: one request for each chain, arm and round.
            self.assertEqual(len(server.requests), 120 + 5 * 3 * 120)
            before = self.run_file.read_bytes()
            self.same(self.rounds(server, tasks, key, "--samples", 3, "--rounds", 3), expected)
            self.assertEqual(len(server.requests), 120 + 5 * 3 * 120)
            self.assertEqual(self.run_file.read_bytes(), before)
            # More rounds go on from there.
            self.same(self.rounds(server, tasks, key, "--samples", 3, "--rounds", 4), model.expect(40, 3, 4))
            self.assertEqual(len(server.requests), 120 + 5 * 4 * 120)
        samples = self.samples()
        sample = samples["t1", "2.metrics.3"]
        self.assertEqual((sample["parent_sample_id"], sample["arm"], sample["round"]), ("2.metrics.2", "metrics", 3))
        self.assertEqual(samples["t1", "2.self.1"]["parent_sample_id"], "2")

    def test_what_each_arm_says(self):
        tasks, key = self.files(1)
        with Server(lambda r: chat("answer: B")) as server:  # A is right
            self.rounds(server, tasks, key, "--rounds", 1)
            said = {}
            for r in server.requests[1:]:
                arm, last = arm_of(r.body["messages"])
                said[arm] = r.last()
                if arm:
                    self.assertEqual(last, "answer: B")
                    self.assertEqual(r.body["messages"][:-2], server.requests[0].body["messages"])
            self.assertEqual(len(server.requests), 6)
        self.assertEqual(said[None], "Question T0?")
        self.assertIn("could be read", said["compiler"])
        self.assertIn("does not pass", said["metrics"])
        for arm in ("self", "compiler"):  # no word on whether it is right
            self.assertNotRegex(said[arm], r"passes|not pass|answer is wrong")
        for arm in said:
            if arm:
                self.assertIn("whole final answer again", said[arm])
        self.run_file.unlink()
        with Server(lambda r: chat("answer: A" if len(r.body["messages"]) < 3 or "No counterexample" in r.last() else "nothing of use")) as server:
            got = self.rounds(server, tasks, key, "--rounds", 1)
        self.assertEqual(got["counterexample", 1]["broken"], 0)
        self.assertEqual(got["self", 1]["broken"], 1)
        self.run_file.unlink()
        with Server(lambda r: chat("" if len(r.body["messages"]) < 3 else "answer: A")) as server:
            got = self.rounds(server, tasks, key, "--rounds", 1)
            revisions = [r.body["messages"] for r in server.requests if len(r.body["messages"]) > 3]
        self.assertTrue(all(m[-2]["content"] == "(no answer)" for m in revisions))
        self.assertEqual(sum("no_answer" in m[-1]["content"] for m in revisions), 3)
        self.assertEqual(got["metrics", 1]["fixed"], 1)

    def test_arms_and_rounds_can_be_chosen(self):
        tasks, key = self.files(3)
        with Server(Model()) as server:
            got = self.rounds(server, tasks, key, "--arms", "self,metrics", "--rounds", 2)
            self.assertEqual(set(got), {(a, k) for a in ("self", "metrics") for k in (1, 2)})
            self.assertEqual(len(server.requests), 3 + 2 * 2 * 3)
            for wrong in (["--arms", "self,other"], ["--arms", ","], ["--rounds", 0], ["--format", "x"]):
                self.rounds(server, tasks, key, *wrong, code=2)
            self.run_it(server, tasks, code=2)
            self.assertIn("--key is needed", self.said)
            self.rounds(server, tasks, self.dir / "sk-no-such-key", code=3)
            self.assertNotIn("sk-no-such-key", self.said)
            (self.dir / "less.jsonl").write_text(key.read_text().splitlines()[0] + "\n")
            self.rounds(server, tasks, self.dir / "less.jsonl", code=3)
            self.assertIn("no answer to task t1", self.said)
            self.assertEqual(len(server.requests), 3 + 2 * 2 * 3)
            text = subprocess.run(self.command(server, tasks, "--key", key, "--seed", 0, "--temperature", 0, "--arms", "self", "--rounds", 2, "--quiet"), cwd=self.dir,
                                  env=self.environment(), capture_output=True, text=True)
            lines = text.stdout.splitlines()
            self.assertEqual(len(lines), 3, text.stderr)
            self.assertRegex(lines[0], r"tokens in +tokens out +missing$")
            self.assertRegex(lines[1], rf" {got['self', 1]['tokens_in']} +{got['self', 1]['tokens_out']} +0$")
            self.assertGreater(got["self", 1]["tokens_in"], got["self", 1]["tokens_out"])
            self.assertIn(f"{got['self', 1]['fixed']} of {got['self', 1]['wrong_before']}" if got["self", 1]["wrong_before"] else "-", lines[1])

    def test_killed_it_goes_on(self):
        tasks, key = self.files(10)
        model = Model()
        pick = random.Random(7)

        def script(request):
            reply = model(request)
            reply.seconds = 0.005
            return reply
        options = ("--samples", 2, "--rounds", 3)
        with Server(script) as server:
            for _ in range(8):
                child = subprocess.Popen(self.command(server, tasks, "--key", key, "--seed", 0, "--temperature", 0, "--quiet", *options), cwd=self.dir, env=self.environment(),
                                         stdout=subprocess.DEVNULL)
                at = len(server.requests) + pick.randrange(1, 35)
                while len(server.requests) < at and child.poll() is None:
                    time.sleep(0.001)
                child.send_signal(signal.SIGKILL)
                child.wait()
            self.same(self.rounds(server, tasks, key, *options), model.expect(10, 2, 3))
            self.assertLessEqual(len(server.requests), 20 + 5 * 3 * 20 + 8 * 16)

    def test_chains_wait_for_answers_that_failed(self):
        tasks, key = self.files(4)
        model, broken = Model(), [True]

        def script(request):
            arm, _ = arm_of(request.body["messages"])
            if broken[0] and (request.task == "T1" and arm is None and request.body["seed"] == 0 or request.task == "T2" and arm == "self"):
                return refuse(500, "no")
            return model(request)
        with Server(script) as server:
            got = self.rounds(server, tasks, key, "--rounds", 2, "--attempts", 1, code=4)
            self.assertEqual({a: got[a, 2]["missing"] for a in ARMS}, {a: 1 + (a == "self") for a in ARMS})
            self.assertRegex(self.said, r"1 answer never came .*\n.*1 of them: .*no\n(.*\n)*.*1 revision never came .*\n.*1 of them: ")
            broken[0] = False
            self.same(self.rounds(server, tasks, key, "--rounds", 2), model.expect(4, 1, 2))

    def test_a_part_of_the_tasks_is_told_of(self):
        tasks, key = self.files(6)
        with Server(Model()) as server:
            self.verb = "run"
            self.run_it(server, tasks, "--seed", 0, "--temperature", 0, "--key", key)
            self.verb = "revise"
            self.rounds(server, tasks, key, "--rounds", 1, "--arms", "self", "--limit", 2)
            self.assertRegex(self.said, r"2 of 2 answers \(and 4 of tasks that are not asked now\), 0 new, and 2 new revisions, by 2 requests;")
            note = "m: only 2 of 6 tasks were revised"
            self.assertIn(note, self.bench("report", self.run_file))
            self.rounds(server, tasks, key, "--rounds", 1, "--arms", "self")
            self.assertNotIn(note[:6], self.bench("report", self.run_file))

    def test_what_there_is_nothing_of_is_no_zero(self):
        tasks, key = self.files(2)

        def script(request):
            return refuse(500, "no") if arm_of(request.body["messages"])[0] == "self" else chat("answer: A")
        options = ("--rounds", 1, "--attempts", 1, "--arms", "self,resample")
        with Server(script) as server:
            got = self.rounds(server, tasks, key, *options, code=4)
            self.assertIsNone(got["self", 1]["gain"])
            self.assertEqual(got["resample", 1]["gain"], 0)
            self.assertRegex(self.said, r"out, cost -\n")
            text = subprocess.run(self.command(server, tasks, "--key", key, "--seed", 0, "--temperature", 0, *options), cwd=self.dir, env=self.environment(),
                                  capture_output=True, text=True).stdout
            self.assertRegex(text, r"(?m)^self +1 +- +- +- +- +0 +0 +2$")

    def test_a_run_is_revised_without_asking_it_again_and_reported_without_its_revisions(self):
        tasks, key = self.files(6)
        with Server(Model()) as server:
            self.verb = "run"
            self.run_it(server, tasks, "--seed", 0, "--temperature", 0, "--samples", 2, "--key", key, "--price-in", 1, "--price-out", 2)
            self.assertEqual(len(server.requests), 12)
            self.verb = "revise"
            self.rounds(server, tasks, key, "--samples", 2, "--rounds", 1)
            self.assertEqual(len(server.requests), 12 + 5 * 12)
        with sqlite3.connect(self.run_file) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM result").fetchone(), (72,))
            self.assertEqual(db.execute("SELECT count(*) FROM sample WHERE parent IS NULL").fetchone(), (12,))
            lines = [text for (text,) in db.execute("SELECT json FROM sample ORDER BY task_id, sample_id")]
        # Published as lines, results alone say which are revisions.
        (self.dir / "samples.jsonl").write_text("".join(line + "\n" for line in lines))
        results = self.dir / "results.jsonl"
        results.write_text(self.bench("grade", "samples.jsonl", "--tasks", tasks, "--key", key))
        graded = [json.loads(line) for line in results.read_text().splitlines()]
        self.assertEqual(sum("parent_sample_id" in r for r in graded), 60)
        self.assertEqual({r["arm"] for r in graded if "parent_sample_id" in r}, set(ARMS))
        (whole,) = json.loads(self.bench("report", self.run_file, "--format", "json"))["models"]
        (alone,) = json.loads(self.bench("report", "results.jsonl", "--tasks", tasks, "--format", "json"))["models"]
        self.assertEqual(whole["samples"], 12)
        for member, n in ("tokens", 12), ("tokens_of_revisions", 60):
            self.assertEqual((whole[member]["samples"], whole[member]["prompt"], whole[member]["completion"]), (n, 10 * n, 4 * n))
            self.assertAlmostEqual(whole[member]["cost"], 18e-6 * n)  # at 1 a million in, 2 out
        text = self.bench("report", self.run_file)
        self.assertRegex(text, rf"(?m)^ +m +first answers +120 +48 +0 +4\.0 +0\.0002 +{216e-6 / whole['outcomes']['passed']:.4f} +12$")
        self.assertRegex(text, r"(?m)^ +m +revisions +600 +240 +0 +4\.0 +0\.0011 +- +60$")
        for member in ("samples", "pass_at_1", "score", "outcomes", "rounds", "pass_at_k"):
            self.assertEqual(alone[member], whole[member], member)

    def bench(self, verb, *args):
        done = subprocess.run([NESTOR, "bench", verb, *map(str, args)], cwd=self.dir, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)
