#!/usr/bin/env python3
# ctest: serve
"""The server among clients that leave, flood, stall and send what is no JSON: everybody else gets what is theirs, and SIGTERM ends it."""

import collections
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

NESTOR = os.environ["NESTOR"]
BUILD = os.environ["NESTOR_BUILD"]


def request(path, body):
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body)) + body


class Server:
    def __init__(self, directory, files=None):
        self.process = subprocess.Popen([NESTOR, "bench", "serve", "--tasks", f"{directory}/tasks.jsonl", "--key", f"{directory}/key.jsonl",
                                         "--workers", "2"], stdout=subprocess.PIPE, text=True,
                                        preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))))
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", self.process.stdout.readline()).group(1))

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path, body)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def json(self, method, path, body=None):
        status, data = self.call(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body))
        return status, json.loads(data)

    def connect(self, room=None):
        out = socket.socket()
        if room:
            out.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)  # what waits to be read
        out.settimeout(300)
        out.connect(("127.0.0.1", self.port))
        return out

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(300)
        finally:
            self.process.kill()
            self.process.stdout.close()


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.directory.name)
        subprocess.run([f"{BUILD}/bin/tests/bench_hand_tasks", path], check=True)
        with open(path / "key.jsonl", encoding="utf-8") as f:
            keys = {k["task_id"]: k for k in map(json.loads, f)}
        cls.mapping = "```nest\n" + keys["h-mapping"]["answer"] + "```"
        cls.sample = json.dumps({"task_id": "h-mapping", "completion": cls.mapping}).encode()
        cls.choice = json.dumps({"task_id": "h-choice", "completion": "answer: B"}).encode()

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        self.server = Server(self.directory.name)
        self.stopped = False

    def tearDown(self):
        if not self.stopped:
            self.assertEqual(self.stop(), 0)

    def stop(self):
        self.stopped = True
        return self.server.stop()

    def test_ends_under_load(self):
        """Clients that send on while the server ends: it neither aborts nor waits for them."""
        for _ in range(3):
            stop, sent = threading.Event(), threading.Semaphore(0)
            statuses = collections.Counter()

            def pound():
                try:
                    with self.server.connect() as s:
                        while not stop.is_set():
                            s.sendall(request("/grade", self.sample) * 3)
                            data = s.recv(65536)
                            sent.release()
                            statuses.update(re.findall(rb"HTTP/1.1 (\d+)", data))
                            if not data:
                                return
                except OSError:
                    pass

            threads = [threading.Thread(target=pound) for _ in range(40)]
            for t in threads:
                t.start()
            for _ in range(100):
                sent.acquire(timeout=300)
            code = self.server.stop()
            stop.set()
            for t in threads:
                t.join()
            self.assertEqual(code, 0)
            self.assertLessEqual(set(statuses), {b"200", b"503"})
            self.server = Server(self.directory.name)

    def test_who_has_gone_is_dropped(self):
        """Twenty clients send much and leave: others are served, most of it is never judged, and the end comes."""
        body = b"\n".join([self.sample] * 5000)
        for _ in range(20):
            with self.server.connect() as s:
                s.sendall(request("/grade", body))
        self.assertEqual(self.server.json("GET", "/health")[1]["status"], "ok")
        self.assertTrue(self.server.json("POST", "/grade", self.choice)[1]["passed"])
        self.assertLess(self.server.json("GET", "/health")[1]["graded"], 50000)
        self.assertEqual(self.stop(), 0)

    def test_who_sends_no_more_is_answered(self):
        """Clients that end what they send with the request, as `nc -N` does, and read on: among others that have gone, after many turns too."""
        body = b"\n".join([self.sample] * 3000)
        waiting = []
        for version, text in ((b"1.1", body), (b"1.0", body), (b"1.1", self.choice), (b"1.0", self.choice)):
            with self.server.connect() as gone:
                gone.sendall(request("/grade", body))
                gone.shutdown(socket.SHUT_WR)
            s = self.server.connect()
            self.addCleanup(s.close)
            s.sendall(request("/grade", text).replace(b"HTTP/1.1", b"HTTP/" + version, 1))
            s.shutdown(socket.SHUT_WR)
            waiting.append((s, version, text.count(b"\n") + 1))
        for s, version, n in waiting:
            answer = http.client.HTTPResponse(s)
            answer.begin()
            self.assertEqual(answer.status, 200)
            results = answer.read().splitlines()
            self.assertEqual((len(results), sum(json.loads(r)["passed"] for r in results)), (n, n), version)
            self.assertEqual(s.recv(1), b"")
        self.assertLess(self.server.json("GET", "/health")[1]["graded"], 6002 + 4 * 3000)

    def test_hosts_have_no_case(self):
        for host, status in (("LOCALHOST", 200), ("LocalHost:80", 200), ("localhost", 200), ("[::1]", 200), ("localhost.example", 403), ("EXAMPLE", 403)):
            with self.server.connect() as s:
                s.sendall(b"GET /health HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode())
                answer = http.client.HTTPResponse(s)
                answer.begin()
                self.assertEqual(answer.status, status, host)

    def test_what_is_wrong_with_a_body_is_said(self):
        for body, says in ((b'{"seed":18446744073709551615}', "byte 28 of the body is too large"), (b'{"seed":-9223372036854775809}', "whole numbers go from"),
                           (b'{"seed":1,}', "no JSON at byte 11"), (b"[]", "must be a JSON object"), (b'{"seed":1e999}', "too large")):
            status, answer = self.server.json("POST", "/reset", body)
            self.assertEqual(status, 400, body)
            self.assertIn(says, answer["error"], body)
        self.assertEqual(self.server.json("POST", "/reset", b'{"seed":9223372036854775807}')[0], 200)

    def test_a_large_request_does_not_keep_others_waiting(self):
        with self.server.connect() as large:
            large.sendall(request("/grade", b"\n".join([self.sample] * 20000)))
            while not self.server.json("GET", "/health")[1]["graded"]:
                pass
            for _ in range(3):
                self.assertTrue(self.server.json("POST", "/grade", self.choice)[1]["passed"])
            self.assertLess(self.server.json("GET", "/health")[1]["graded"], 20000)
            self.assertEqual(self.stop(), 0)
            answer = http.client.HTTPResponse(large)
            answer.begin()
            self.assertEqual(answer.status, 503)  # it was told
            self.assertIn("ending", json.loads(answer.read())["error"])

    def test_one_bad_element_costs_one_verdict(self):
        bad = {
            b'{"task_id":"h-choice","completion":"answer: B \\ud800"}': "passed",
            b'{"task_id":"h-choice","completion":"answer: B \xff\xfe"}': "passed",
            b'{"task_id":"h-choice","completion":"answer: B \\u0000"}': None,
            b'{"task_id":"h-choice","completion":"a","completion":"b"}': "infra_error",
            b'{"task_id":"h-choice","completion":"answer: B","usage":{"c":1e999}}': "infra_error",
            b'{"task_id":"h-choice","completion":"a ], [ \\" } \\\\"}': "no_answer",
            b"5": "infra_error", b"": "infra_error", b'"a"': "infra_error", b"nothing": "infra_error", b"[1,[2]]": "infra_error", b"{]": "infra_error",
        }
        for element, outcome in bad.items():
            body = b" [ " + b" , ".join([self.sample, element, self.choice]) + b" ] "
            status, results = self.server.json("POST", "/grade", body)
            self.assertEqual((status, len(results)), (200, 3), element)
            self.assertEqual((results[0]["passed"], results[2]["passed"]), (True, True), element)
            if outcome:
                self.assertEqual(results[1]["outcome"], outcome, element)
        for body, outcomes in ((b"[]", []), (b"[ ]", []), (b"[" + self.choice, ["passed", "infra_error"]), (b"[", ["infra_error"]),
                               (b"[" + self.choice + b",", ["passed", "infra_error"]), (b"[" * 100000, ["infra_error"] * 2),
                               (b"[" + self.choice + b"] " + self.choice, ["passed", "infra_error"]), (b"\xef\xbb\xbf[" + self.choice + b"]", ["passed"])):
            status, results = self.server.json("POST", "/grade", body)
            self.assertEqual((status, [r["outcome"] for r in results]), (200, outcomes), body[:40])
        self.assertTrue(self.server.json("POST", "/grade", b"\xef\xbb\xbf" + self.choice)[1]["passed"])

    def test_steps_of_any_text_are_judged(self):
        for text in (b"answer: B \\u0000", b"answer: B \\ud800", b"answer: B \xff"):
            episode = self.server.json("POST", "/reset", {"task_id": "h-choice"})[1]["episode_id"]
            body = b'{"episode_id":"%s","action":{"completion":"%s"}}' % (episode.encode(), text)
            status, end = self.server.json("POST", "/step", body)
            self.assertEqual((status, end["done"]), (200, True), text)

    def test_members_of_a_wrong_type_are_refused(self):
        episode = self.server.json("POST", "/reset", {"task_id": "h-choice"})[1]["episode_id"]
        good = {"episode_id": episode, "action": {"completion": "answer: B", "finish_reason": "stop"}}
        for path, body in (("/step", {**good, "episode_id": 12345}), ("/step", {**good, "episode_id": int(episode)}), ("/step", {**good, "episode_id": [episode]}),
                           ("/step", {**good, "action": "answer: B"}), ("/step", {**good, "action": {"completion": 5}}),
                           ("/step", {**good, "action": {"completion": "answer: B", "finish_reason": 5}}),
                           ("/reset", {"task_id": 5}), ("/reset", {"task_id": ["h-choice"]}), ("/reset", {"task_id": False}),
                           ("/reset", {"seed": "five"}), ("/reset", {"seed": 1.5}), ("/reset", {"seed": True}), ("/reset", []), ("/step", [])):
            status, answer = self.server.json("POST", path, body)
            self.assertEqual(status, 400, body)
            self.assertTrue(answer["error"])
        status, end = self.server.json("POST", "/step", good)  # the episode was left alone
        self.assertEqual((status, end["reward"]), (200, 1.0))

    def crowd(self, n, what, room=None):
        """n clients that keep what they have: a connection of which `what` was sent, and the first answer read where it is a whole request."""
        for _ in range(n):
            s = self.server.connect(room)
            self.addCleanup(s.close)
            try:
                s.sendall(what)
                if b"/health" in what:
                    s.recv(4096)
            except OSError:
                pass  # closed meanwhile
            yield s

    def served(self):
        """At the latest at the third attempt, as one that comes in a crowd may be closed with it; 503 is for as long as all places are being judged."""
        attempts = 0
        for _ in range(3000):
            try:
                status, answer = self.server.json("POST", "/grade", self.choice)
                if status == 200:
                    self.assertTrue(answer["passed"])
                    return
                self.assertEqual(status, 503)
                time.sleep(0.1)
            except (ConnectionError, http.client.HTTPException):
                attempts += 1
                self.assertLess(attempts, 3)
        self.fail("it was never served")

    def test_who_says_nothing_makes_room(self):
        """More connections than the server takes, all of them open and not one used: by those that never time out, since they go on byte by byte or
        are idle between requests, nobody else may be kept out. A connection that is idle between requests outlives those of half a request."""
        half = b"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
        health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        # 128 files are 64 places
        for files, n, what, more in ((128, 300, b"", b""), (128, 300, half, b"X"), (128, 300, half + b"\r\n", b"x"), (128, 300, health, b""), (None, 1300, half, b"X")):
            self.server.stop()
            self.server = Server(self.directory.name, files)
            trainer = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
            trainer.connect()
            socket_of_trainer = trainer.sock
            trainer.request("POST", "/grade", self.choice)
            trainer.getresponse().read()
            everybody, stop = [], threading.Event()

            def trickle():
                while more and not stop.wait(0.5):
                    for s in list(everybody):
                        try:
                            s.send(more)
                        except OSError:
                            pass

            thread = threading.Thread(target=trickle)
            thread.start()
            try:
                for s in self.crowd(n, what):
                    everybody.append(s)
                for _ in range(3):
                    self.served()
                if what != health:
                    trainer.request("POST", "/grade", self.choice)
                    self.assertTrue(json.loads(trainer.getresponse().read())["passed"])
                    self.assertIs(trainer.sock, socket_of_trainer)
            finally:
                stop.set()
                thread.join()
                trainer.close()

    def test_who_does_not_read_makes_room(self):
        self.server.stop()
        self.server = Server(self.directory.name, 128)
        for _ in range(33):  # two by two to 64 places and beyond
            for _ in self.crowd(2, request("/grade", b"5\n" * 15000), 4096):
                pass
            self.served()

    def test_who_is_one_too_many_is_told(self):
        """Every place is held by a request that is being judged: nobody is closed for another."""
        self.server.stop()
        self.server = Server(self.directory.name, 128)
        large = request("/grade", b"\n".join([self.sample] * 2000))
        crowd = list(self.crowd(60, large))
        while self.server.call("GET", "/health")[0] == 200:  # one that had not yet sent all of its request made room for this
            crowd += self.crowd(1, large)
            self.assertLess(len(crowd), 1000)
        status, answer = self.server.json("GET", "/health")
        self.assertEqual(status, 503)
        self.assertIn("too many requests", answer["error"])


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    unittest.main(verbosity=1)
