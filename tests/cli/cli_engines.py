"""Three engines, one answer, through the command."""
from common import SAMPLE, SOURCE, expect, main, read, run, write
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


def entries():
    return {name: os.stat("c/nestor/" + name).st_ino for name in os.listdir("c/nestor")} if os.path.isdir("c/nestor") else {}


def test_code_is_kept():
    """What a run compiled, the next finds; --no-cache does without; an open directory is not trusted."""
    here = {"XDG_CACHE_HOME": os.path.abspath("c")}
    write("small.nest", SMALL + "sweep s of os { tm in 1 .. 24 tn in 1 .. 24 tk in 1 .. 24 minimize offchip }\n")
    write("points.csv", "tm,tn\n4,4\n")
    for args in [("sweep", "-q", "--format", "json"), ("eval", "--points", "points.csv"), ("eval", "--engine", "jit")]:
        before = entries()
        cold = run(*args, "--no-cache", "small.nest", env=here)
        expect(cold, 0)
        assert entries() == before, args
        expect(run(*args, "small.nest", env=here), 0)
        kept = entries()
        assert len(kept) > len(before), args
        warm = run(*args, "small.nest", env=here)
        assert (warm.out, entries()) == (cold.out, kept), args
    assert os.stat("c/nestor").st_mode & 0o7777 == 0o700
    args = ("sweep", "-q", "--format", "json")
    want = run(*args, "--no-cache", "small.nest").out
    for i, name in enumerate(sorted(kept)):  # damage of several kinds: made again
        data = read("c/nestor/" + name)
        write("c/nestor/" + name, [b"", data[:len(data) // 2], data[:-1] + b"x", b"foreign"][i % 4])
    assert run(*args, "small.nest", env=here).out == want
    kept = entries()
    assert run(*args, "small.nest", env=here).out == want and entries() == kept
    for mode in [0o770, 0o707, 0o777]:  # closed to nobody: neither read nor written
        os.chmod("c/nestor", mode)
        for name in kept:
            write("c/nestor/" + name, b"foreign")
        assert run(*args, "small.nest", env=here).out == want
        assert all(read("c/nestor/" + name) == b"foreign" for name in kept), oct(mode)
    os.chmod("c/nestor", 0o700)
    if os.geteuid() == 0:  # another user's
        os.chown("c/nestor", 65534, 65534)
        assert run(*args, "small.nest", env=here).out == want
        assert all(read("c/nestor/" + name) == b"foreign" for name in kept)
    for place in ["", "relative", "/dev/null", "/proc/none"]:  # nowhere: no cache, no error
        result = run(*args, "small.nest", env={"XDG_CACHE_HOME": place, "HOME": os.path.abspath("home")})
        assert (result.code, result.out, result.err) == (0, want, ""), result


def test_without_the_code_generator():
    env = {"NESTOR_LLVM_MODULE": "/nowhere/nestor-llvm.so"}
    expect(run("eval", "--engine", "jit", "gemm.nest", env=env), 1, err=["E0941", "the engine analysis"])
    expect(run("emit", "llvm", "gemm.nest", env=env), 1, err="cannot be loaded")
    expect(run("eval", "gemm.nest", env=env), 0)


main(globals())
