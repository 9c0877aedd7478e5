"""Sweeps over ranks of MPI on one machine: the answer of one process to the last bit, with two and three ranks."""
from common import NESTOR, expect, main, read, run, write
import json
import os
import signal
import subprocess
import sys
import time

MPIRUN = sys.argv[3] if len(sys.argv) > 3 else "mpirun"

PROGRAM = """workload gemm(M = 48, N = 40, K = 36) {
  dim m = M, n = N, k = K
  tensor A, B : int8, C : int32
  C[m, n] += A[m, k] * B[k, n]
}
hardware hw {
  memory DRAM { bandwidth = 4 B/cycle  energy = 100 pJ/B }
  memory L2 { capacity = 2 KiB  energy = 3 pJ/B }
  compute MAC { energy = 0.5 pJ }
}
mapping x(tm = 12, tn = 8, tk = 6) of gemm on hw {
  permute { for m by tm  for n by tn  for k by tk }
  keep? A in L2
  keep B, C in L2
}
sweep s of x {
  tm in divisors(M)  tn in 1 .. N  tk in 1 .. K
  where fits
  minimize energy, cycles
  pareto usage(L2), offchip
  top 7
}
"""


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n--- out\n{self.out[:3000]}\n--- err\n{self.err[:3000]}"


def command(n, *args):
    return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(n), NESTOR, *args]


def mpi(n, *args, **more):
    done = subprocess.run(command(n, *args), capture_output=True, timeout=250, **more)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_same_bits():
    write("p.nest", PROGRAM)
    for mode in [[], ["--no-kernel"], ["--no-prune"], ["--sample", "4000"], ["--limit", "5000"]]:
        alone = run("sweep", "-q", "--format", "json", *mode, "p.nest").out
        for n in [2, 3]:
            together = mpi(n, "sweep", "-q", "--format", "json", *mode, "p.nest")
            assert (together.code, together.out) == (0, alone), (n, mode, together)


def test_everything_once():
    """Only rank 0 prints and writes."""
    write("p.nest", PROGRAM)
    result = mpi(3, "sweep", "--emit", "best.nest", "--plot", "front.svg", "-o", "out", "p.nest")
    assert result.code == 0 and result.err.count("nestor: sweep s of x") == 1 and result.out == "", result
    run("sweep", "-q", "--emit", "b.nest", "--plot", "f.svg", "-o", "o", "p.nest")
    for a, b in [("best.nest", "b.nest"), ("front.svg", "f.svg"), ("out", "o")]:
        assert read(a) == read(b)
    write("two.nest", PROGRAM + "sweep t of x { tm in [4] tn in 1 .. 9 minimize cycles }\n")
    assert mpi(2, "sweep", "-q", "two.nest").out == run("sweep", "-q", "two.nest").out
    assert mpi(2, "sweep", "--dry-run", "two.nest").out == run("sweep", "--dry-run", "two.nest").out


def test_a_front_larger_than_a_message():
    write("p.nest", PROGRAM[:PROGRAM.index("sweep s")] + "sweep s of x { tm in 1 .. 15000 tn in [8, 8] pareto tm, 0 - tm }\n")
    alone = run("sweep", "-q", "--format", "json", "--no-kernel", "p.nest").out
    assert len(json.loads(alone)["pareto"]) == 15000
    for n in [2, 3]:
        assert mpi(n, "sweep", "-q", "--format", "json", "--no-kernel", "p.nest").out == alone


def test_errors():
    write("p.nest", PROGRAM.replace("minimize energy", "minimize energy / ((tn - 31) * (tn - 20))"))
    alone = run("sweep", "-q", "--no-kernel", "p.nest")
    expect(alone, 1, err="division by zero")
    for n in [2, 3]:
        together = mpi(n, "sweep", "-q", "--no-kernel", "p.nest")
        assert together.code != 0 and alone.err.strip() in together.err and together.err.count("E0960") == 1, together
    write("p.nest", PROGRAM.replace("minimize energy", "minimize enrgy"))
    together = mpi(2, "sweep", "-q", "p.nest")
    assert together.code != 0 and together.err.count("error[") == 1, together
    write("p.nest", PROGRAM)
    together = mpi(2, "sweep", "-q", "--all", "a.csv", "p.nest")
    assert together.code != 0 and "use --shard I/N" in together.err
    together = mpi(2, "sweep", "-q", "p.nest", env=dict(os.environ, NESTOR_MPI_MODULE="/nonexistent.so"))
    assert together.code != 0 and "started by MPI, but the module nestor-mpi.so cannot be loaded" in together.err, together
    assert mpi(2, "sweep", "-q", "--shard", "0/1", "-o", "part", "p.nest", env=dict(os.environ, NESTOR_MPI_MODULE="/nonexistent.so")).code == 0


def test_ranks_that_differ():
    """Units mean the same only with the same program and engine: ranks that differ are refused, and nobody waits for ever."""
    def pair(second, *args):
        first = [NESTOR, "sweep", "-q", "--format", "json", *args, "p.nest"]
        done = subprocess.run([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "1", *first, ":", "-n", "1", *second, *first],
                              capture_output=True, timeout=120)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
    os.mkdir("other")
    os.mkdir("empty")
    write("p.nest", PROGRAM)
    write("other/p.nest", PROGRAM.replace("top 7", "top 8"))
    write("other.sh", '#!/bin/sh\ncd "$1" && shift && exec "$@"\n')
    os.chmod("other.sh", 0o755)
    alone = run("sweep", "-q", "--format", "json", "p.nest").out
    assert pair(["env", "A=B"]).out == alone
    different = pair(["./other.sh", "other"])
    expect(different, 1, err="rank 1 of the job cannot take part: it has another program")
    assert different.out == "", different
    expect(pair(["./other.sh", "empty"]), 3, err="rank 1 of the job stopped, or has other files")
    if "engine kernel" in run("sweep", "-q", "--timing", "p.nest").out:
        no_code = ["env", "NESTOR_LLVM_MODULE=/nonexistent.so"]
        expect(pair(no_code), 1, err=["rank 1 of the job cannot take part", "native code (here: kernel) everywhere or nowhere"])
        assert pair(no_code, "--no-kernel").out == run("sweep", "-q", "--format", "json", "--no-kernel", "p.nest").out
    # what stops rank 0 alone
    write("bad", "no checkpoint")
    for n in [2, 3]:
        together = mpi(n, "sweep", "-q", "--checkpoint", "bad", "--resume", "p.nest")
        assert together.code == 1 and together.err.count("cannot resume from bad") == 1, together
        together = mpi(n, "sweep", "-q", "--checkpoint", "bad", "p.nest")
        assert together.code == 2 and together.err.count("bad exists") == 1, together
    # the first of two sweeps fails
    write("p.nest", PROGRAM.replace("minimize energy", "minimize energy / (tn - 31)") + "sweep t of x { tm in [4] tn in 1 .. 9 minimize cycles }\n")
    together = mpi(3, "sweep", "-q", "p.nest")
    assert together.code == 1 and together.err.count("E0960") == 1, together


def test_a_signal_to_one_rank():
    """Whichever it is: all stop soon, and the checkpoint goes on to the same answer."""
    write("p.nest", PROGRAM.replace("tk in 1 .. K", "tk in 1 .. 36000"))  # many minutes
    args = ["sweep", "-q", "--no-kernel", "--format", "json", "--checkpoint", "state", "p.nest"]
    write("rank.sh", '#!/bin/sh\necho $$ > "pid.$OMPI_COMM_WORLD_RANK.tmp" && mv "pid.$OMPI_COMM_WORLD_RANK.tmp" "pid.$OMPI_COMM_WORLD_RANK" && exec "$@"\n')
    os.chmod("rank.sh", 0o755)
    for rank in [0, 1, 2]:
        for name in ["state", "pid.0", "pid.1", "pid.2"]:
            if os.path.exists(name):
                os.remove(name)
        process = subprocess.Popen([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "3", "./rank.sh", NESTOR, *args],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not all(os.path.exists(f"pid.{r}") for r in range(3)):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1.5)
        os.kill(int(open(f"pid.{rank}").read()), signal.SIGTERM)
        out, err = process.communicate(timeout=100)
        if process.returncode == 4:  # else the signal came before it could be caught
            data = json.loads(out)
            assert data["exhausted"] is False and b"was stopped; --resume goes on" in err and os.path.exists("state"), err
            assert data["evaluated"] < data["space"] / 2
        else:
            assert not out, (process.returncode, err)


def test_checkpoints():
    write("p.nest", PROGRAM.replace("tk in 1 .. K", "tk in 1 .. 72"))
    whole = run("sweep", "-q", "--no-kernel", "--format", "json", "p.nest").out
    args = ["sweep", "-q", "--no-kernel", "--format", "json", "--checkpoint", "state", "--resume", "p.nest"]
    # a checkpoint of one process, gone on with by two ranks
    process = subprocess.Popen([NESTOR, *args, "-j", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode in (0, 4) and os.path.exists("state")
    together = mpi(2, *args)
    assert (together.code, together.out) == (0, whole), together
    assert run(*args).out == whole


main(globals())
