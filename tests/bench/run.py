# ctest: run
"""nestor bench run against a server on loopback that has the faults of real ones (server.py)."""
import email.utils
import fcntl
import hashlib
import json
import os
import pathlib
import pty
import random
import re
import resource
import shlex
import shutil
import signal
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
                self.assertEqual(self.said.count("3 tasks have programs that are the same to the byte"), 1, self.said)
                self.run_it(server, self.tasks(3, answer=answer), "--samples", 2)
                self.assertNotIn("same to the byte", self.said)

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
        self.assertIn("15 of 15 answers (and 45 of other tasks), 0 new", self.said)

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
        for word in (r"\r\[[#.]{24}\] \d+ of 30 answers \(\d+ %\), [\d.]+/s, \d+ tokens, cost [\d.e-]+, \d at once", "waiting [12] s for the server", r"1 put off", r"\d s left"):
            self.assertRegex(self.said, word)
        self.assertRegex(self.said, r"\x1b\[Knestor: [^\r]*30 of 30 answers")

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
            for wrong in (["--samples", "0"], ["--temperature", "-1"], ["--temperature", "nan"], ["--extra", "[1]"], ["--extra", '{"stream": true}'], ["--extra", "{"],
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
