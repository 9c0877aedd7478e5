#!/usr/bin/env python3
# ctest: gen
"""nestor bench gen and card as commands: files, records, options, exit codes."""
import hashlib, json, os, pty, re, subprocess, sys, tempfile

NESTOR = os.environ["NESTOR"]
failures = []


def bench(*args):
    return subprocess.run([NESTOR, "bench", *args], capture_output=True, text=True)


def check(what, truth):
    if not truth:
        failures.append(what)
        print("FAILED:", what)


def wrong(code, says, *args):
    got = bench("gen", *args)
    check(f"{args} ends with {code}, not {got.returncode}", got.returncode == code)
    check(f"{args} says {says!r}, not {got.stderr!r}", says in got.stderr)


with tempfile.TemporaryDirectory() as d:
    tasks, key = os.path.join(d, "t.jsonl"), os.path.join(d, "k.jsonl")
    got = bench("gen", "--count", "16", "--levels", "2,4-5", "--kinds", "gen.mapping,qa.predict", "-o", tasks, "--key", key, "--quick")
    check(f"gen works: {got.stderr}", got.returncode == 0 and got.stdout == "")
    records = [json.loads(line) for line in open(tasks, encoding="utf-8")]
    keys = [json.loads(line) for line in open(key, encoding="utf-8")]
    check("sixteen tasks", len(records) == len(keys) == 16)
    check("levels", {r["level"] for r in records} == {2, 4, 5})
    check("kinds", {r["kind"] for r in records} == {"gen.mapping", "qa.predict"})
    for r, k in zip(records, keys):
        check("ids agree", r["task_id"] == k["task_id"] and r["schema"] == "nestor.task/1" and k["schema"] == "nestor.key/1")
        commit = hashlib.sha256((k["salt"] + "\n" + k["answer"]).encode()).hexdigest()
        check("the answer is committed to", r["answer_commit"] == commit)
        check("roles alternate", [m["role"] for m in r["messages"]] == ["system"] + ["user", "assistant"] * 2 + ["user"])
        check("no answer in the prompt", all(k["answer"] not in m["content"] for m in r["messages"]))
        check("seeds are numbers", isinstance(r["seed"], int))
        dumps = lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        content = hashlib.sha256(("content\n" + dumps(r["messages"]) + "\n" + dumps(r["spec"])).encode()).hexdigest()
        check("the content is hashed", r["content_hash"] == content)

    got = bench("gen", "--count", "16", "--levels", "2,4-5", "--kinds", "gen.mapping,qa.predict", "-o", "-", "--quick", "--threads", "1")
    check("standard output has the same bytes", got.returncode == 0 and got.stdout == open(tasks, encoding="utf-8").read())
    got = bench("gen", "--count", "2", "--kinds", "gen.mapping", "-o", "-", "--quick", "--card", "none", "--examples", "0")
    check("no card, no examples", all("Grammar" not in line and len(json.loads(line)["messages"]) == 2 for line in got.stdout.splitlines()))

    secret, short = os.path.join(d, "secret"), os.path.join(d, "short")
    open(secret, "w").write("thirty-two letters of good chance\n")
    open(short, "w").write("short\n")
    got = bench("gen", "--count", "2", "--split", "hidden", "--secret", secret, "--kinds", "qa.compare", "-o", "-", "--quick")
    check("hidden tasks", got.returncode == 0 and all(json.loads(line)["split"] == "hidden" for line in got.stdout.splitlines()))
    check("the secret is not told", "thirty-two" not in got.stdout)

    # A terminal is told how far it is; a file is not, nor who wants none.
    def on_terminal(*more):
        ours, theirs = pty.openpty()
        args = ["gen", "--count", "20", "-o", os.path.join(d, "told"), "--quick", "--threads", "1", *more]
        process = subprocess.Popen([NESTOR, "bench", *args], stderr=theirs, stdout=subprocess.DEVNULL)
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
        os.close(ours)
        return process.wait(), seen

    code, seen = on_terminal()
    check("progress on a terminal", code == 0 and re.match(rb"\rdev: [01] of 180 made \(0 %\)", seen) and seen.endswith(b"\r\x1b[K"))
    check("none where none is wanted", on_terminal("--quiet") == (0, b""))

    # Without the code generator nothing can be proven, which is said at once, and what was there stays.
    kept = os.path.join(d, "kept")
    open(kept, "w").write("as it was\n")
    os.environ["NESTOR_LLVM_MODULE"] = os.path.join(d, "none.so")
    got = bench("gen", "--count", "2", "-o", kept)
    check(f"no code generator: {got.stderr}", got.returncode == 1 and "three engines" in got.stderr and open(kept).read() == "as it was\n")
    got = bench("gen", "--count", "2", "-o", kept, "--quick")
    check("nor is one needed with --quick", got.returncode == 0 and len(open(kept).readlines()) == 2)
    got = bench("gen", "--count", "2", "--quick", "-o", kept, "--key", os.path.join(d, "no", "where"))
    check("neither file of two", got.returncode == 3 and len(open(kept).readlines()) == 2 and not [n for n in os.listdir(d) if n.endswith(".tmp")])
    if os.path.exists("/dev/full"):
        got = bench("gen", "--count", "2", "--quick", "-o", kept, "--key", "/dev/full")
        check(f"a full disk: {got.stderr}", got.returncode == 3 and "No space left" in got.stderr)
    wrong(2, "given for two things", "--count", "1", "--quick", "-o", os.path.join(d, "new"), "--key", os.path.join(d, ".", "new"))

    wrong(2, "where to? -o tasks.jsonl, or -o - for standard output")
    wrong(2, "did you mean gen.mapping?", "--kinds", "gen.maping", "-o", "-")
    wrong(2, "levels from 1 to 5", "--levels", "0-3", "-o", "-")
    wrong(2, "levels from 1 to 5", "--levels", "3-1", "-o", "-")
    wrong(2, "there is no split", "--split", "half", "-o", "-")
    wrong(2, "wants a secret", "--split", "hidden", "-o", "-")
    wrong(2, "goes with --split hidden", "--secret", secret, "-o", "-")
    wrong(3, "is no secret", "--split", "hidden", "--secret", short, "-o", "-")
    wrong(3, "cannot open", "--split", "hidden", "--secret", os.path.join(d, "none"), "-o", "-")
    wrong(2, "1 to 1,000,000", "--count", "0", "-o", "-")
    wrong(2, "at most 3", "--examples", "4", "-o", "-")
    wrong(2, "always the same", "--suite", "v1", "--kinds", "repair", "-o", d)
    wrong(3, "cannot write", "--count", "1", "-o", os.path.join(d, "no", "where"))
    wrong(2, "takes no", "file")

card = bench("card")
count = bench("card", "--count")
check("the card", card.returncode == 0 and card.stdout.startswith("# ") and "```nest" in card.stdout)
check("its tokens", count.returncode == 0 and 1000 < int(count.stdout) <= 2500)
check("card takes nothing", bench("card", "x").returncode == 2)
sys.exit(1 if failures else 0)
