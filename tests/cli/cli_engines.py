"""Three engines, one answer, through the command."""
from common import SAMPLE, SOURCE, expect, main, run, write
import glob
import os

SMALL = SAMPLE.replace("512", "24").replace("tm = 64", "tm = 7").replace("tn = 64", "tn = 5").replace("tk = 32", "tk = 9")


def test_same_output():
    write("small.nest", SMALL)
    want = run("eval", "--format", "json", "small.nest")
    expect(want, 0)
    for engine in ["simulate", "jit", "all"]:
        got = run("eval", "--format", "json", "--engine", engine, "small.nest")
        expect(got, 0)
        assert got.out == want.out, engine


def test_too_large_to_simulate():
    got = run("eval", "--format", "json", "--engine", "all", "gemm.nest")  # without the simulator, and said
    expect(got, 0, err=["W0920", "the simulator was left out: mapping `os` is too large"])
    assert got.out == run("eval", "--format", "json", "gemm.nest").out
    expect(run("simulate", "gemm.nest"), 1, err="E0920")
    expect(run("eval", "--engine", "jit", "gemm.nest"), 0)


def test_cases():
    names = sorted(glob.glob(os.path.join(SOURCE, "tests/cases/named/*.nest")))
    names += sorted(glob.glob(os.path.join(SOURCE, "tests/cases/forms/*.nest")))
    if names:
        result = run("eval", "--engine", "all", "--format", "csv", *names)
        assert "E0940" not in result.err and result.code == 0, result.err


def test_llvm_text():
    expect(run("emit", "llvm", "gemm.nest"), 0, out="define")


def test_without_the_code_generator():
    env = {"NESTOR_LLVM_MODULE": "/nowhere/nestor-llvm.so"}
    expect(run("eval", "--engine", "jit", "gemm.nest", env=env), 1, err=["E0941", "the engine analysis"])
    expect(run("emit", "llvm", "gemm.nest", env=env), 1, err="cannot be loaded")
    expect(run("eval", "gemm.nest", env=env), 0)


main(globals())
