#!/usr/bin/env python3
# ctest: report_command
"""nestor bench report from end to end: results as JSON Lines in, text, JSON, CSV and a page out; the page in headless Chromium."""
import html.parser
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

NESTOR = os.environ["NESTOR"]
SOURCE = os.environ["NESTOR_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))
from validate import load, validate  # noqa: E402
KINDS = "qa.compare qa.predict gen.workload gen.hardware gen.mapping gen.model gen.optimize repair".split()
FAULTS = "wrong illegal type syntax no_answer refused limit crashed truncated infra_error".split()
VOID = {"meta"}
checks = 0


def expect(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"failed: {what}")


def report(*args, code=0):
    done = subprocess.run([NESTOR, "bench", "report", *map(str, args)], capture_output=True, text=True)
    expect(done.returncode == code, f"report {args} gave {done.returncode}, not {code}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def task(i, kind, level, cluster):
    return {"schema": "nestor.task/1", "task_id": f"{kind}/{level}/{i}", "suite": "t", "version": 1, "split": "dev", "kind": kind,
            "level": level, "seed": i, "cluster": cluster, "messages": [], "spec": {"answer": "program"}, "dsl_version": "1",
            "limits": {}, "answer_commit": "x", "content_hash": f"h{i}", "canary": "c"}


def result(task, k, outcome):
    passed = outcome == "passed"
    return {"schema": "nestor.result/1", "task_id": task["task_id"], "sample_id": str(k), "passed": passed, "outcome": outcome,
            "score": 1.0 if passed else 0.25, "sub": {"reads@DRAM/A": passed, "fits": True}, "stage": "compare", "diagnostics": [],
            "counterexample": None if passed else {"params": {"tm": 8}, "expected": {"reads@DRAM/A": 4096}, "got": {"reads@DRAM/A": 1024}},
            "grader_version": "1"}


def small(directory, outcomes):
    """A run of one sample a task, with these outcomes."""
    tasks = [task(i, "gen.mapping", 1 + i % 5, f"c{i}") for i in range(len(outcomes))]
    return (write(directory / "results.jsonl", [result(t, 0, o) for t, o in zip(tasks, outcomes)]),
            "--tasks", write(directory / "tasks.jsonl", tasks))


def large(directory):
    """Two models, six samples a task, all outcomes."""
    r = random.Random(3)
    tasks = [task(i, KINDS[i % 8], 1 + i // 8 % 5, f"{KINDS[i % 8]}/{i % 3}") for i in range(160)]
    runs, extra = [], ["--tasks", write(directory / "all.jsonl", tasks)]
    for m, base in ("alpha", 0.95), ('beta"><script>alert(1)</script>\x1b[31m', 0.6):
        results, samples = [], []
        for t in tasks:
            for k in range(6):
                outcome = "passed" if r.random() < base - 0.1 * (t["level"] - 1) else r.choice(FAULTS)
                results.append(result(t, k, outcome))
                samples.append({"schema": "nestor.sample/1", "task_id": t["task_id"], "sample_id": str(k), "model": m,
                                "completion": f"</pre><img src=http://evil.test/x.png><script>alert({k})</script>\u202e {r.random()}",
                                "usage": {"prompt_tokens": 1000, "completion_tokens": 40}, "cost": 0.001})
        runs.append(write(directory / f"{m[:4]}.jsonl", results))
        extra += ["--samples", write(directory / f"{m[:4]}.samples.jsonl", samples)]
    return runs + extra


class Page(html.parser.HTMLParser):
    """Every element is closed, and none asks for anything."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.attributes += [(tag, k, v or "") for k, v in attrs]

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, k, v or "") for k, v in attrs]

    def handle_endtag(self, tag):
        expect(self.open and self.open.pop() == tag, f"</{tag}> closes its element")

    def handle_data(self, data):
        self.text.append(data)


def contrast(a, b):
    """Of two colours, as WCAG 2 has it."""
    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(w * (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4) for w, x in zip((0.2126, 0.7152, 0.0722), parts)) + 0.05
    return max(light(a), light(b)) / min(light(a), light(b))


def check_page(page, data):
    parsed = Page()
    parsed.feed(page)
    expect(not parsed.open, "all elements are closed")
    for tag, name, value in parsed.attributes:
        expect(not name.startswith("on"), f"no handler in {tag}")
        if name in ("src", "href", "xlink:href", "action", "srcset", "data"):
            expect(name == "href" and value.startswith("#"), f"{tag} {name}={value} stays in the page")
    for forbidden in "<script", "url(", "@import", "\x1b", "\u202e", "<img", "<iframe", "<link":
        expect(forbidden not in page, f"no {forbidden!r} in the page")
    for text in figures(data):
        expect(text in page, f"{text} is in the page")
    at = [page.index(f'<section id="{id}"') for id in ("scores", "pairs", "levels", "kinds-0", "files")]
    expect(at == sorted(at), "scores and comparisons stand before the heat maps")
    links = re.findall(r'<a href="#[^"]*">([^<]*)</a>', page)
    expect(len(links) == len(set(links)) > 8 and all(len(link) < 20 for link in links), f"links have short names: {links}")
    expect('<table class="facts">' in page[at[-1]:] and "the red line: the mean of the runs" in page, "facts are upright, dots explained")
    expect(re.search(r'<th scope="col" class="text">second</th><th scope="col">difference</th>', page), "words from the left, figures from the right")
    expect(">minus " in page and ">less " not in page, "differences are named")
    for shade, tone, value in re.findall(r'fill="(#[0-9a-f]{6})"/><title>[^<]*</title><text [^>]*class="(dark|light)">(?:&gt;= )?([0-9.]+)<', page):
        expect(contrast(shade, {"dark": "#ffffff", "light": "#000000"}[tone]) >= 4.5, f"{value} can be read on {shade}")
    for mode in re.findall(r":root\{([^}]*)\}", page):
        colour = dict(re.findall(r"--(\w+):(#[0-9a-f]{6})", mode))
        for ink in "ink", "faint", "mark", "good", "warn":
            for ground in ("ground", "soft") if ink == "ink" else ("ground",):
                expect(contrast(colour[ink], colour[ground]) >= 4.5, f"{ink} can be read on {ground}: {colour}")


def figures(data):
    """What the page must show."""
    out = [o for o in FAULTS] + KINDS + ["4096", "1024", "tm = 8", "incomplete, to redo", "Two models, task by task"]
    for model in data["models"]:
        one, wide = model["pass_at_1"], model["bounds"]
        out += [f"&gt;= {one['mean']:.3f}", f"from {wide[0]:.3f} to {wide[1]:.3f}", "incomplete", f"{model['repetition']['sd']:.3f}"]
        expect(set(model["pass_at_k"].values()) == {None}, "no pass@k while samples are outstanding")
        out += [f"{c['mean']:.2f}" for c in model["by_kind_and_level"]]
        out.append(f"{model['pass_at_1_outstanding_excluded']['mean']:.3f}")
    out.append(f"{data['pairs'][0]['difference']['mean']:+.3f}")
    return out


def pixels(path):
    """Rows of (r, g, b) of a PNG of 8 bits a channel without interlace."""
    raw = path.read_bytes()
    at, data = 8, b""
    while at < len(raw):
        size, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + size]
        at += 12 + size
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            expect(depth == 8 and colour in (2, 6), "a picture of 8 bits a channel")
        elif kind == b"IDAT":
            data += body
    n = 3 if colour == 2 else 4
    data, stride, before = zlib.decompress(data), n * width, bytearray(n * width)
    rows = []
    for y in range(height):
        start = y * (stride + 1)
        kind, row = data[start], bytearray(data[start + 1:start + 1 + stride])
        for i in range(stride):
            a, b, c = row[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            if kind == 1:
                add = a
            elif kind == 2:
                add = b
            elif kind == 3:
                add = (a + b) // 2
            elif kind == 4:
                pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                add = a if pa <= pb and pa <= pc else b if pb <= pc else c
            else:
                add = 0
            row[i] = (row[i] + add) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, stride, n)])
        before = row
    return rows


def luminance(colour):
    return sum(w * c / 255 for w, c in zip((0.2126, 0.7152, 0.0722), colour))


def check_in_browser(browser, directory, page, data):
    common = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
              "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={directory}/profile"]
    where = page.as_uri()
    environment = dict(os.environ, HOME=str(directory), XDG_CACHE_HOME=str(directory / "cache"))

    def run(*args):
        return subprocess.run(common + [*args, where], capture_output=True, text=True, env=environment, timeout=240)

    log = directory / "net.json"
    done = run(f"--log-net-log={log}", "--dump-dom")
    expect("</html>" in done.stdout, f"the browser shows the page: {done.stderr[-800:]}")
    for text in figures(data):
        expect(text in done.stdout, f"{text} is in the page as the browser has it")
    expect("<script" not in done.stdout and "<img" not in done.stdout, "nothing of a model became an element")
    expect("evil.test" not in log.read_text(errors="replace"), "nothing was asked of the network")
    grounds = {}
    for mode in "light", "dark":
        shot = directory / f"{mode}.png"
        run(f"--blink-settings=preferredColorScheme={0 if mode == 'dark' else 1}", "--window-size=800,900", f"--screenshot={shot}")
        expect(shot.exists(), f"a picture of the page, {mode}")
        rows = pixels(shot)
        ground = rows[2][2]
        grounds[mode] = luminance(ground)
        flat = [c for row in rows for c in row]
        far = sum(abs(luminance(c) - grounds[mode]) > 0.45 for c in flat)
        expect(far > len(flat) / 200, f"writing stands out from the ground, {mode}: {far} of {len(flat)} pixels")
        expect(len(set(flat)) > 100, f"the picture has colours, {mode}")
    expect(grounds["light"] > 0.9 and grounds["dark"] < 0.2, f"grounds are light and dark: {grounds}")


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="nestor-report-"))
    try:
        # Errors stay in the denominator.
        args = small(work, ["passed"] * 80 + ["wrong"] * 10 + ["infra_error"] * 10)
        text = report(*args)
        expect(re.search(r"0\.800 .*100\n.*10 infrastructure errors: incomplete, to redo", text), f"80 of 100, to redo:\n{text}")
        expect(text.index("0.889") > text.index("Errors excluded (not the score"), "0.889 stands under its label")
        one = json.loads(report(*args, "--format", "json"))["models"][0]
        expect(one["pass_at_1"]["mean"] == 0.8, "the score is 0.8")
        args = small(work, ["passed"] * 2 + ["wrong"] * 4 + ["infra_error"] * 2)
        one = json.loads(report(*args, "--format", "json"))["models"][0]
        expect(one["pass_at_1"]["mean"] == 0.25 and round(one["pass_at_1_outstanding_excluded"]["mean"], 4) == 0.3333, "2 of 8")
        # Truncation likewise has a rate of its own.
        args = small(work, ["passed", "truncated"])
        one = json.loads(report(*args, "--format", "json"))["models"][0]
        expect(one["pass_at_1"]["mean"] == 0.5 and one["pass_at_1_outstanding_and_truncated_excluded"]["mean"] == 1, "one cut off")
        expect(one["outstanding"] == 0, "what is cut off is not to redo")
        # A fraction is a fraction: 1 of 200.
        t = task(0, "qa.predict", 1, "c")
        args = (write(work / "f.jsonl", [result(t, k, "passed" if k == 7 else "wrong") for k in range(200)]), "-t", write(work / "t.jsonl", [t]))
        one = json.loads(report(*args, "--format", "json", "-k", "1,10,500"))["models"][0]
        expect(one["pass_at_1"]["mean"] == 0.005 and one["pass_at_k"]["10"] == 0.05 and one["pass_at_k"]["500"] is None, "1 of 200")
        for k in "0", "1000001", "99999999999999999999", "1,5,", "1,,5", "-1", "x", "":
            expect("from 1 to 1000000, as in" in report(*args, "-k", k, code=2), f"k = {k!r}")
        report(*args, "-k", "1,1000000")

        # All forms of a large report.
        args = large(work)
        page = work / "report.html"
        text = report(*args, "--html", page)
        data = json.loads(report(*args, "--format", "json"))
        schema = load(SOURCE, "nestor.report-1.schema.json")
        validate(schema, data)
        for member, wrong in ("level", 2), ("models", []), ("pairs", None):
            try:
                validate(schema, data | {member: wrong})
            except Exception:
                continue
            sys.exit(f"failed: the schema takes {member} = {wrong}")
        expect("\x1b" not in text and "\u202e" not in text, "nothing acts on the terminal")
        expect(text == report(*args, "--html", work / "again.html"), "the same bytes again")
        expect(page.read_bytes() == (work / "again.html").read_bytes(), "the same page again")
        rows = report(*args, "--format", "csv").splitlines()
        expect(rows[0] == "model,figure,kind,level,name,value,low,high,error,n", "a head of the columns")
        expect(any(r.startswith("alpha,pass_at_1,,,,%.10g," % data["models"][0]["pass_at_1"]["mean"]) for r in rows), "the score as CSV")
        check_page(page.read_text(), data)

        # Messages.
        expect("nothing to report" in report(code=2), "no run")
        one = write(work / "one.jsonl", [])
        expect("a run counts once" in report(one, work / ".." / work.name / "one.jsonl", code=2), "one file twice")
        expect("give the tasks with --tasks" in report(args[0], code=3), "results without tasks")
        expect("there is nothing to report" in report(write(work / "empty.jsonl", []), "-t", work / "t.jsonl", code=3), "no samples")
        expect("but not the task itself" in report(args[0], "-t", work / "t.jsonl", code=3), "other tasks")
        expect("--k takes" in report(args[0], "-k", "1,,2", code=2), "a bad list")
        expect("--level is a probability" in report(args[0], "--level", "95", code=2), "a bad level")
        expect("--format is" in report(args[0], "--format", "xml", code=2), "a bad format")
        report(work / "none.db", code=3)
        (work / "bad.jsonl").write_text('{"schema":"nestor.result/1"\n')
        expect("bad.jsonl:1" in report(work / "bad.jsonl", "-t", work / "t.jsonl", code=3), "a bad line has its place")
        samples = write(work / "s.jsonl", [{"task_id": t["task_id"], "sample_id": "0", "completion": "x"}])
        done = subprocess.run([NESTOR, "bench", "report", work / "empty.jsonl", "-t", work / "t.jsonl", "--samples", samples], capture_output=True, text=True)
        expect(done.returncode == 0 and "1 sample is not graded" in done.stderr and "1 not graded" in done.stdout, f"not graded: {done.stderr}")

        browser = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
        if not browser:
            print(f"{checks} checks; skipped: no chromium, the page was not looked at (apt-get install chromium)")
            return 77
        check_in_browser(browser, work, page, data)
        print(f"{checks} checks")
        return 0
    finally:
        shutil.rmtree(work, ignore_errors=True)


sys.exit(main())
