#!/usr/bin/env python3
# ctest: filter
"""`nestor bench grade` as a filter: the result of a line comes before the next line is written, whatever the line is, and wherever results go."""
import json
import os
import select
import subprocess
import sys
import tempfile

NESTOR, BUILD = os.environ["NESTOR"], os.environ["NESTOR_BUILD"]
LONGEST = 200  # seconds without a word are for ever


def line_of(task, sample, text):
    return json.dumps({"task_id": task, "sample_id": sample, "completion": text}).encode() + b"\n"


class Filter:
    """One grader, with a pipe to it and one from it."""

    def __init__(self, directory, *options, **pipes):
        self.process = subprocess.Popen([NESTOR, "bench", "grade", "--tasks", f"{directory}/tasks.jsonl", "--key", f"{directory}/key.jsonl", *options],
                                        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, **pipes)
        self.rest = b""

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, out):
        while b"\n" not in self.rest:
            if not select.select([out], [], [], LONGEST)[0]:
                self.process.kill()
                sys.exit("failed: a result is held back")
            part = os.read(out, 1 << 16)
            if not part:
                sys.exit("failed: the results end too early")
            self.rest += part
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def is_silent(self, out):
        return not self.rest and not select.select([out], [], [], 0)[0]


def one_by_one(f, out):
    lines = [(line_of("h-choice", "0", "answer: B"), "passed"), (b"no sample\n", "infra_error"), (line_of("h-choice", "0", "again"), "infra_error"),
             (line_of("none", "0", ""), "infra_error"), (line_of("h-choice", "1", "answer: A"), "wrong"),
             (line_of("h-mapping", "0", "```nest\nmapping ans\n```\n"), "syntax"), (line_of("h-choice", "2", "no"), "no_answer")]
    for i, (line, outcome) in enumerate(lines):
        f.write(line)
        got = f.read(out)
        if got["outcome"] != outcome:
            sys.exit(f"failed: line {i + 1} is {got['outcome']}, not {outcome}")
    # Two lines and the half of a third: two results.
    third = line_of("h-choice", "5", "answer: B")
    f.write(line_of("h-choice", "3", "answer: B") + line_of("h-choice", "4", "answer: B") + third[:20])
    got = [f.read(out)["sample_id"] for _ in range(2)]
    if got != ["3", "4"] or not f.is_silent(out):
        sys.exit(f"failed: results {got} of two lines and a half")
    f.write(third[20:-1])  # the last line wants no line feed
    f.process.stdin.close()
    if f.read(out)["sample_id"] != "5" or f.process.wait(LONGEST) != 1 or os.read(out, 1):
        sys.exit(f"failed: the end, exit {f.process.returncode}")
    return len(lines) + 3


def keeps_old_results(directory):
    """Old results go when the first new one is written, not for samples that are not there; no samples are results too, none."""
    old, samples, link = (f"{directory}/{name}" for name in ("old", "samples", "link"))
    head = [NESTOR, "bench", "grade", "--tasks", f"{directory}/tasks.jsonl", "--key", f"{directory}/key.jsonl"]
    os.symlink("made", link)
    open(f"{directory}/sqlite", "wb").write(b"SQLite format 3\0")
    open(f"{directory}/empty", "wb").close()
    open(samples, "wb").write(line_of("h-choice", "0", "answer: B"))
    checks = ((f"{directory}/missing", old, 3, True), (directory, old, 3, True), (f"{directory}/sqlite", old, 3, True), (samples, old, 0, False),
              (f"{directory}/empty", old, 0, False), (samples, link, 0, False), (f"{directory}/missing", f"{directory}/new", 3, None),
              (samples, f"{directory}/none/x", 3, None), (samples, directory, 3, None))
    for given, results, code, kept in checks:
        open(old, "wb").write(b"old\n" * 999)
        done = subprocess.run([*head, given, "-o", results], capture_output=True)
        if done.returncode != code or (code and not done.stderr):
            sys.exit(f"failed: {given} to {results} gives {done.returncode}, not {code}: {done.stderr}")
        if kept is None and os.path.isfile(results):
            sys.exit(f"failed: {given} makes {results}")
        if kept is not None and (open(results, "rb").read() == b"old\n" * 999) != kept:
            sys.exit(f"failed: {given} {'empties' if kept else 'leaves'} {results}")
        if kept is False and len(open(results, "rb").readlines()) != (given == samples):
            sys.exit(f"failed: {given} gives other results")
    if not os.path.islink(link) or not os.path.isfile(f"{directory}/made"):
        sys.exit("failed: a link that leads to nothing is not followed")
    done = subprocess.run([*head, samples, "-o", "-"], capture_output=True, cwd=directory)
    if done.stdout.count(b"\n") != 1 or os.path.exists(f"{directory}/-"):
        sys.exit("failed: - is not standard output")
    return len(checks) + 2


def main():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([f"{BUILD}/bin/tests/bench_hand_tasks", directory], check=True)
        n = keeps_old_results(directory)
        for options in (), ("-",), ("--workers", "3"):
            f = Filter(directory, *options, stdout=subprocess.PIPE)
            n += one_by_one(f, f.process.stdout.fileno())
            f.process.stdout.close()
        fifo = f"{directory}/results"
        os.mkfifo(fifo)
        out = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        f = Filter(directory, "-o", fifo)
        os.set_blocking(out, True)
        n += one_by_one(f, out)
        os.close(out)
    print(f"{n} lines")


main()
