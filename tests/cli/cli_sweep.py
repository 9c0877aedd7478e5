"""nestor sweep and merge: the same answer however it is found, saved, split, printed or pasted back."""
from common import NESTOR, SOURCE, expect, main, read, run, write
from validate import load, validate
import ast
import csv
import io
import itertools
import json
import os
import re
import signal
import struct
import subprocess
import time

GEMM = """const CAP = 2 KiB
## A product that is searched in a moment.
workload gemm(M = 48, N = 40, K = 36) {
  dim m = M, n = N, k = K
  tensor A, B : int8, C : int32
  C[m, n] += A[m, k] * B[k, n]
}
workload other { dim x = 4 Y[x] += Z[x] }
hardware hw {
  memory DRAM { bandwidth = 4 B/cycle  energy = 100 pJ/B }
  memory L2 { capacity = CAP  energy = 3 pJ/B }
  memory L1 { capacity = 200 B  energy = 1 pJ/B }
  compute MAC { energy = 0.5 pJ }
}
# Comments stay.
mapping x(tm = 12, tn = 8, tk = 6) of gemm on hw {
  permute { for m by tm  for n by tn  # outer
            for k by tk }
  keep? A in L2
  keep B, C in L2
  for k by 2
  keep all in L1
}
sweep s of x {
  tm in divisors(M)  tn in 1 .. N step 3  tk in [1, 2, 5, 36]
  where fits
  minimize energy, cycles
  pareto usage(L2), offchip
  top 7
}
"""

CHAIN = """workload chain(M = 8, N = 6, K = 5, L = 4) {
  dim m = M, n = N, k = K, l = L
  tensor A, B, D, S, T : int8
  S[m, n] += A[m, k] * B[k, n]
  T[m, l] += S[m, n] * D[n, l]
}
hardware hw { memory DRAM { energy = 9 pJ/B } memory L2 { capacity = 90 B  energy = 1 pJ/B } memory L1 compute MAC }
mapping x(tm = 2, tn = 3) of chain on hw {
  keep all in DRAM
  for m by tm
  keep? S in L2
  seq {
    do S { permute { for n by tn for k by 2 } keep A, S in L2 keep all in L1 }
    do T { for n by tn keep S, D, T in L2 keep all in L1 }
  }
}
sweep s of x { tm in divisors(M) tn in 1 .. N where fits minimize offchip, energy pareto usage(L2), offchip top 9 }
"""

# Some seconds point by point, and in many units: long enough to be interrupted.
LONG = GEMM.replace("tn in 1 .. N step 3  tk in [1, 2, 5, 36]", "tn in 1 .. N  tk in 1 .. K")


def sweep(*args, code=0, program=None, **more):
    if program is not None:
        write("p.nest", program)
    result = run("sweep", "-q", *args, "p.nest", **more)
    assert result.code == code, result
    return result.out


def answer(*args, **more):
    return json.loads(sweep("--format", "json", *args, **more))


def strip(data):
    """What any way of searching must agree on."""
    return {k: data[k] for k in ("sweep", "space", "best", "pareto", "exhausted")}


def test_schema():
    schema = load(SOURCE, "nestor.sweep-1.schema.json")
    for program in [GEMM, CHAIN]:
        for args in [(), ("--timing",), ("--dry-run",), ("--sample", "9"), ("--no-kernel", "--no-prune")]:
            validate(schema, answer(*args, program=program))


def test_json_by_hand():
    data = answer(program=CHAIN)
    assert list(data) == ["schema", "sweep", "space", "evaluated", "pruned", "valid", "dropped", "duplicates", "exhausted",
                          "best", "pareto"]
    assert data["space"] == 4 * 6 * 2 * 2
    assert data["evaluated"] + data["pruned"] + data["duplicates"] + data["dropped"] == data["space"]
    assert data["exhausted"] is True
    best = data["best"][0]
    assert list(best) == ["params", "orders", "keeps", "metrics", "mapping"]
    assert list(best["params"]) == ["tm", "tn"] and list(best["metrics"]) == ["offchip", "energy", "usage(L2)"]
    assert best["orders"] in (["n", "k"], [["n", "k"]], [["k", "n"]])
    assert best["keeps"] == [{"level": "L2", "tensors": ["S"], "kept": best["keeps"][0]["kept"]}]
    ranks = [tuple(p["metrics"][k] for k in ("offchip", "energy")) for p in data["best"]]
    assert ranks == sorted(ranks) and len(ranks) == 9
    front = [(p["metrics"]["usage(L2)"], p["metrics"]["offchip"]) for p in data["pareto"]]
    assert front == sorted(set(front)) and [f[1] for f in front] == sorted((f[1] for f in front), reverse=True)


def test_same_bytes_and_same_answer():
    for program in [GEMM, CHAIN, LONG]:
        first = sweep("--format", "json", program=program)
        for jobs in ["1", "2", "3"]:
            assert sweep("--format", "json", "-j", jobs) == first
        for args in [["--no-kernel"], ["--no-prune"], ["--no-kernel", "--no-prune"]]:
            assert strip(answer(*args)) == strip(json.loads(first)), args
    assert "seconds" not in first


def test_against_every_point():
    """The best and the front, from a list of all points."""
    data = answer(program=GEMM)
    sweep("--all", "all.csv", "--no-kernel")
    rows = list(csv.DictReader(open("all.csv")))
    assert len(rows) == answer("--no-prune")["valid"]
    assert list(rows[0]) == ["tm", "tn", "tk", "order_1", "keep A in L2", "energy", "cycles", "usage(L2)", "offchip"]
    tns = list(range(1, 41, 3))
    def place(r):
        order = list(itertools.permutations("mnk")).index(tuple(r["order_1"].split()))
        return (int(r["tm"]), int(r["tn"]), [1, 2, 5, 36].index(int(r["tk"])), 1 - int(r["keep A in L2"]), order)
    rows.sort(key=lambda r: (float(r["energy"]), float(r["cycles"]), place(r)))
    for row, best in zip(rows, data["best"]):
        assert {k: int(row[k]) for k in ("tm", "tn", "tk")} == best["params"]
        assert row["order_1"].split() == best["orders"][0] and (row["keep A in L2"] == "1") == best["keeps"][0]["kept"]
        assert {k: float(row[k]) for k in best["metrics"]} == best["metrics"]
    front, least = [], None
    for row in sorted(rows, key=lambda r: (float(r["usage(L2)"]), float(r["offchip"]), place(r))):
        if least is None or float(row["offchip"]) < least:
            least = float(row["offchip"])
            front.append((float(row["usage(L2)"]), least))
    assert [(p["metrics"]["usage(L2)"], p["metrics"]["offchip"]) for p in data["pareto"]] == front


def test_known_answers():
    """Numbers found by other means: a product of 4096 x 4096 matrices, one byte an element."""
    examples = os.path.join(SOURCE, "examples/sweeps/")
    front = json.loads(run("sweep", "-q", "--format", "json", examples + "gemm_front.nest").out)
    points = [(p["metrics"]["usage(BUF)"], p["metrics"]["offchip"]) for p in front["pareto"]]
    assert len(points) == 25 and front["space"] == 13 ** 3 * 6 and front["exhausted"]
    for point in [(3, 137455730688), (24, 34376515584), (288, 8606711808), (4224, 2164260864), (66048, 553648128),
                  (1050624, 150994944), (16785408, 50331648)]:
        assert point in points, point
    assert points[-1][1] == 3 * 4096 ** 2  # each matrix once
    with open(examples + "gemm_tiles.nest") as f:
        program = f.read()
    write("p.nest", program[:program.index("sweep ")] + "sweep d of tiled { tm in divisors(M) tn in divisors(N) where usage(BUF) <= 64 KiB minimize offchip }\n")
    assert answer()["best"][0]["metrics"]["offchip"] == 822083584  # what divisors alone reach
    write("p.nest", GEMM)
    if "engine kernel" not in sweep("--timing"):
        return  # 16.8 million points each: too many one by one
    result = run("sweep", "-q", "--format", "json", examples + "gemm_tiles.nest")
    tiles = json.JSONDecoder()
    text, found = result.out, []
    while text.strip():
        data, end = tiles.raw_decode(text.lstrip())
        found.append((data["space"], data["best"][0]["metrics"]["offchip"]))
        text = text.lstrip()[end:]
    assert found == [(4096 ** 2, n) for n in (4546625536, 2248146944, 1409286144, 570425344, 167772160)], found
    for (_, traffic), size in zip(found, [1000, 4000, 10000, 65536, 1048576]):
        assert traffic * size ** 0.5 > 2 * 4096 ** 3  # the bound that holds for any mapping


def test_lists():
    expect(run("sweep", "p.nest"), 3, err="cannot open")
    sweep("--all", "a.csv", "--no-kernel", "-j", "1", program=GEMM)
    for jobs in ["1", "2"]:
        sweep("--all", "b.csv", "--no-kernel", "-j", jobs)
        assert read("a.csv") == read("b.csv")
    sweep("--all", "a.npy", "--no-kernel")
    data = read("a.npy")
    assert data[:8] == b"\x93NUMPY\x02\x00"
    size = struct.unpack("<I", data[8:12])[0]
    head = ast.literal_eval(data[12:12 + size].decode())
    rows = list(csv.DictReader(open("a.csv")))
    assert head["shape"] == (len(rows),) and (12 + size) % 64 == 0
    assert [name for name, _ in head["descr"]] == list(rows[0])
    record = struct.Struct("<" + "".join({"<i8": "q", "<u8": "Q", "<f8": "d"}[kind] for _, kind in head["descr"]))
    assert len(data) == 12 + size + record.size * len(rows)
    for row, values in zip(rows, record.iter_unpack(data[12 + size:])):
        for (name, kind), value in zip(head["descr"], values):
            assert name == "order_1" or float(row[name]) == value
    try:
        import numpy
        assert len(numpy.load("a.npy")["usage(L2)"]) == len(rows)
    except ImportError:
        pass
    expect(run("sweep", "--all", "a.txt", "p.nest"), 2, err="FILE.csv or FILE.npy")
    expect(run("sweep", "--all", "missing/a.csv", "p.nest"), 3, err="cannot write missing/a.csv")
    assert run("sweep", "-q", "--all", "/dev/stdout", "-o", "x", "p.nest").out.startswith("tm,tn,tk,")
    assert not [f for f in os.listdir(".") if f.endswith(".tmp")]


def figures(path):
    """Metrics of the mappings of a file, by name, as eval and explain print them."""
    result = run("eval", "--format", "json", path)
    assert result.code == 0, result
    return {r["mapping"]: r for r in json.loads(result.out)["results"]}


def agree(result, metrics):
    found = {"energy": result["metrics"]["energy_pj"], "cycles": result["metrics"]["cycles"],
             "offchip": result["metrics"]["offchip_bytes"]}
    found.update({f"usage({l['name']})": l["usage_bytes"] for l in result["levels"]})
    for name, value in metrics.items():
        assert found[name] == value, (name, found[name], value)


def test_paste_back():
    for program in [GEMM, CHAIN]:
        text = sweep("--mappings", program=program)
        short = sweep(program=program)
        data = answer()
        everything = text[text.index("\nmapping ") + 1:]
        assert everything.count("mapping ") == len(data["best"]) + len(data["pareto"])
        head = program[:program.index("mapping x(")]
        # as printed, the first three of them, and as JSON has them
        first = short[short.index("\nmapping ") + 1:]
        assert first.count("\nmapping ") + 1 == min(3, len(data["best"])) and everything.startswith(first[:first.index("# ")])
        bodies = {p["mapping"].split("(", 1)[1] for p in data["best"] + data["pareto"]}  # one that is in both tables is one
        assert program is not GEMM or len(bodies) < len(data["best"]) + len(data["pareto"])
        left = len(bodies) - min(3, len(data["best"]))
        assert first.endswith(f"# {left} more mappings in these tables: --mappings prints them\n")
        for pasted in [everything, "\n".join(p["mapping"] for p in data["best"] + data["pareto"]) + "\n"]:
            write("pasted.nest", head + pasted)
            results = figures("pasted.nest")
            for i, p in enumerate(data["best"]):
                agree(results[f"s_{i + 1}"], p["metrics"])
            for i, p in enumerate(data["pareto"]):
                agree(results[f"s_front_{i + 1}"], p["metrics"])
        # nothing is wider than a screen, and what takes several lines is laid out as fmt does
        assert all(len(l) <= 100 for l in everything.splitlines()), everything
        laid_out = [m for m in ("\nmapping " + everything[8:]).split("\nmapping ")[1:] if "\n" in m.strip()]
        write("pasted.nest", "mapping " + "\n\nmapping ".join(m.strip() for m in laid_out) + "\n")
        if laid_out:
            assert run("fmt", "pasted.nest").out == read("pasted.nest").decode()


def test_emit():
    for program in [GEMM, CHAIN]:
        data = json.loads(sweep("--emit", "best.nest", "--format", "json", program=program))
        text = read("best.nest").decode()
        assert "permute" not in text and "keep?" not in text and "sweep s of" not in text and "other" not in text
        agree(figures("best.nest")["x"], data["best"][0]["metrics"])
        expect(run("fmt", "--check", "best.nest"), 0)
        body = text[text.index("mapping x("):]
        assert "\n\n" not in body.rstrip() and not any(l.isspace() for l in body.splitlines()), body
    sweep("--emit", "best.nest", program=GEMM)
    text = read("best.nest").decode()
    assert "const CAP" in text and "## A product" in text and "# outer" in text
    write("none.nest", GEMM.replace("where fits", "where tm > 999"))
    os.remove("best.nest")
    expect(run("sweep", "-q", "none.nest", "--emit", "best.nest"), 0, out="no point is valid", err="is not written")
    assert not os.path.exists("best.nest")


def test_emit_from_used_files():
    os.makedirs("lib/deep")
    os.makedirs("out")
    head, rest = GEMM.split("# Comments stay.\n")
    write("lib/deep/hw.nest", head)
    mapping, question = rest.split("sweep s of x")
    write("lib/map.nest", 'use "deep/hw.nest" as parts\nuse std.hardware.edge\n' +
          mapping.replace("of gemm on hw", "of parts.gemm on parts.hw"))
    write("p.nest", 'use "lib/map.nest"\nsweep s of x' + question)
    data = json.loads(sweep("--emit", "out/best.nest", "--format", "json"))
    assert "of parts.gemm on parts.hw" in data["best"][0]["mapping"]
    here = json.dumps(strip(data)).replace("parts.", "")
    assert json.loads(here) == strip(answer(program=GEMM))
    write("p.nest", 'use "lib/map.nest"\nsweep s of x' + question)
    agree(figures("out/best.nest")["x"], data["best"][0]["metrics"])
    sweep("--shard", "0/1", "-o", "part")
    os.rename("lib", "gone")
    merged = run("merge", "part", "--format", "json")
    assert json.loads(merged.out)["best"] == data["best"], merged


def test_units_of_parameters():
    program = GEMM.replace("hardware hw {", "hardware hw(cap = 1 KiB) {").replace("capacity = CAP", "capacity = cap").replace(
        "mapping x(tm = 12", "mapping x(cap = 1 KiB, tm = 12").replace("on hw {", "on hw(cap) {").replace(
        "tm in divisors(M)", "cap in [0.25 KiB, 1 KiB] tm in divisors(M)")
    data = json.loads(sweep("--emit", "best.nest", "--format", "json", program=program))
    assert data["best"][0]["params"]["cap"] in (256, 1024)
    agree(figures("best.nest")["x"], data["best"][0]["metrics"])


def test_limits_and_samples():
    write("p.nest", LONG)
    space = answer("--dry-run")["space"]
    assert space == 10 * 40 * 36 * 12
    for args in [("--limit", "1000"), ("--sample", "1000"), ("--sample", "1000", "--seed", "7")]:
        data = answer(*args)
        assert data["exhausted"] is False and data["space"] == space
        assert data["evaluated"] + data["dropped"] == 1000
        assert answer(*args, "-j", "2") == data
        assert "not proven" in sweep(*args)
    assert answer("--sample", "50") != answer("--sample", "50", "--seed", "1")
    whole = answer()
    for args in [("--limit", str(space)), ("--sample", str(space + 1)), ("--limit", "9" * 19)]:
        assert answer(*args) == whole and whole["exhausted"]
    assert "proven: the whole space was searched" in sweep()
    expect(run("sweep", "--limit", "0", "p.nest"), 2, err="whole number above zero")
    expect(run("sweep", "--sample", "1e3", "p.nest"), 2, err="whole number")
    expect(run("sweep", "--sample", "3", "--limit", "3", "p.nest"), 2, err="exclude each other")


def test_shards():
    whole = sweep("--format", "json", program=LONG)
    for mode in [[], ["--no-kernel"], ["--sample", "3000"]]:
        expected = sweep("--format", "json", *mode)
        for n in [1, 2, 5]:
            parts = [f"part{i}" for i in range(n)]
            for i in range(n):
                expect(run("sweep", "-q", *mode, "--shard", f"{i}/{n}", "-o", parts[i], "p.nest"), 0)
            merged = run("merge", *reversed(parts), "--format", "json")
            assert (merged.code, merged.out) == (0, expected), merged
    # table, CSV and files of a merge are those of the sweep
    expect(run("sweep", "-q", "--shard", "0/1", "-o", "part", "p.nest"), 0)
    assert run("merge", "part").out == sweep()
    assert run("merge", "part", "--format", "csv", "--emit", "m.nest", "--plot", "m.svg").out == sweep(
        "--format", "csv", "--emit", "s.nest", "--plot", "s.svg")
    assert read("m.nest") == read("s.nest") and read("m.svg") == read("s.svg")
    # what does not belong together
    for i in range(3):
        expect(run("sweep", "-q", "--shard", f"{i}/3", "-o", f"part{i}", "p.nest"), 0)
    expect(run("merge", "part0", "part2", "--format", "json"), 0, out='"exhausted":false', err="do not cover the whole space")
    expect(run("merge", "part0", "part0"), 1, err="part 0/3 is there already")
    expect(run("merge", "part0", "part"), 1, err="it is one of 1 parts")
    write("p.nest", LONG.replace("top 7", "top 8"))
    expect(run("sweep", "-q", "--shard", "1/3", "-o", "other", "p.nest"), 0)
    expect(run("merge", "part0", "other"), 1, err="another program")
    write("p.nest", LONG)
    expect(run("sweep", "-q", "--no-prune", "--shard", "1/3", "-o", "other", "p.nest"), 0)
    expect(run("merge", "part0", "other"), 1, err="without pruning")
    data = read("part1")
    write("torn", data[:-3])
    expect(run("merge", "part0", "torn"), 1, err="torn or damaged")
    write("bad", data[:60] + bytes([data[60] ^ 1]) + data[61:])
    expect(run("merge", "bad"), 1, err="torn or damaged")
    expect(run("merge", "p.nest"), 1, err="not the state of a sweep")
    expect(run("sweep", "--shard", "0/3", "p.nest"), 2, err="needs -o PART")
    for shard in ["3/3", "1", "a/b", "0/0", "-1/3"]:
        expect(run("sweep", "--shard", shard, "-o", "x", "p.nest"), 2, err="--shard takes I/N")


def sealed(state):
    """The state with the checksum that ends it made right."""
    h = 0xcbf29ce484222325
    for byte in state[:-8]:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return state[:-8] + struct.pack("<Q", h)


def test_checkpoints():
    write("p.nest", LONG)
    whole = sweep("--format", "json", "--no-kernel")
    args = ["sweep", "-q", "--no-kernel", "--format", "json", "--checkpoint", "state", "p.nest"]
    expect(run(*args), 0)
    expect(run(*args), 2, err="--resume goes on from it")
    assert run(*args, "--resume").out == whole  # nothing is left to do
    os.remove("state")
    # interrupted again and again, by signals that can be caught and one that cannot
    kills = stops = 0
    for attempt in range(400):
        process = subprocess.Popen([NESTOR, *args, "--resume", "-j", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            # from at once to ever later, so that a fast machine is interrupted and a slow build on a busy one gets somewhere
            out, err = process.communicate(timeout=0.02 + 0.01 * attempt)
            break
        except subprocess.TimeoutExpired:
            kill = attempt % 3 == 2
            process.send_signal(signal.SIGKILL if kill else [signal.SIGINT, signal.SIGTERM][attempt % 2])
            out, err = process.communicate()
            kills += kill
            stops += process.returncode == 4
            if process.returncode == 4:
                part = json.loads(out)
                assert part["evaluated"] + part["dropped"] <= part["space"]
                assert b"was stopped; --resume goes on from the checkpoint" in err
    assert process.returncode == 0 and out.decode() == whole
    assert stops > 0
    # what it refuses
    expect(run(*args[:-1], "--resume", "--no-prune", "p.nest"), 1, err="cannot resume from state: it was made with pruning")
    if "engine kernel" in sweep("--timing"):  # not in a build without native code
        expect(run("sweep", "-q", "--checkpoint", "state", "--resume", "p.nest"), 1, err="it was made by the engine plain")
    write("p.nest", LONG + "\n# another\n")
    expect(run(*args, "--resume"), 1, err="it is of another program: p.nest differs")
    write("p.nest", LONG.replace("sweep s of", "sweep t of"))
    expect(run(*args, "--resume"), 1, err="it is of another program")
    write("p.nest", LONG)
    state = read("state")
    length = struct.unpack_from("<Q", state, 20)[0]
    other = state[:20] + struct.pack("<Q", 5) + b"9.9.9" + state[28 + length:]
    write("state", other)
    expect(run(*args, "--resume"), 1, err="torn or damaged")
    write("state", sealed(other))
    expect(run(*args, "--resume"), 1, err="it is of version 9.9.9, and this is nestor ")
    expect(run("merge", "state"), 1, err="it is of version 9.9.9, and this is nestor ")
    write("state", sealed(other.replace(b"9.9.9", b"\x1b[31m")))
    expect(run("merge", "state"), 1, err="it is of version ?[31m, and")  # nothing of a foreign file reaches the terminal
    write("state", sealed(state))
    assert run(*args, "--resume").out == whole  # the same by the test's own sum
    for cut in [0, 5, 30, len(state) // 2, len(state) - 1]:
        write("state", state[:cut])
        expect(run(*args, "--resume"), 1, err="cannot resume from state: ")
    expect(run("sweep", "--resume", "p.nest"), 2, err="--resume needs --checkpoint FILE")
    expect(run("sweep", "--checkpoint", "c", "--all", "a.csv", "p.nest"), 2, err="cannot be resumed")
    expect(run("sweep", "-q", "--checkpoint", "missing/c", "--no-kernel", "p.nest"), 3, err="cannot write missing/c")


def test_places_that_cannot_be_written():
    """Told before the search where that can be known, else after it; exit 3, and nothing is left behind."""
    write("p.nest", LONG.replace("tk in 1 .. K", "tk in 1 .. 36000000"))  # takes hours
    os.mkdir("dir")
    for option in ["-o", "--all", "--emit", "--plot", "--checkpoint"]:
        for place, why in [("missing/x.csv", "No such file or directory"), ("dir", "Is a directory"), ("p.nest/x.csv", "Not a directory")]:
            if option == "--plot":
                place = place.replace(".csv", ".svg")
            expect(run("sweep", option, place, "p.nest"), 3, err=f"cannot write {place}: {why}")
    expect(run("sweep", "--checkpoint", "/dev/null", "p.nest"), 2, err="takes the name of a regular file")
    write("p.nest", GEMM)
    for option in ["-o", "--all", "--emit", "--plot"]:
        expect(run("sweep", "-q", option, "/dev/full", "p.nest"), 3, err="cannot write /dev/full: No space left on device")
    expect(run("sweep", "-q", "-o", "/dev/null", "--emit", "/dev/full", "--plot", "front.svg", "p.nest"), 3, err="/dev/full")
    assert os.path.exists("front.svg")  # one that fails does not keep the others from being written
    os.remove("front.svg")
    # a limit on file sizes stands for a full disk: the write fails in the middle
    write("p.nest", LONG.replace("top 7", "top 700"))
    for option in ["-o x", "--all x.csv", "--all x.npy", "--plot x.svg", "--checkpoint x", "--shard 0/1 -o x"]:
        done = subprocess.run(["bash", "-c", f"ulimit -f 2; trap '' XFSZ; $N sweep -q --no-kernel --limit 20000 {option} p.nest"],
                              capture_output=True, text=True, env=dict(os.environ, N=NESTOR))
        assert done.returncode == 3 and "cannot write x" in done.stderr and "File too large" in done.stderr, (option, done)
        assert sorted(os.listdir(".")) == ["dir", "gemm.nest", "p.nest"], (option, os.listdir("."))
    # standard output
    write("p.nest", GEMM)
    expect(run("sweep", "-q", "--shard", "0/1", "-o", "part", "p.nest"), 0)
    for command in ["sweep -q p.nest", "sweep --dry-run p.nest", "sweep -q --format json p.nest", "merge part", "sweep --help"]:
        for to, why in [("> /dev/full", "No space left on device"), (">&-", "cannot write standard output")]:
            done = subprocess.run(["bash", "-c", f"$N {command} {to}"], capture_output=True, text=True, env=dict(os.environ, N=NESTOR))
            assert done.returncode == 3 and why in done.stderr, (command, to, done)
    assert subprocess.run(["bash", "-c", "$N sweep p.nest 2>&- | cmp - <($N sweep -q p.nest)"], env=dict(os.environ, N=NESTOR)).returncode == 0
    for place, why in [("missing/x.svg", "No such file"), ("dir", "Is a directory"), ("/dev/full", "No space left")]:
        for option in ["-o", "--emit", "--plot"]:
            expect(run("merge", "part", option, place), 3, err=[f"cannot write {place}", why])
    expect(run("merge", "dir"), 3, err="dir: it is a directory; name a file in it")
    expect(run("merge", "/dev/zero"), 3, err="larger than 256 MiB")
    expect(run("merge", "/dev/null"), 1, err="not the state of a sweep")
    expect(run("merge", "part", "part0"), 3, err="cannot open part0")


def test_stop_without_checkpoint():
    write("p.nest", LONG.replace("tk in 1 .. K", "tk in 1 .. 36000"))
    process = subprocess.Popen([NESTOR, "sweep", "--no-kernel", "--all", "a.csv", "p.nest"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, (process.returncode, err)
    assert b"not proven: the search was stopped" in out and b"its answer is not proven" in err
    rows = read("a.csv").decode().splitlines()
    valid = int(re.search(r"valid ([\d,]+)", out.decode()).group(1).replace(",", ""))
    assert len(rows) == valid + 1


def test_errors_and_names():
    write("p.nest", GEMM + "sweep second of x { tm in [4] minimize cycles }\n")
    expect(run("sweep", "-q", "p.nest"), 0, out=["sweep s of x", "sweep second of x"])
    out = run("sweep", "-q", "--sweep", "second", "p.nest").out
    assert "sweep s of x" not in out and "sweep second of x: 12 points" in out
    expect(run("sweep", "--sweep", "secnd", "p.nest"), 2, err='did you mean "second"?')
    expect(run("sweep", "--checkpoint", "c", "p.nest"), 2, err="choose one with --sweep NAME")
    expect(run("sweep", "--dry-run", "p.nest"), 0, out=["s: 6,720 points\n", "second: 12 points\n"])
    write("p.nest", GEMM.replace("minimize energy", "minimize energy / (tn - 4)"))
    expect(run("sweep", "-q", "p.nest"), 1, err=["error[E0960]", "tn = 4", "division by zero"])
    write("p.nest", GEMM.replace("tm in divisors(M)", "tm in divisors(M - 48)"))
    expect(run("sweep", "-q", "p.nest"), 1, err="divisors")
    write("p.nest", GEMM[:GEMM.index("sweep s")])
    expect(run("sweep", "p.nest"), 1, err="no sweep block in p.nest")
    expect(run("sweep", "p.nest", "missing.nest"), 3)


def test_plot():
    import xml.etree.ElementTree as xml
    sweep("--plot", "a.svg", program=GEMM)
    root = xml.parse("a.svg").getroot()
    text = "".join(root.itertext())
    dots = [e for e in root.iter("{http://www.w3.org/2000/svg}circle") if "dot" in e.get("class")]
    assert len(dots) == len(answer()["pareto"]) + 1  # and one in the legend
    # each input once, the output once
    assert f"compulsory {48 * 36 + 36 * 40 + 4 * 48 * 40:,} B" in text and "optimum" in text and "prefers-color-scheme" in text
    assert f"s of x: {len(dots) - 1} points of the Pareto front" in text
    assert "buffer L2, bytes" in text and "off-chip traffic, bytes" in text and "usage(L2)" in text  # the last in tooltips
    write("two.nest", GEMM + "sweep t of x { tm in [48, 24] tn in [40, 20] pareto usage(L2), offchip }\n")
    expect(run("sweep", "-q", "two.nest", "--plot", "b.svg"), 0)
    names = "".join(xml.parse("b.svg").getroot().itertext())
    assert "Pareto fronts" in names
    write("p.nest", GEMM.replace("pareto usage(L2), offchip", ""))
    expect(run("sweep", "-q", "p.nest", "--plot", "c.svg"), 0, err="is not drawn")
    assert not os.path.exists("c.svg")
    write("p.nest", GEMM)  # what is no SVG is not written as one
    run("sweep", "-q", "--shard", "0/1", "-o", "part", "p.nest")
    for place in ["a.png", "a", "dir.svg/a.SVG.gz", ".svg"]:
        for command in [["sweep", "p.nest"], ["merge", "part"]]:
            expect(run(*command, "--plot", place), 2, err=f'--plot draws FILE.svg, and "{place}" is none')
            assert not os.path.exists(place)


def test_timing():
    text = sweep("--timing", "-j", "2", "--no-kernel", program=LONG)
    found = re.search(r"^  engine plain, 2 threads, [\d.]+ s to prepare, ([\d.]+) s to run: ([\d.,]+) million evaluated a second, "
                      r"([\d.,]+) million searched$", text, re.M)
    assert found and "without native code: native code was not wanted" in text, text
    data = answer("--timing", "-j", "2")
    assert list(data["seconds"]) == ["compile", "run"] and data["threads"] == 2
    assert data["evaluated"] < data["space"] and data["pruned"] > 0  # the two rates differ
    kernel = sweep("--timing")
    if "engine kernel" in kernel:
        raw, effective = [float(n.replace(",", "")) for n in re.search(r"run: ([\d.,]+) million evaluated a second, ([\d.,]+)", kernel).groups()]
        tally = answer()
        assert abs(raw / effective - tally["evaluated"] / tally["space"]) < 0.02, (raw, effective, tally)


def test_bar():
    """On a terminal: one line, drawn again and again, gone at the end; the answer on standard output is the same."""
    import pty
    write("p.nest", LONG.replace("tk in 1 .. K", "tk in 1 .. 360"))
    want = sweep("--no-kernel", "--limit", "300000")
    screen, terminal = pty.openpty()
    process = subprocess.Popen([NESTOR, "sweep", "--no-kernel", "-j", "1", "--limit", "300000", "p.nest"], stdout=subprocess.PIPE, stderr=terminal)
    os.close(terminal)
    shown = b""
    out = process.stdout.read().decode()
    assert process.wait(timeout=60) == 0 and out == want
    try:
        while chunk := os.read(screen, 65536):
            shown += chunk
    except OSError:
        pass  # how a terminal ends
    os.close(screen)
    lines = shown.decode().split("\r")
    bars = [line for line in lines if line.startswith("[")]
    assert bars and all(re.match(r"\[#*\.*\] +\d+ %  [\d.]+( [kMG])?/s, .+ left", bar) for bar in bars), lines
    assert all(len(bar.replace("\x1b[K", "")) < 80 for bar in bars) and "best energy = " in shown.decode(), bars
    assert shown.endswith(b"\r\x1b[K"), shown[-100:]


def test_progress():
    write("p.nest", LONG.replace("tk in 1 .. K", "tk in 1 .. 360"))
    result = run("sweep", "--no-kernel", "-j", "1", "--limit", "1000000", "--progress", "p.nest")
    expect(result, 0, err=["nestor: sweep s of x: 1,728,000 points", "of 1.00 M points", "left, best energy = "])
    assert run("sweep", "-q", "--progress", "--limit", "1000", "p.nest").err == ""


main(globals())
