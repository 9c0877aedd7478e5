"""nestor eval --points: many rows through native code, the same figures as one by one; bad rows told by number."""
from common import SAMPLE, expect, main, run, write
import csv
import io
import json
import random

NEST = SAMPLE.replace("mapping os(tm = 64, tn = 64, tk = 32)", "mapping os(tm = 64, tn = tm, tk = 32)")


def points(text, *args, code=0, **more):
    write("p.csv", text)
    result = run("eval", "--points", "p.csv", *args, "gemm.nest", **more)
    assert result.code == code, result
    return result, list(csv.DictReader(io.StringIO(result.out)))


def test_same_figures():
    write("gemm.nest", NEST)
    random.seed(3)
    rows = [(random.randint(1, 600), random.randint(1, 600), random.randint(1, 600)) for _ in range(60)]
    result, out = points("tm,tn,tk\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    assert list(out[0]) == ["tm", "tn", "tk", "fits", "offchip", "cycles", "energy", "usage(GLB)", "usage(RF)"]
    for (tm, tn, tk), row in zip(rows, out):
        one = run("eval", "--set", f"tm={tm}", "--set", f"tn={tn}", "--set", f"tk={tk}", "--format", "json", "gemm.nest")
        data = json.loads(one.out)["results"][0]
        assert (row["tm"], row["tn"], row["tk"]) == (str(tm), str(tn), str(tk))
        assert row["fits"] == ("1" if data["fits"] else "0")
        assert int(row["offchip"]) == data["metrics"]["offchip_bytes"]
        assert int(row["cycles"]) == data["metrics"]["cycles"]
        assert float(row["energy"]) == data["metrics"]["energy_pj"]
        for level in data["levels"][1:]:
            assert int(row[f"usage({level['name']})"]) == level["usage_bytes"]


def test_all_digits():
    """Past 2^53, where a double has no longer all of them."""
    write("gemm.nest", """workload gemm(M, N, K) { dim m = M, n = N, k = K tensor A, B, C : int8 C[m, n] += A[m, k] * B[k, n] }
hardware h { memory D { energy = 1 pJ/B } memory L { energy = 0.1 pJ/B } compute c }
mapping x(tm = 3, tn = 1) of gemm(2097143, 2097143, 104859) on h { for m by tm for n by tn for k by 1 keep all in L }
""")
    for extra in [{}, {"NESTOR_LLVM_MODULE": "/nowhere.so"}]:
        _, out = points("tn,tm\n1,3\n1,1\n11,7\n2097143,2097143\n", env=extra)
        for row in out:
            one = run("eval", "--set", "tm=" + row["tm"], "--set", "tn=" + row["tn"], "--format", "json", "gemm.nest")
            data = json.loads(one.out)["results"][0]["metrics"]
            assert (row["offchip"], row["cycles"]) == (str(data["offchip_bytes"]), str(data["cycles"])), row
            assert float(row["energy"]) == float(data["energy_pj"]), row
    assert out[0]["offchip"] == "614898872405721316"


def test_defaults_and_sets():
    write("gemm.nest", NEST)
    _, some = points("tk,tm\n8,16\n4,512\n")
    _, all_ = points("tm,tn,tk\n16,16,8\n512,512,4\n")
    for a, b in zip(some, all_):
        assert {k: v for k, v in b.items() if k != "tn"} == {k: a[k] for k in b if k != "tn"}
    _, fixed = points("tk,tm\n8,16\n", "--set", "tn=16")
    assert fixed[0]["offchip"] == all_[0]["offchip"]


def test_bad_rows_go_on():
    write("gemm.nest", NEST)
    text = "tm,tk\n16,8\nx,8\n16\n16,8,4\n\n0,8\n 32 ,\t8 \r\n16,8.5\n99999999999999999999,1\n-3,1\n16,8"
    result, rows = points(text, code=1)
    assert len(rows) == 10 and result.err.count("row") >= 7
    for number, reason in [(2, "what should be a whole number is none"), (3, "fewer numbers"), (4, "more numbers"), (5, "is 0, not a positive"),
                           (7, "whole number"), (8, "whole number"), (9, "is -3, not a positive")]:
        assert f"p.csv: row {number}: " in result.err and reason in result.err.split(f"row {number}: ")[1].split("\n")[0], (number, result)
    assert "7 of 10 rows are wrong; the others are complete" in result.err
    good = [r for r in rows if r["offchip"]]
    assert [r["tm"] for r in good] == ["16", "32", "16"] and good[0] == good[2]
    assert rows[4] == dict(zip(rows[4], ["0", "8"] + [""] * 6)) and rows[1]["tm"] == ""
    result, rows = points("tm\n" + "0\n" * 50, code=1)
    assert len(rows) == 50 and "row 20:" in result.err and "row 21:" not in result.err and "more rows are wrong" in result.err


def test_wrong_usage():
    write("gemm.nest", NEST)
    for text, message in [("tm,tz\n1,1\n", 'has no parameter "tz"'), ("tm,tm\n1,1\n", 'twice "tm"'), ("", "is empty"), ("1,2\n", 'no parameter "1"')]:
        result, _ = points(text, code=2)
        assert message in result.err, result
    result, _ = points("tm\n1\n", "--set", "tm=3", code=2)
    assert "the header of p.csv has it too" in result.err
    result, _ = points("tm\n1\n", "--set", "tn=x", code=2)
    assert "not a whole number" in result.err
    expect(run("eval", "--points", "missing.csv", "gemm.nest"), 3, err="cannot open missing.csv")
    write("two.nest", NEST + NEST[NEST.index("mapping os"):NEST.index("test of")].replace("mapping os", "mapping second"))
    expect(run("eval", "--points", "p.csv", "two.nest"), 2, err="choose it with --mapping NAME")
    expect(run("eval", "--points", "p.csv", "-m", "secnd", "two.nest"), 2, err='did you mean "second"?')
    expect(run("eval", "--points", "p.csv", "-m", "second", "two.nest"), 0, out="tm,fits")
    expect(run("eval", "--points", "-", "gemm.nest", stdin="tm\n4\n"), 0, out="tm,fits")


def test_without_native_code():
    write("gemm.nest", NEST)
    text = "tm,tk\n16,8\n0,8\nx,1\n48,5\n"
    fast, _ = points(text, code=1)
    slow, _ = points(text, code=1, env={"NESTOR_LLVM_MODULE": "/nonexistent"})
    assert slow.out == fast.out and fast.err in slow.err and "slower by far without native code" in slow.err


def test_many_chunks():
    write("gemm.nest", NEST)
    _, rows = points("tm\n" + "".join(f"{1 + i % 512}\n" for i in range(9001)))
    assert len(rows) == 9001 and rows[0] == rows[512] == rows[8704] and rows[9000]["tm"] == str(1 + 9000 % 512)


main(globals())
