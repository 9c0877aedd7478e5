"""What the tests of the command share: a scratch directory, a sample, a runner.

A test is a function whose name starts with test_; it raises to fail. main() runs
all of a module in a scratch directory of their own and says which failed."""
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

NESTOR = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(sys.argv[2])

SAMPLE = """workload gemm(M = 512, N = 512, K = 512) {
  dim m = M, n = N, k = K
  tensor A, B : int8, C : int32
  C[m, n] += A[m, k] * B[k, n]
}
hardware tiny(PES = 16) {
  clock = 1 GHz
  memory DRAM { bandwidth = 32 B/cycle  read_energy = 100 pJ/B  write_energy = 100 pJ/B }
  memory GLB  { capacity = 128 KiB  bandwidth = 128 B/cycle  energy = 2 pJ/B }
  array  PE[x = PES, y = 16]
  memory RF   { capacity = 512 B }
  compute MAC { energy = 0.5 pJ  rate = 1 }
}
mapping os(tm = 64, tn = 64, tk = 32) of gemm(512, 512, K = 512) on tiny {
  for m by tm
  for n by tn
  for k by tk
  keep all in GLB
  par m on PE.y
  par n on PE.x
  keep all in RF
  compute
}
test of os {
  expect reads(DRAM, A) == 512 * 512 * (512 / 64)
  expect usage(GLB) <= 128 KiB
}
"""


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"


def run(*args, stdin=b"", env=None, cwd=None, **popen):
    """Runs nestor; output as text. No signal may ever end it."""
    environment = dict(os.environ, **(env or {}))
    if isinstance(stdin, str):
        stdin = stdin.encode()
    given = {"stdin": stdin} if hasattr(stdin, "fileno") else {"input": stdin}  # a file that is open, or bytes for a pipe
    done = subprocess.run([NESTOR, *args], **given, capture_output=True, env=environment, cwd=cwd, timeout=120,
                          **popen)
    result = Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
    assert done.returncode >= 0, f"ended by a signal: {result}"
    return result


def write(name, text):
    with open(name, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return name


def read(name):
    with open(name, "rb") as f:
        return f.read()


def expect(result, code, out=(), err=()):
    """The exit code, and texts that must stand in the output and in the messages."""
    assert result.code == code, f"expected exit {code}: {result}"
    for text in [out] if isinstance(out, str) else out:
        assert text in result.out, f"expected {text!r} in the output: {result}"
    for text in [err] if isinstance(err, str) else err:
        assert text in result.err, f"expected {text!r} in the messages: {result}"


def main(module):
    tests = [(n, f) for n, f in sorted(module.items()) if n.startswith("test_")]
    failed = 0
    for name, function in tests:
        scratch = tempfile.mkdtemp(prefix="nestor-cli-")
        back = os.getcwd()
        os.chdir(scratch)
        try:
            write("gemm.nest", SAMPLE)
            function()
        except Exception:
            failed += 1
            print(f"FAIL {name}")
            traceback.print_exc(file=sys.stdout)
        finally:
            os.chdir(back)
            subprocess.run(["chmod", "-R", "u+rwx", scratch], check=False)
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
