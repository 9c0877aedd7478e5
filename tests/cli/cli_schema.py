"""The JSON of eval and simulate: the published schema, and the values of a mapping counted by hand."""
from common import NESTOR, SAMPLE, SOURCE, expect, main, run, write
from validate import load, validate as validator
import glob
import json
import os

SMALL = """workload g(M, N = 6, K = 5) {
  dim m = M, n = N, k = K
  tensor A, B : int8, C : int32
  C[m, n] += A[m, k] * B[k, n]
}
hardware h { memory DRAM memory GLB { capacity = 20 B } compute MAC }
mapping x of g(7) on h { keep all in DRAM for m into 3 for k into 2 keep all in GLB compute }
"""


def strict(text):
    """JSON without NaN, Infinity or repeated keys."""
    def pairs(items):
        keys = [k for k, _ in items]
        assert len(keys) == len(set(keys)), keys
        return dict(items)

    def constant(name):
        raise ValueError(name)
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


def validate(data):
    schema = load(SOURCE, "nestor.eval-1.schema.json")
    validator(schema, data)


def test_schema_refuses():
    """What breaks the schema is found, so that passing means something."""
    write("small.nest", SMALL)
    text = run("eval", "--format", "json", "small.nest").out
    for old, new in [('"semantics":1', '"semantics":2'), ('"fits":false', '"fits":0'), ('"tile":35', '"tile":-1'),
                     ('"tile":35', '"tile":3.5'), ('"tile":35', '"tiles":35'), ('"ops":210', '"ops":null')]:
        assert old in text
        try:
            validate(json.loads(text.replace(old, new, 1)))
        except Exception:
            continue
        raise AssertionError(new)


def test_values():
    write("small.nest", SMALL)
    data = strict(run("eval", "--format", "json", "small.nest").out)
    validate(data)
    assert list(data) == ["schema", "semantics", "results"]
    result = data["results"][0]
    assert list(result) == ["mapping", "workload", "hardware", "params", "fits", "violations", "levels", "compute",
                            "metrics"]
    assert result["params"] == {} and result["fits"] is False
    assert result["violations"] == [{"level": "GLB", "usage_bytes": 99, "capacity_bytes": 20,
                                     "tensors": {"A": 9, "B": 18, "C": 72}}]
    dram, glb = result["levels"]
    assert dram["tensors"]["A"] == {"bits_per_element": 8, "tile": 35, "fills": 0, "reads": 35, "updates": 0,
                                    "drains": 0}
    assert glb["tensors"]["B"] == {"bits_per_element": 8, "tile": 18, "fills": 90, "reads": 210, "updates": 0,
                                   "drains": 0}
    assert glb["tensors"]["C"] == {"bits_per_element": 32, "tile": 18, "fills": 0, "reads": 168, "updates": 210,
                                   "drains": 42}
    assert (dram["capacity_bytes"], glb["capacity_bytes"]) == (None, 20)
    assert dram["traffic_bytes"] == 35 + 90 + 42 * 4
    assert result["compute"] == {"name": "MAC", "instances": 1, "ops": 210, "steps": 210, "cycles": 210, "energy_pj": 0}
    metrics = result["metrics"]
    assert metrics["offchip_bytes"] == dram["traffic_bytes"] and metrics["area_mm2"] is None
    assert metrics["utilization"] == 1 and metrics["intensity"] == 210 / 293


def test_simulate_is_alike():
    write("small.nest", SMALL)
    for form in ["json", "csv", "table"]:
        by_rules, by_analysis = run("simulate", "--format", form, "small.nest"), run("eval", "--format", form, "small.nest")
        assert by_rules.out == by_analysis.out, form
    validate(strict(run("simulate", "--format", "json", "small.nest").out))


def test_many_programs():
    """The examples and the cases of the repository."""
    names = sorted(glob.glob(os.path.join(SOURCE, "examples/*.nest")))
    names += sorted(glob.glob(os.path.join(SOURCE, "tests/cases/*/*.nest")))[::7]
    for name in names:
        result = run("eval", "--format", "json", name)
        if result.code == 0:
            validate(strict(result.out))


def test_nothing_moves():
    """0/0 is null: an element-wise copy whose output is padding only."""
    write("none.nest", """workload w { dim i = 4  tensor X[_] : int8, Y[2] : int8  Y[i + 9] = X[i] }
hardware h { memory DRAM memory GLB compute MAC }
mapping x of w on h { keep all in DRAM keep all in GLB compute }
""")
    result = run("eval", "--format", "json", "none.nest")
    if result.code == 0:
        validate(strict(result.out))


def test_failures():
    write("bad.nest", SAMPLE)
    data = strict(run("eval", "--format", "json", "--set", "tm=0", "bad.nest").out)
    validate(data)
    assert data["results"] == [] and data["errors"][0]["mapping"] == "os"
    write("syntax.nest", "workload {")
    validate(strict(run("eval", "--format", "json", "syntax.nest").out))


def test_csv():
    import csv
    import io
    write("small.nest", SMALL)
    rows = list(csv.DictReader(io.StringIO(run("eval", "--format", "csv", "small.nest").out)))
    assert [r["row"] for r in rows] == ["tensor"] * 3 + ["level"] + ["tensor"] * 3 + ["level", "compute", "total"]
    assert rows[0]["reads"] == "35" and rows[-1]["offchip_bytes"] == "293" and rows[-1]["fits"] == "false"
    assert len({len(r) for r in rows}) == 1 and None not in rows[0]


main(globals())
