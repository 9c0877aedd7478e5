"""What tests of commands that ask a model share: tasks, a directory, the command, what the run file holds."""
import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

from server import Server

NESTOR = os.environ["NESTOR"]
KEY = "sk-MARKED/key-0123456789abcdef"


def commit(answer, salt="salt"):
    return hashlib.sha256(f"{salt}\n{answer}".encode()).hexdigest()


def task(i, answer="choice", messages=None):
    return {"schema": "nestor.task/1", "task_id": f"t{i}", "suite": "test", "version": 1, "split": "dev", "kind": "qa.compare", "level": 1, "seed": i,
            "cluster": "c", "messages": messages or [{"role": "system", "content": "Be short."}, {"role": "user", "content": f"Question T{i}?"}],
            "spec": {"answer": answer, "choices": ["A", "B"]}, "limits": {}, "answer_commit": "", "content_hash": "", "canary": "c"}


class Case(unittest.TestCase):
    verb = "run"

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="nestor-run-")
        self.dir = pathlib.Path(self.directory.name)
        self.run_file = self.dir / "m.run"
        self.said = ""

    def tearDown(self):
        self.directory.cleanup()

    def tasks(self, n, **more):
        path = self.dir / "tasks.jsonl"
        path.write_text("".join(json.dumps(task(i, **more)) + "\n" for i in range(n)))
        return path

    def files(self, n):
        """Tasks whose right answers are A, B, A, .. and their key."""
        tasks, key = self.dir / "tasks.jsonl", self.dir / "key.jsonl"
        with open(tasks, "w") as t, open(key, "w") as k:
            for i in range(n):
                answer = "AB"[i % 2]
                t.write(json.dumps({**task(i), "answer_commit": commit(answer)}) + "\n")
                k.write(json.dumps({"schema": "nestor.key/1", "task_id": f"t{i}", "salt": "salt", "answer": answer, "choice": answer}) + "\n")
        return tasks, key

    def command(self, server, tasks, *options):
        url = server if isinstance(server, str) else server.url
        return [NESTOR, "bench", self.verb, str(tasks), "--base-url", url, "--model", "m", "--run", str(self.run_file), *(o if isinstance(o, bytes) else str(o) for o in options)]

    def environment(self, **more):
        keep = {k: v for k, v in os.environ.items() if "API_KEY" not in k and "proxy" not in k.lower() and k not in ("CURL_CA_BUNDLE", "SSL_CERT_FILE")}
        return {**keep, "NESTOR_API_KEY": KEY, **more}

    def run_it(self, server, tasks, *options, code=0, env=None):
        done = subprocess.run(self.command(server, tasks, *options), cwd=self.dir, env=self.environment(**(env or {})), capture_output=True, text=True, timeout=300)
        self.said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, self.said)
        self.no_key()
        return self.said

    def no_key(self):
        """H19: in no output and no file."""
        self.assertNotIn(KEY, self.said)
        for path in self.dir.rglob("*"):
            if path.is_file():
                self.assertFalse(KEY.encode() in path.read_bytes(), path)
                self.assertNotIn(KEY, path.name)

    def samples(self):
        with sqlite3.connect(f"file:{self.run_file}?mode=ro", uri=True) as db:
            rows = db.execute("SELECT task_id, sample_id, json FROM sample ORDER BY task_id, CAST(sample_id AS INTEGER)").fetchall()
        out = {}
        for task_id, sample_id, text in rows:
            self.assertNotIn((task_id, sample_id), out)
            out[task_id, sample_id] = json.loads(text)
        return out

    def results(self):
        with sqlite3.connect(f"file:{self.run_file}?mode=ro", uri=True) as db:
            return {(t, s): json.loads(j) for t, s, j in db.execute("SELECT task_id, sample_id, json FROM result")}

    def only(self):
        (sample,) = self.samples().values()
        return sample

    def one(self, reply, *options, code=0, n=1, **env):
        """One task, answered by a list of replies (the last one again and again); returns the server."""
        replies = reply if isinstance(reply, list) else [reply]
        with Server(lambda r: replies[min(r.nth, len(replies) - 1)]) as server:
            self.run_it(server, self.tasks(n), *options, code=code, env=env)
        return server
