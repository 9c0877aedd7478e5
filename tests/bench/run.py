# ctest: run
"""nestor bench run against a server on loopback that has the faults of real ones (server.py)."""
import email.utils
import fcntl
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import sqlite3
import ssl
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from client import KEY, NESTOR, Case, task  # noqa: E402
from server import Reply, Server, chat, claude, refuse  # noqa: E402


def limited(headers):
    return refuse(429, "slow down", headers=headers)


class Runs(Case):
    # ---- judging again

    def test_what_another_grader_has_judged_is_judged_again(self):
        tasks, key = self.files(4)
        with Server(lambda r: chat("answer: A")) as server:
            self.run_it(server, tasks, "--samples", 2, "--key", key)
            first = self.results()
            self.assertEqual(sum(r["passed"] for r in first.values()), 4)
            ours = first["t1", "0"]["grader_version"]
            version, rules, grader = ours.split("/")
            changes = {("t0", "0"): {"grader_version": f"{version}/{rules}/{int(grader) - 1}", "passed": False, "outcome": "wrong", "score": 0.0},
                       ("t0", "1"): {"passed": False, "outcome": "wrong", "score": 0.0},  # ours: it stays as it is
                       ("t1", "0"): {"grader_version": f"0.0.9/{rules}/{grader}", "passed": True, "outcome": "passed", "score": 1.0},
                       ("t2", "0"): {"content_hash": "of another task", "passed": False, "outcome": "wrong", "score": 0.0}}
            with sqlite3.connect(self.run_file) as db:
                for (task_id, sample_id), change in changes.items():
                    db.execute("UPDATE result SET json = ? WHERE task_id = ? AND sample_id = ?", (json.dumps({**first[task_id, sample_id], **change}), task_id, sample_id))
            self.run_it(server, tasks, "--samples", 2, "--key", key)
            self.assertIn("nothing to ask", self.said)
        self.assertEqual(len(server.requests), 8)
        again = self.results()
        self.assertEqual({k for k in again if again[k] != first[k]}, {("t0", "1")})

    # ---- bodies and samples

    def test_a_request_has_what_was_asked_for(self):
        with Server(lambda r: chat("answer: A")) as server:
            self.run_it(server, self.tasks(2), "--samples", 3, "--temperature", 0.7, "--top-p", "0.9", "--max-tokens", 50, "--seed", 10, "--system", "Rules.",
                        "--extra", '{"reasoning_effort":"low"}', "--price-in", 2, "--price-out", 10)
        self.assertEqual(len(server.requests), 6)
        first = server.requests[0]
        self.assertEqual(first.path, "/v1/chat/completions")
        self.assertEqual(first.headers["Authorization"], f"Bearer {KEY}")
        self.assertEqual(first.body, {"model": "m", "messages": [{"role": "system", "content": "Rules.\n\nBe short."}, {"role": "user", "content": "Question T0?"}],
                                      "max_tokens": 50, "temperature": 0.7, "top_p": 0.9, "seed": 10, "reasoning_effort": "low"})
        self.assertIn(b'"temperature":0.7,', first.raw)
        self.assertEqual(sorted(r.body["seed"] for r in server.requests), [10, 10, 11, 11, 12, 12])
        sample = self.samples()["t1", "2"]
        self.assertEqual(sample["completion"], "answer: A")
        self.assertEqual(sample["finish_reason"], "stop")
        self.assertEqual(sample["usage"], {"input_tokens": 7, "output_tokens": 3})
        self.assertAlmostEqual(sample["cost"], (7 * 2 + 3 * 10) / 1e6)
        self.assertEqual(sample["sampling"]["seed"], 12)
        self.assertEqual((sample["model"], sample["served_model"]), ("m", "served-model"))
        self.assertEqual(len({s["request_hash"] for s in self.samples().values()}), 6)
        self.assertNotIn("same to the byte", self.said)  # choices are alike by nature

    def test_alike_programs_are_told_of_once(self):  # H06
        for answer in "program", "model":
            self.run_file = self.dir / f"{answer}.run"
            with Server(lambda r: chat("workload w {}")) as server:
                self.run_it(server, self.tasks(3, answer=answer), "--samples", 2)
                self.assertEqual(self.said.count("at 3 of 3 tasks all answers are the same to the byte (task t0 is one)"), 1, self.said)
                self.run_it(server, self.tasks(3, answer=answer), "--samples", 2)
                self.assertNotIn("same to the byte", self.said)

    def test_few_tasks_that_are_alike_are_no_news(self):
        with Server(lambda r: chat("workload w {}")) as server:
            self.run_it(server, self.tasks(2, answer="program"), "--samples", 2)  # two tasks tell nothing
        self.assertNotIn("same to the byte", self.said)
        self.assertRegex(self.said, r"4 of 4 answers, 4 new by 4 requests")

    def test_of_answers_that_are_judged_those_that_do_not_pass_count(self):
        tasks, key = self.dir / "tasks.jsonl", self.dir / "key.jsonl"
        subprocess.run([NESTOR, "bench", "gen", "--kinds", "gen.workload", "--levels", "1", "-n", "4", "--quick", "--quiet", "-o", tasks, "--key", key], check=True)
        ids = [json.loads(line)["task_id"] for line in tasks.read_text().splitlines()]
        answers = {json.loads(line)["task_id"]: json.loads(line)["answer"] for line in key.read_text().splitlines()}
        asked = {json.loads(line)["messages"][-1]["content"]: answers[name] for name, line in zip(ids, tasks.read_text().splitlines())}
        self.assertEqual(len(asked), 4)
        for right in True, False:
            self.run_file = self.dir / f"{right}.run"
            with Server(lambda r: chat(asked[r.last()] if right else "workload w {}")) as server:
                self.run_it(server, tasks, "--samples", 2, "--key", key)
            self.assertEqual({r["passed"] for r in self.results().values()}, {right})
            self.assertEqual(self.said.count("at 4 of 4 tasks all answers that do not pass are the same to the byte"), 0 if right else 1, self.said)

    def test_one_is_one(self):
        with Server(lambda r: chat("answer: A")) as server:
            self.run_it(server, self.tasks(1))
        self.assertRegex(self.said, r"1 of 1 answer, 1 new by 1 request;")

    def test_alike_answers_are_no_news_at_temperature_0(self):
        with Server(lambda r: chat("workload w {}")) as server:
            self.run_it(server, self.tasks(1, answer="program"), "--samples", 2, "--temperature", 0)
        self.assertNotIn("same to the byte", self.said)

    def test_anthropic(self):
        blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "answer: "}, {"type": "text", "text": "B"}]
        server = self.one(claude(blocks, "max_tokens"), "--dialect", "anthropic", "--system", "Rules.")
        request = server.requests[0]
        self.assertEqual(request.path, "/v1/messages")
        self.assertEqual(request.headers["x-api-key"], KEY)
        self.assertEqual(request.headers["anthropic-version"], "2023-06-01")
        self.assertNotIn("Authorization", request.headers)
        self.assertEqual(request.body, {"model": "m", "system": "Rules.\n\nBe short.", "messages": [{"role": "user", "content": "Question T0?"}], "max_tokens": 8192})
        sample = self.only()
        self.assertEqual((sample["completion"], sample["reasoning"], sample["finish_reason"]), ("answer: B", "hm", "length"))
        for wrong in (["--seed", 1], ["--choices", 2], ["--grammar", "vllm"]):
            self.run_it(server, self.tasks(1), "--dialect", "anthropic", *wrong, code=2)

    def test_thinking_is_kept_apart(self):
        cases = [
            (chat("answer: A", reasoning_content="deep"), "answer: A", "deep", None),
            (chat("answer: A", reasoning="deep"), "answer: A", "deep", None),
            (chat("<think>\ndeep</think>\nanswer: A"), "\nanswer: A", "\ndeep", "<think>\ndeep</think>\nanswer: A"),
            (chat("deep</think>answer: A"), "answer: A", "deep", "deep</think>answer: A"),
            (chat("<think>a</think>b</think>c"), "c", "a</think>b", "<think>a</think>b</think>c"),
            (chat("<think>and on", "length"), "", "and on", "<think>and on"),
            (chat([[{"type": "thinking", "thinking": [{"type": "text", "text": "deep"}]}, {"type": "text", "text": "answer: A"}]]), "answer: A", "deep", None),
            (chat("a\x00b"), "a\x00b", None, None),
        ]
        with Server(lambda r: cases[int(r.task[1:])][0]) as server:
            self.run_it(server, self.tasks(len(cases)))
        for i, (_, completion, reasoning, raw) in enumerate(cases):
            sample = self.samples()[f"t{i}", "0"]
            self.assertEqual((sample["completion"], sample.get("reasoning"), sample.get("raw")), (completion, reasoning, raw), i)

    def test_what_models_do_instead_of_answering(self):
        cases = [
            (chat(None), "", "stop"), (chat(None, "length"), "", "length"),
            (Reply({"choices": []}), "", "empty"), (chat(None, refusal="I cannot"), "", "refusal"),
            (chat("part", "content_filter"), "part", "content_filter"), (chat("x", None), "x", None), (chat("x", "eos_token"), "x", "stop"),
            (Reply({"choices": [{"finish_reason": "stop"}]}), "", "stop"), (Reply({"choices": [None]}), "", None),
            (chat(None, "tool_calls", tool_calls=[{}]), "", "tool_calls"),
        ]
        with Server(lambda r: cases[int(r.task[1:])][0]) as server:
            self.run_it(server, self.tasks(len(cases)))
        self.assertEqual(len(server.requests), len(cases))
        for i, (_, completion, finish) in enumerate(cases):
            sample = self.samples()[f"t{i}", "0"]
            self.assertEqual((sample["completion"], sample.get("finish_reason")), (completion, finish), i)
        self.assertEqual(self.samples()["t3", "0"]["refusal"], "I cannot")
        self.assertIn("2 refused as the server says (judging reads the texts), 1 cut", self.said)

    def test_grammars_hold_programs_and_nothing_else(self):
        gbnf = subprocess.run([NESTOR, "grammar", "--format", "gbnf"], capture_output=True, text=True, check=True).stdout
        for server_kind in ("llama.cpp", "vllm"):
            with Server(lambda r: chat("x")) as server:
                tasks = self.dir / "tasks.jsonl"
                tasks.write_text(json.dumps(task(0, "program")) + "\n" + json.dumps(task(1)) + "\n")
                self.run_file = self.dir / f"{server_kind}.run"
                self.run_it(server, tasks, "--grammar", server_kind, "--concurrency", 1)
            program, choice = server.requests[0].body, server.requests[1].body
            self.assertEqual(program["grammar"] if server_kind == "llama.cpp" else program["structured_outputs"]["grammar"], gbnf)
            self.assertNotIn("grammar", choice)
            self.assertNotIn("structured_outputs", choice)

    def test_many_choices_in_one_request(self):
        def script(r):
            return chat([f"{r.nth}.{i}" for i in range(r.body.get("n", 1))])
        with Server(script) as server:
            self.run_it(server, self.tasks(2), "--samples", 7, "--choices", 3)
        self.assertEqual(sorted(r.body.get("n", 1) for r in server.requests), [1, 1, 3, 3, 3, 3])
        self.assertEqual(len(self.samples()), 14)
        self.assertEqual(sum("usage" in s for s in self.samples().values()), 6)
        self.run_file = self.dir / "ignored.run"
        with Server(lambda r: chat(f"x{r.nth}")) as server:  # a server that knows no n
            self.run_it(server, self.tasks(2), "--samples", 4, "--choices", 4)
        self.assertEqual(len(server.requests), 8)
        self.assertEqual(len(self.samples()), 8)
        self.assertIn("a request of its own", self.said)

    # ---- limits and trouble

    def test_retry_after_in_seconds(self):  # H10
        server = self.one([limited({"Retry-After": "2"}), limited({"Retry-After": "2"}), chat("answer: A")])
        self.assertEqual(len(server.requests), 3)
        self.assertGreaterEqual(server.requests[1].at - server.requests[0].at, 2)
        self.assertGreaterEqual(server.requests[2].at - server.requests[1].at, 2)
        self.assertEqual(self.only()["completion"], "answer: A")
        self.assertIn("waiting", self.said)

    def test_retry_after_as_a_date_and_reset_headers(self):
        def date(seconds):
            return email.utils.formatdate(time.time() + seconds, usegmt=True)
        for headers in (lambda: {"Retry-After": date(3)}, lambda: {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.5s"},
                        lambda: {"anthropic-ratelimit-tokens-remaining": "0",
                                 "anthropic-ratelimit-tokens-reset": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))}):
            self.run_file.unlink(missing_ok=True)
            first = []

            def script(r):
                if r.nth == 0:
                    first.append(headers())
                    return limited(first[0])
                return chat("x")
            with Server(script) as server:
                self.run_it(server, self.tasks(1))
            self.assertEqual(len(server.requests), 2)
            self.assertGreaterEqual(server.requests[1].at - server.requests[0].at, 1.4, first)

    def test_used_up_limits_are_waited_for_before_they_refuse(self):
        used = chat("x")
        used.headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1s500ms"}
        server = self.one([used, chat("y")], "--samples", 2)
        self.assertGreaterEqual(server.requests[1].at - server.requests[0].at, 1.5)

    def test_a_long_wait_ends_the_run_which_goes_on_later(self):
        def script(r):
            return limited({"Retry-After": "86400"}) if r.task == "T2" and r.nth == 0 else chat("x")
        with Server(script) as server:
            self.run_it(server, self.tasks(4), "--concurrency", 1, code=4)
            self.assertIn("rate limited", self.said)
            self.assertIn("86400", self.said)
            self.assertEqual(len(self.samples()), 2)
            self.run_it(server, self.tasks(4), "--concurrency", 1)
        self.assertEqual(dict(server.counts), {"T0": 1, "T1": 1, "T2": 2, "T3": 1})

    def test_a_wait_as_long_as_is_allowed_is_waited(self):
        server = self.one([limited({"Retry-After": "2"}), chat("x")], "--longest-wait", 2)
        self.assertEqual(len(server.requests), 2)

    def test_one_refusal_puts_off_one_request(self):
        def script(r):
            reply = limited({"Retry-After": "2"}) if r.task == "T20" and r.nth == 0 else chat("x")
            reply.seconds = 0.01
            return reply
        with Server(script) as server:
            self.run_it(server, self.tasks(60), "--concurrency", 8)
        self.assertEqual(len(server.requests), 61)
        order = [r.task for r in server.requests]
        first, second = (i for i, t in enumerate(order) if t == "T20")
        self.assertGreaterEqual(server.requests[second].at - server.requests[first].at, 2)
        self.assertGreater(second - first, 20)  # the others went on

    def test_many_refusals_make_all_wait(self):
        began = []

        def script(r):
            began.append(r.at)
            return chat("x") if len(began) < 5 or r.at - began[4] >= 1 else limited({"Retry-After": "1"})
        with Server(script) as server:
            self.run_it(server, self.tasks(60), "--concurrency", 8)
        self.assertEqual(len(self.samples()), 60)
        self.assertLess(len(server.requests), 60 + 20)

    def test_without_a_server_the_first_request_is_the_only_one(self):
        with Server(lambda r: chat("x")) as server:
            url = server.url
        self.run_it(url, self.tasks(50), "--attempts", 3, code=3)
        self.assertIn("0 new by 3 requests", self.said)
        self.assertIn("goes on when the server is there", self.said)

    def test_refusals_for_the_rate_without_an_end_are_bounded(self):
        server = self.one(limited({"Retry-After": "0"}), code=4)
        self.assertEqual(len(server.requests), 20)
        self.assertEqual(self.samples(), {})

    def test_trouble_is_tried_again(self):
        faults = [refuse(503, "overloaded"), Reply(b"", fault="reset"), Reply(b'{"choices": [', fault="close"), Reply(chat("long enough text").body, fault="half"),
                  Reply(b"<html>\x1b[31mno</html>", 502), Reply(b"[]"), Reply(b"{}"), Reply({"error": {"message": "inner", "code": 502}})]
        with Server(lambda r: faults[int(r.task[1:])] if r.nth == 0 else chat("x")) as server:
            self.run_it(server, self.tasks(len(faults)))
        self.assertEqual(set(server.counts.values()), {2})
        self.assertEqual(len(self.samples()), len(faults))
        self.assertTrue(all(s["completion"] == "x" for s in self.samples().values()))

    def test_requests_have_a_time(self):
        with Server(lambda r: Reply(fault="hang", seconds=30) if r.nth == 0 else chat("x")) as server:
            self.run_it(server, self.tasks(1), "--timeout", 2)
        self.assertGreaterEqual(len(server.requests), 2)
        self.assertEqual(self.only()["completion"], "x")

    def test_trouble_without_end_is_an_infrastructure_error_that_is_redone(self):  # H04
        broken = [True]

        def script(r):
            return refuse(503, f"down \x1b[31m{KEY}") if broken[0] and r.task in ("T1", "T3") else chat("x")
        with Server(script) as server:
            self.run_it(server, self.tasks(5), "--attempts", 3, code=4)
            self.assertEqual(dict(server.counts), {"T0": 1, "T1": 3, "T2": 1, "T3": 3, "T4": 1})
            samples = self.samples()
            self.assertEqual(len(samples), 5)
            self.assertIn("503", samples["t1", "0"]["error"])
            self.assertNotIn("\x1b", samples["t1", "0"]["error"])
            self.assertNotIn("completion", samples["t1", "0"])
            self.assertIn("2 answers never came", self.said)
            broken[0] = False
            self.run_it(server, self.tasks(5))
        self.assertEqual(dict(server.counts), {"T0": 1, "T1": 4, "T2": 1, "T3": 4, "T4": 1})
        self.assertTrue(all(s["completion"] == "x" and "error" not in s for s in self.samples().values()))

    def test_a_server_that_is_gone_ends_the_run(self):
        with Server(lambda r: chat("x") if r.task == "T0" else refuse(500, "no")) as server:
            self.run_it(server, self.tasks(100), "--attempts", 1, code=3)
        self.assertLess(len(server.requests), 40)
        self.assertIn("10 requests in a row failed", self.said)
        self.run_file.unlink()
        self.run_it("http://127.0.0.1:1/v1", self.tasks(3), "--attempts", 2, code=3)
        self.assertEqual(self.samples(), {})
        self.assertIn("goes on when the server is there", self.said)

    def test_answers_are_bounded(self):
        server = self.one([Reply(b" " * (17 << 20)), chat("x")])
        self.assertEqual(len(server.requests), 2)
        server = self.one(Reply(b" " * (17 << 20)), "--attempts", 2, "--model", "other", "--run", self.dir / "b.run", code=4)
        self.run_file = self.dir / "b.run"
        self.assertIn("16 MiB", self.only()["error"])

    def test_concurrency_grows_and_backs_off(self):
        def slow(r):
            reply = chat(f"{r.nth}")
            reply.seconds = 0.05
            return reply
        with Server(slow) as server:
            self.run_it(server, self.tasks(150), "--concurrency", 8)
        self.assertEqual(server.most_under_way, 8)
        self.run_file.unlink()

        def bounded(r):  # more than 3 at once are refused
            if server.under_way > 3:
                return limited({"Retry-After": "0"})
            return slow(r)
        with Server(bounded) as server:
            self.run_it(server, self.tasks(150), "--concurrency", 100)
        self.assertEqual(len(self.samples()), 150)
        self.assertLess(server.most_under_way, 30)
        self.assertLess(len(server.requests), 300)

    # ---- refusals

    def test_parameters_a_server_does_not_know_are_dropped_once(self):  # H11
        def script(r):
            if "temperature" in r.body:
                return refuse(400, "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.", "temperature", "unsupported_value")
            if "max_tokens" in r.body:
                return refuse(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter")
            if "mine" in r.body:
                return Reply({"detail": [{"type": "extra_forbidden", "loc": ["body", "mine"], "msg": "Extra inputs are not permitted"}]}, 422)
            return chat("x")
        options = ("--temperature", 0.5, "--max-tokens", 9, "--extra", '{"mine": 1}')
        with Server(script) as server:
            self.run_it(server, self.tasks(20), *options, "--limit", 10)
            self.assertEqual(len(server.requests), 13)
            self.assertEqual(server.requests[-1].body["max_completion_tokens"], 9)
            for word in ("temperature is left out", "max_tokens is sent as max_completion_tokens", "mine is left out"):
                self.assertEqual(self.said.count(word), 1, self.said)
            self.assertEqual(self.samples()["t3", "0"]["sampling"], {"max_completion_tokens": 9})
            self.run_it(server, self.tasks(20), *options)  # what was learnt is kept
            self.assertEqual(len(server.requests), 23)

    def test_values_and_prompts_that_are_refused_are_told_and_not_repeated(self):
        server = self.one(refuse(400, "Invalid value for 'temperature': must be at most 2", "temperature", "invalid_value"), "--temperature", 3, code=3)
        self.assertEqual(len(server.requests), 1)
        self.assertIn("must be at most 2", self.said)

        def script(r):
            return refuse(400, "This model's maximum context length is 8192 tokens", None, "context_length_exceeded") if r.task == "T0" else chat("x")
        self.run_file.unlink()
        with Server(script) as server:
            self.run_it(server, self.tasks(3), code=4)
        self.assertEqual(set(server.counts.values()), {1})
        self.assertIn("context length", self.samples()["t0", "0"]["error"])

    def test_why_answers_failed_is_told(self):
        def script(r):
            if int(r.task[1:]) < 3:
                return refuse(400, f"the maximum context length is 4096 tokens, this has {5000 + r.nth}", None, "context_length_exceeded")
            return refuse(500, "out of \x1b[2J memory") if r.task == "T3" else chat("x")
        tasks, key = self.files(6)
        with Server(script) as server:
            self.run_it(server, tasks, "--attempts", 1, code=4)
            self.assertIn("4 answers never came (infra_error); the same command asks for them again", self.said)
            self.assertRegex(self.said, r"\n.*3 of them: .*the maximum context length is 4096 tokens, this has 50\d\d\n.*1 of them: .*out of [^\x1b]*memory")

            def report(*more):
                done = subprocess.run([NESTOR, "bench", "report", str(self.run_file), *more], cwd=self.dir, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            # What never came is nothing to judge; what came is, and is told of so.
            text = report()
            self.assertRegex(text, r"NO SCORE YET: 2 answers are not judged, 4 of 6 tasks have no answer; .* run again with --key key.jsonl")
            self.assertRegex(text, r"(?s)Why answers never came.*m +3 +.*maximum context length.*m +1 +.*memory")
            self.run_it(server, tasks, "--attempts", 1, "--key", key, code=4)
            text = report()
            self.assertRegex(text, r"NO SCORE YET: 4 of 6 tasks have no answer; .* run the same command again, to redo")
            self.assertNotIn("judged:", text)
            (model,) = json.loads(report("--format", "json"))["models"]
            self.assertEqual([r["samples"] for r in model["reasons_of_errors"]], [3, 1])
        self.run_file.unlink()
        with Server(lambda r: chat("x")) as server:
            self.run_it(server, tasks)
            self.assertRegex(report(), r"NO SCORE YET: 6 answers are not judged; pass@1 will be from 0.000 to 1.000; run again with --key key.jsonl, to judge")

    def test_a_grammar_is_not_dropped(self):
        tasks = self.tasks(1, answer="program")
        with Server(lambda r: refuse(400, "Unrecognized request argument supplied: grammar", "grammar")) as server:
            self.run_it(server, tasks, "--grammar", "llama.cpp", code=3)
        self.assertEqual(len(server.requests), 1)

    def test_wrong_keys_and_models_cost_one_request(self):
        for status in (401, 402, 403, 404):
            self.run_file.unlink(missing_ok=True)
            with Server(lambda r: refuse(status, f"the server's text, of {KEY}, here")) as server:
                self.run_it(server, self.tasks(30), "--samples", 5, "--concurrency", 20, code=3)
            self.assertEqual(len(server.requests), 1)
            self.assertIn("the server's text", self.said)
            self.assertIn(str(status), self.said)

    def test_redirections_are_not_followed(self):
        with Server(lambda r: chat("x")) as elsewhere:
            for where in (elsewhere.url, "https://example.com/"):
                self.run_file.unlink(missing_ok=True)
                server = self.one(Reply(b"", 307, {"Location": where + "/chat/completions"}), code=3)
                self.assertEqual(len(server.requests), 1)
                self.assertIn("redirections are not followed", self.said)
            self.assertEqual(elsewhere.requests, [])

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_certificates_are_checked(self):
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                               "subjectAltName=IP:127.0.0.1", "-keyout", self.dir / "k.pem", "-out", self.dir / "c.pem"], capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        with Server(lambda r: chat("x")) as server:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.dir / "c.pem", self.dir / "k.pem")
            server.listener.socket = context.wrap_socket(server.listener.socket, server_side=True)
            url = server.url.replace("http:", "https:")
            self.run_it(url, self.tasks(3), code=3)
            self.assertIn("certificate", self.said)
            self.assertEqual(server.requests, [])
            self.run_it(url, self.tasks(3), env={"SSL_CERT_FILE": str(self.dir / "c.pem")})
            self.assertEqual(len(server.requests), 3)

    def test_proxies_come_from_the_environment(self):
        with Server(lambda r: chat("x")) as server:
            self.run_it("http://model.invalid/v1", self.tasks(1), env={"http_proxy": server.url})
            self.assertEqual(server.requests[0].path, "http://model.invalid/v1/chat/completions")

    # ---- the key

    def test_the_key_is_nowhere(self):
        echo = Server(lambda r: chat(f"you sent {r.headers['Authorization']}", reasoning_content=KEY))
        with echo:
            self.run_it(echo, self.tasks(2))
            self.assertIn("you sent Bearer ***", self.samples()["t0", "0"]["completion"])
            self.run_file.unlink()
            escaped = KEY.replace("/", "\\/")
            self.one(Reply(b'{"choices":[{"message":{"content":"' + escaped.encode() + b'"}}]}'))
            self.assertNotIn("MARKED", self.only()["completion"])
            self.run_file.unlink()
            for n in range(370, 400, 3):  # where texts are cut
                self.one(Reply(b'{"error":{"message":"' + b"x" * n + escaped.encode() + b'"}}', 401), code=3)
                self.assertNotIn("sk-", self.said)
                self.run_file.unlink()
            self.run_it(f"http://user:{KEY.replace('/', '')}@127.0.0.1:{echo.port}/v1", self.tasks(1), code=2)
            self.assertNotIn("MARKED", self.said)
            self.run_it(f"http://127.0.0.1:{echo.port}/v1?key={KEY}", self.tasks(1), code=2)
            self.run_it(echo, self.tasks(1), f"--api-key={KEY}", code=2)
            self.run_it(echo, self.tasks(1), "--key-env", KEY, code=2)
            self.assertFalse(self.run_file.exists())
            echo.script = lambda r: chat("x")
            for name, key, options in (("MY_KEY", "my-own-key-123", ("--key-env", "MY_KEY")), ("OPENAI_API_KEY", " openai-key-123\n", ())):
                self.run_file.unlink(missing_ok=True)
                self.run_it(echo, self.tasks(1), *options, env={"NESTOR_API_KEY": "", name: key})
                self.assertEqual(echo.requests[-1].headers["Authorization"], f"Bearer {key.strip()}")
            self.run_file.unlink()
            self.run_it(echo, self.tasks(1), env={"NESTOR_API_KEY": "two\nlines"}, code=2)
        self.run_file.unlink()
        with Server(lambda r: chat("x")) as server:
            self.run_it(server, self.tasks(1), env={"NESTOR_API_KEY": ""})
        self.assertNotIn("Authorization", server.requests[0].headers)

    def test_the_key_is_not_in_the_command_line(self):
        def script(r):
            lines = [p.read_bytes() for p in pathlib.Path("/proc").glob("[0-9]*/cmdline")]
            return chat("seen" if any(KEY.encode() in line for line in lines) else "not seen")
        with Server(script) as server:
            self.run_it(server, self.tasks(1))
        self.assertEqual(self.only()["completion"], "not seen")

    # ---- progress

    def test_a_terminal_sees_a_bar(self):
        def script(r):
            reply = limited({"Retry-After": "2"}) if r.task == "T5" and r.nth == 0 else chat(r.task)
            reply.seconds = 0.05
            return reply
        with Server(script) as server:
            ours, theirs = pty.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 240, 0, 0))
            child = subprocess.Popen(self.command(server, self.tasks(30), "--price-in", 1, "--concurrency", 2), cwd=self.dir, env=self.environment(NO_COLOR="1"), stderr=theirs)
            os.close(theirs)
            seen = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:
                    break
                if not part:
                    break
                seen += part
            os.close(ours)
            self.assertEqual(child.wait(), 0)
        self.said = seen.decode()
        self.no_key()
        for word in (r"\r\[[#.]{24}\] \d+ of 30 answers \(\d+ %\), [\d.]+/s, \d+ tokens, cost [\d.e-]+, \d at once", "waiting [12] s for the server", r"put off 1 time \(429\)", r"\d s left"):
            self.assertRegex(self.said, word)
        self.assertRegex(self.said, r"\x1b\[Knestor: [^\r]*30 of 30 answers")

    # ---- the documentation

    def test_commands_of_the_documentation(self):
        text = (pathlib.Path(__file__).parents[2] / "docs" / "bench-run.md").read_text()
        commands = [shlex.split(line)[1:] for line in text.splitlines() if line.startswith(("nestor bench run", "nestor bench revise"))]
        self.assertGreaterEqual(len(commands), 6)
        self.files(2)
        for command in commands:
            at = command.index("--base-url") + 1
            dialect = claude if "anthropic" in command else lambda text: chat([f"{text} {i}" for i in range(10)])
            with Server(lambda r: dialect("answer: A")) as server:
                command[at] = server.url
                done = subprocess.run([NESTOR, *command], cwd=self.dir, env=self.environment(), capture_output=True, text=True)
            # Of one file, the later command revises what the earlier asked: their servers differ here.
            if "another base-url" in done.stderr:
                (self.dir / command[command.index("--run") + 1]).unlink()
                with Server(lambda r: dialect("answer: A")) as server:
                    command[at] = server.url
                    done = subprocess.run([NESTOR, *command], cwd=self.dir, env=self.environment(), capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        known = "".join(subprocess.run([NESTOR, "bench", verb, "--help"], capture_output=True, text=True).stdout for verb in ("run", "revise"))
        for option in set(re.findall(r"`(--[a-z-]+)", text)):
            self.assertIn(f"{option} ", known)

    # ---- wrong usage

    def test_wrong_usage_asks_nothing(self):
        with Server(lambda r: chat("x")) as server:
            tasks = self.tasks(2)
            for wrong in (["--samples", "0"], ["--temperature", "-1"], ["--temperature", "nan"], ["--seed", str(2 ** 63 - 1), "--samples", "3"], ["--price-in", "1e308"], ["--price-in", "1", "--price-out", "1000000001"], ["--extra", "[1]"], ["--extra", '{"stream": true}'], ["--extra", "{"],
                          ["--dialect", "x"], ["--grammar", "x"], ["--concurrency", "0"], ["--limit", "0"], ["--base-url", "ftp://127.0.0.1/"],
                          ["--base-url", "127.0.0.1:80"], ["--omit", "model"], ["--max-tokens", "0"], ["--timeout", "0"], ["more.jsonl"], ["--model", ""], ["--model", b"\xff"], ["--system", b"\xff"],
                          ["--run", self.dir / "no" / "such.run"]):
                self.run_it(server, tasks, *wrong, code=3 if wrong[0] == "--run" else 2)
            twice = self.dir / "twice.jsonl"
            twice.write_text(tasks.read_text() * 2)
            self.run_it(server, twice, code=1)
            self.run_it(server, self.dir / "none.jsonl", code=3)
            self.run_file.write_text("something else")
            self.run_it(server, tasks, code=3)
            self.assertEqual(self.run_file.read_text(), "something else")
            self.assertEqual(server.requests, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
