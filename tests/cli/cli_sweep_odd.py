"""nestor sweep over odd spaces, against a search written out here over figures of `nestor eval --points`."""
from common import expect, main, run, write
import csv
import io
import json

HEAD = """workload gemm(M = 24, N = 20, K = 18) {
  dim m = M, n = N, k = K
  tensor A, B : int8, C : int32
  C[m, n] += A[m, k] * B[k, n]
}
hardware hw {
  memory DRAM { bandwidth = 4 B/cycle  energy = 100 pJ/B }
  memory L2 { capacity = 400 B  energy = 3 pJ/B }
  compute MAC { energy = 0.5 pJ }
}
mapping x(tm = 4, tn = 5, tk = 2, u = 1) of gemm on hw {
  for m by tm
  for n by tn
  for k by tk
  keep all in L2
}
"""
NAMES = ["tm", "tn", "tk", "u"]
DEFAULTS = {"tm": 4, "tn": 5, "tk": 2, "u": 1}


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def steps(first, last, step):
    return [first + i * step for i in range(int((last - first) / step) + 1)]


ALL = [("tm", "1 .. M", lambda p: range(1, 25)), ("tn", "1 .. N", lambda p: range(1, 21)), ("tk", "1 .. K", lambda p: range(1, 19))]

# What is asked: sets, a condition, goals and a front, each as text and as a function of the point.
# A figure is a name in what eval prints, or a function.
SPACES = {
    "a set that is empty for some": dict(
        sets=[ALL[0], ("tn", "5 .. tm", lambda p: range(5, p["tm"] + 1)), ALL[2]]),
    "a set that is empty for all": dict(
        sets=[("tm", "1 .. 3", lambda p: range(1, 4)), ("tn", "5 .. tm", lambda p: range(5, p["tm"] + 1)), ALL[2]]),
    "zeros and negatives": dict(
        sets=[("tm", "[-3, 0, 4, 6, 24]", lambda p: [-3, 0, 4, 6, 24]), ("tn", "-2 .. 30", lambda p: range(-2, 31)),
              ("tk", "0 .. 20", lambda p: range(0, 21))]),
    "fractions": dict(
        sets=[("tm", "0.5 .. 12 step 0.5", lambda p: steps(0.5, 12, 0.5)), ALL[1], ("tk", "[1.25, 6, 2.5, 9]", lambda p: [1.25, 6, 2.5, 9])]),
    "values twice": dict(
        sets=[("tm", "[6, 4, 6, 6]", lambda p: [6, 4, 6, 6]), ALL[1], ("tk", "[18, 1, 18] ", lambda p: [18, 1, 18]), ("u", "1 .. 12", lambda p: range(1, 13))]),
    "tiles larger than all": dict(
        sets=[("tm", "20 .. 40", lambda p: range(20, 41)), ("tn", "15 .. 30", lambda p: range(15, 31)), ("tk", "pow2(1, 1024)", lambda p: [2**i for i in range(11)])]),
    "numbers past 2^53": dict(
        sets=[("tm", "[2**62, 2**53 + 1, 6]", lambda p: [2**62, 2**53 + 1, 6]), ("tn", "2**40 .. 2**40 + 50", lambda p: range(2**40, 2**40 + 51)), ALL[2]]),
    "a chain": dict(
        sets=[("tm", "1 .. 24", lambda p: range(1, 25)), ("tn", "divisors(tm)", lambda p: divisors(p["tm"])),
              ("tk", "[tn, tm, tm - tn, 2 * tn]", lambda p: [p["tn"], p["tm"], p["tm"] - p["tn"], 2 * p["tn"]]), ("u", "1 .. tn", lambda p: range(1, p["tn"] + 1))]),
    "never": dict(sets=ALL, where=("usage(L2) < 3", lambda p: p["usage(L2)"] < 3)),
    "never, whatever the numbers": dict(sets=ALL, where=("1 > 2", lambda p: False)),
    "once": dict(sets=ALL, where=("tm * tn * tk == 24 * 20 * 18", lambda p: p["tm"] * p["tn"] * p["tk"] == 24 * 20 * 18)),
    "all": dict(sets=ALL, where=("usage(L2) >= 0", lambda p: True)),
    "a parameter that no loop uses": dict(sets=ALL[:2] + [("u", "-3 .. 4", lambda p: range(-3, 5))], goals=[("offchip", "offchip")]),
    "one that only the goal uses": dict(
        sets=ALL[:2] + [("u", "-3 .. 4", lambda p: range(-3, 5))], goals=[("offchip * u", lambda p: p["offchip"] * p["u"])]),
    "a goal that is the same everywhere": dict(sets=ALL, goals=[("7", lambda p: 7)]),
    "the greatest": dict(sets=ALL, maximize=True, goals=[("offchip", "offchip"), ("usage(L2)", "usage(L2)")]),
    "less than nothing": dict(sets=ALL, goals=[("0 - offchip", lambda p: -p["offchip"])]),
    "a front of one": dict(sets=ALL, front=[("usage(L2)", "usage(L2)")]),
    "a front of three": dict(sets=ALL, front=[("usage(L2)", "usage(L2)"), ("offchip", "offchip"), ("cycles", "cycles")]),
    "a front that goes both ways": dict(sets=ALL, front=[("tm", "tm"), ("0 - tm", lambda p: -p["tm"])]),
    "all of them": dict(sets=ALL, top=100000),
}


def points_of(sets):
    """Every point in order, as a dict."""
    points = [dict(DEFAULTS)]
    for name, _, values in sets:
        points = [dict(p, **{name: v}) for p in points for v in values(p)]
    return points


def figures_of(points):
    """The points with the figures of eval; those that have none are dropped."""
    whole = [p for p in points if all(p[n] == int(p[n]) and (n == "u" or p[n] > 0) for n in NAMES)]
    write("points.csv", ",".join(NAMES) + "\n" + "".join(",".join(str(int(p[n])) for n in NAMES) + "\n" for p in whole))
    if not whole:
        return []
    result = run("eval", "--points", "points.csv", "program.nest")
    assert result.code == 0, result
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert len(rows) == len(whole)
    return [dict(p, **{k: float(v) for k, v in row.items() if k not in NAMES}) for p, row in zip(whole, rows)]


def value(figure, point):
    return point[figure] if isinstance(figure, str) else figure(point)


def check(name, sets, where=None, goals=(("offchip", "offchip"), ("energy", "energy")), maximize=False,
          front=(("usage(L2)", "usage(L2)"), ("offchip", "offchip")), top=50):
    text = HEAD + "sweep s of x {\n" + "".join(f"  {n} in {t}\n" for n, t, _ in sets)
    write("program.nest", HEAD)
    every = points_of(sets)
    points = figures_of(every)
    valid = points
    if where:
        text += f"  where {where[0]}\n"
        valid = [p for p in points if where[1](p)]
    text += f"  {'maximize' if maximize else 'minimize'} {', '.join(t for t, _ in goals)}\n"
    text += f"  pareto {', '.join(t for t, _ in front)}\n  top {top}\n}}\n"
    write("s.nest", text)
    sign = -1 if maximize else 1
    best = sorted(valid, key=lambda p: [sign * value(f, p) for _, f in goals])[:top]  # ties: the order of the points
    # The first of equals, and none that another beats, in the order of the first metric.
    frontier, seen = [], set()
    for p in sorted(valid, key=lambda p: [value(f, p) for _, f in front]):
        v = tuple(value(f, p) for _, f in front)
        if v not in seen and not any(all(a <= b for a, b in zip(w, v)) for w in seen):
            seen.add(v)
            frontier.append(p)
    for args in [[], ["--no-prune"], ["--no-kernel"], ["-j", "2"], ["--no-kernel", "--no-prune"]]:
        result = run("sweep", "-q", "--format", "json", *args, "s.nest")
        assert result.code == 0 and result.err == "", (name, args, result)
        data = json.loads(result.out)
        assert data["exhausted"] is True and data["space"] == len(every), (name, args, data["space"], len(every))
        assert data["evaluated"] + data["pruned"] + data["duplicates"] + data["dropped"] == len(every), (name, args)
        if "--no-prune" in args:
            assert (data["valid"], data["dropped"], data["pruned"]) == (len(valid), len(every) - len(points), 0), (name, args)
        for kind, expected, metrics in [("best", best, list(goals) + list(front)), ("pareto", frontier, list(goals) + list(front))]:
            assert len(data[kind]) == len(expected), (name, args, kind, len(data[kind]), len(expected))
            for got, p in zip(data[kind], expected):
                assert got["params"] == {n: p[n] for n, _, _ in sets}, (name, args, kind, got, p)
                assert got["metrics"] == {t: value(f, p) for t, f in metrics}, (name, args, kind, got, p)


def test_against_a_list():
    for name, space in SPACES.items():
        check(name, **space)


def test_a_value_missing_at_one_point():
    """An overflow or a division by zero somewhere ends the sweep, at the first such point, whoever searches."""
    for goal, where in [("minimize offchip / (tm * tn * tk - 23 * 19 * 17)", "tm = 23, tn = 19, tk = 17: division by zero"),
                        ("minimize 2**62 * 2**62 * max(1, tm - 16) + offchip * 0", "tm = 24, tn = 1, tk = 1: overflow"),
                        ("where 1 / (tk - 18) < 1 minimize offchip", "tm = 1, tn = 1, tk = 18: division by zero"),
                        ("minimize offchip pareto 1 / (tm - 24), 1 / (tn - 20)", "division by zero")]:
        write("s.nest", HEAD + "sweep s of x { tm in 1 .. M tn in 1 .. N tk in 1 .. K " + goal + " }\n")
        first = run("sweep", "-q", "--no-kernel", "s.nest")
        expect(first, 1, err=["error[E0960]", where])
        for args in [["--no-prune"], [], ["-j", "2"]]:
            assert run("sweep", "-q", *args, "s.nest").err == first.err, (goal, args)
    # what is excluded before is not asked for
    write("s.nest", HEAD + "sweep s of x { tm in 1 .. M tn in 1 .. N tk in 1 .. K where tm != 7 minimize offchip / (tm - 7) }\n")
    answers = {run("sweep", "-q", "--format", "csv", *args, "s.nest").out for args in [[], ["--no-kernel"], ["--no-prune"]]}
    assert len(answers) == 1 and "best,1," in answers.pop()


def test_very_large_spaces():
    """Counted and sampled in no time, or refused; no number wraps."""
    def dry(sets):
        write("s.nest", HEAD + f"sweep s of x {{ {sets} minimize offchip }}\n")
        return run("sweep", "--dry-run", "s.nest")
    expect(dry("tm in 1 .. 2**31 tn in 1 .. 2**31"), 0, out=f"s: {2**62:,} points")
    assert json.loads(run("sweep", "-q", "--format", "json", "--sample", "100", "s.nest").out)["space"] == 2**62
    limited = json.loads(run("sweep", "-q", "--format", "json", "--limit", "500", "s.nest").out)
    assert limited["evaluated"] == 500 and limited["exhausted"] is False
    expect(dry("tm in 1 .. 2**59 tn in 1 .. 2**60"), 0, out=f"s: {2**119:,} points")
    expect(dry("tm in 1 .. 2**60 tn in 1 .. 2**60"), 1, err="2^120 points or more")
    expect(dry("tm in 1 .. 2**62 tn in 1 .. 2**62 tk in 1 .. 2**62"), 1, err="2^120 points or more")
    expect(dry("tm in 1 .. 2**63"), 1, err="overflow")
    expect(dry("tm in 1 .. 2**40 tn in 1 .. tm"), 1, err="too many combinations")
    expect(dry("tm in 1 .. 10000000 tn in divisors(tm)"), 1, err="too many combinations")
    expect(dry("tm in 1 .. 2000 tn in 1 .. tm tk in tm .. tm + 1"), 0, out=f"s: {2000 * 2001:,} points")


def test_keeps_that_drop_out():
    """Kept on chip or not: the other keeps of an intermediate that is not kept anywhere drop out."""
    write("p.nest", """workload chain(M = 8, N = 6, K = 5, L = 4) {
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
    do S { for n by tn for k by 2 keep A, S in L2 keep all in L1 }
    do T { for n by tn keep S, D, T in L2 keep all in L1 }
  }
}
sweep s of x { tm in 1 .. M tn in 1 .. N minimize offchip, energy pareto usage(L2), offchip top 96 }
""")
    whole = run("sweep", "-q", "--format", "json", "p.nest")
    best = json.loads(whole.out)["best"]
    assert len(best) == 96
    lines = [p["mapping"] for p in best]
    with open("p.nest") as f:
        head = f.read().split("mapping x(")[0]
    write("pasted.nest", head + "\n".join(lines) + "\n")
    result = run("eval", "--format", "json", "--engine", "all", "pasted.nest")
    assert result.code == 0, result
    figures = {r["mapping"]: r for r in json.loads(result.out)["results"]}
    for i, p in enumerate(best):
        r = figures[f"s_{i + 1}"]
        assert r["metrics"]["offchip_bytes"] == p["metrics"]["offchip"], (i, lines[i])
        assert r["metrics"]["energy_pj"] == p["metrics"]["energy"], (i, lines[i])
    assert {p["keeps"][0]["kept"] for p in best} == {True, False}


main(globals())
