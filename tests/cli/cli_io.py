"""Input that cannot be read, output that cannot be written: a message, exit 3, no partial file, no signal."""
from common import NESTOR, SAMPLE, expect, main, read, run, write
import os
import subprocess

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def shell(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=dict(os.environ, N=NESTOR))
    return done


def test_missing_and_odd_inputs():
    os.mkdir("dir")
    for command in ["check", "fmt", "eval", "simulate", "test", "explain"]:
        expect(run(command, "missing.nest"), 3, err="cannot open missing.nest: No such file or directory")
        expect(run(command, "dir"), 3, err="dir: it is a directory")
    expect(run("emit", "ir", "dir"), 3, err="is a directory")
    expect(run("check", "gemm.nest/x"), 3, err="Not a directory")
    expect(run("check", "a" * 5000), 3, err="File name too long")
    os.symlink("loop", "loop")
    expect(run("check", "loop"), 3, err="symbolic links")
    if not ROOT:
        write("secret.nest", SAMPLE)
        os.chmod("secret.nest", 0)
        expect(run("check", "secret.nest"), 3, err="Permission denied")


def test_one_bad_input_does_not_stop_the_others():
    expect(run("eval", "missing.nest", "gemm.nest"), 3, out="os: gemm on tiny", err="missing.nest")
    expect(run("check", "missing.nest", "gemm.nest"), 3, out="gemm.nest: good")


def test_inputs_that_are_no_programs():
    expect(run("check", NESTOR), 1, err="error[E")
    write("image.nest", bytes(range(256)) * 64)
    expect(run("check", "image.nest"), 1, err="error[E")
    write("code.nest", "#include <stdio.h>\nint main(void) { return 0; }\n")
    expect(run("check", "code.nest"), 1, err="code.nest:2:")
    write("nul.nest", SAMPLE.replace("M = 512", "M = 5\0002", 1))
    expect(run("check", "nul.nest"), 1, err="nul.nest:1:")
    write("latin.nest", SAMPLE.encode().replace(b"gemm", b"g\xe9mm"))
    expect(run("check", "latin.nest"), 1, err="latin.nest:1:")
    expect(run("check", "/dev/zero"), 3, err="larger than")
    expect(run("check", "/dev/null"), 0, err="declares nothing")


def test_texts_of_every_kind():
    write("crlf.nest", SAMPLE.replace("\n", "\r\n"))
    write("bom.nest", b"\xef\xbb\xbf" + SAMPLE.encode())
    write("tabs.nest", SAMPLE.replace("  ", "\t"))
    want = run("eval", "--format", "json", "gemm.nest").out
    for name in ["crlf.nest", "bom.nest", "tabs.nest"]:
        assert run("eval", "--format", "json", name).out == want, name
    write("long.nest", "#" + "x" * (1 << 20) + "\n" + SAMPLE)
    expect(run("check", "long.nest"), 0)
    write("wide.nest", "const N = " + "1 + " * 250000 + "1\n" + SAMPLE)
    assert run("check", "wide.nest").code in (0, 1)
    write("deep.nest", "const N = " + "(" * 1000000 + "1" + ")" * 1000000 + "\n")
    expect(run("check", "deep.nest"), 1, err="deep")
    write("huge.nest", SAMPLE.replace("M = 512", "M = 9223372036854775808"))
    expect(run("check", "huge.nest"), 1, err="huge.nest:1:")


def test_output_file():
    want = run("eval", "gemm.nest").out
    expect(run("eval", "gemm.nest", "-o", "out.txt"), 0)
    assert read("out.txt").decode() == want
    expect(run("eval", "gemm.nest", "--output=out.txt", "--format", "csv"), 0)
    assert read("out.txt").startswith(b"mapping,")
    assert run("eval", "gemm.nest", "-o", "-").out == want
    os.symlink("out.txt", "link.txt")
    expect(run("eval", "gemm.nest", "-o", "link.txt"), 0)
    assert os.path.islink("link.txt") and read("out.txt").decode() == want
    os.chmod("out.txt", 0o640)
    expect(run("eval", "gemm.nest", "-o", "out.txt"), 0)
    assert os.stat("out.txt").st_mode & 0o777 == 0o640
    assert sorted(os.listdir(".")) == ["gemm.nest", "link.txt", "out.txt"], os.listdir(".")


def test_output_by_links_that_lead_to_nothing():
    want = run("eval", "gemm.nest").out
    for directory in ["here", "there"]:
        os.mkdir(directory)
    os.symlink("../there/out.txt", "here/second")
    os.symlink(os.path.abspath("here/second"), "first")
    expect(run("sweep", "gemm.nest", "--all", "first", "-o", "there/out.txt"), 2, err="it is given for two things")
    expect(run("eval", "gemm.nest", "-o", "first"), 0)
    assert os.path.islink("first") and os.path.islink("here/second") and read("there/out.txt").decode() == want
    assert os.listdir("there") == ["out.txt"] and os.listdir("here") == ["second"]
    os.symlink("loop", "loop")
    os.symlink("no/out.txt", "nowhere")
    for link, says in ("loop", "Too many levels"), ("nowhere", "No such file"):
        expect(run("eval", "gemm.nest", "-o", link), 3, err=f"cannot write {link}: {says}")
        expect(run("sweep", "gemm.nest", "--all", link), 3, err=f"cannot write {link}: {says}")
        assert os.path.islink(link)


def test_output_that_fails():
    os.mkdir("dir")
    expect(run("eval", "gemm.nest", "-o", "dir"), 3, err="cannot write dir: Is a directory")
    expect(run("eval", "gemm.nest", "-o", "no/where.txt"), 3, err="cannot write no/where.txt: No such file")
    expect(run("eval", "gemm.nest", "-o", "/dev/full"), 3, err="cannot write /dev/full: No space left")
    if not ROOT:
        os.chmod("dir", 0o555)
        expect(run("eval", "gemm.nest", "-o", "dir/out.txt"), 3, err="cannot write dir/out.txt: Permission denied")
        os.chmod("dir", 0o755)
        write("keep.txt", "old")
        os.chmod("keep.txt", 0o444)
        expect(run("eval", "gemm.nest", "-o", "keep.txt"), 3, err="Permission denied")
        assert read("keep.txt") == b"old"
    assert os.listdir("dir") == []


def test_full_disk_leaves_no_file():
    """A limit on file sizes stands for a full disk: the write fails in the middle."""
    done = shell("ulimit -f 1; trap '' XFSZ; for i in 1 2 3 4; do set -- \"$@\" gemm.nest; done; "
                 "$N eval --format json \"$@\" -o out.json")
    assert done.returncode == 3 and "cannot write out.json" in done.stderr, done
    assert os.listdir(".") == ["gemm.nest"], os.listdir(".")


def test_failed_run_keeps_the_old_file():
    write("out.json", "old")
    write("bad.nest", "workload {")
    expect(run("eval", "--format", "json", "bad.nest", "-o", "out.json"), 1)
    assert read("out.json") == b"old"


def test_standard_output_that_fails():
    for command in ["eval gemm.nest", "check gemm.nest", "fmt gemm.nest", "explain gemm.nest", "test gemm.nest", "help",
                    "version", "emit ir gemm.nest", "eval --help"]:
        full = shell(f"$N {command} > /dev/full")
        assert full.returncode == 3 and "No space left on device" in full.stderr, (command, full)
        closed = shell(f"$N {command} >&-")
        assert closed.returncode == 3 and "cannot write standard output" in closed.stderr, (command, closed)
    pipe = shell("set -o pipefail; for i in {1..400}; do set -- \"$@\" gemm.nest; done; "
                 "$N eval --format json \"$@\" | head -c 1 >/dev/null; echo ${PIPESTATUS[0]}")
    assert pipe.stdout.strip() in ("0", "3"), pipe
    assert pipe.stderr == "", pipe  # a reader that has left wants no message
    for command in "eval gemm.nest", "eval --help", "help", "eval gemm.nest -o -":
        left, output = os.pipe()
        os.close(left)
        done = subprocess.run([NESTOR, *command.split()], stdout=output, stderr=subprocess.PIPE)
        os.close(output)
        assert (done.returncode, done.stderr) == (3, b""), (command, done)


def test_closed_descriptors():
    for redirect in ["<&-", ">/dev/null 2>&-", "<&- 2>&- >out.txt"]:
        done = shell(f"$N eval gemm.nest {redirect}")
        assert done.returncode == 0, (redirect, done)
    assert read("out.txt").startswith(b"os: gemm")
    done = shell("$N check - <&-")
    assert done.returncode == 3 and "cannot read <stdin>" in done.stderr, done


def test_formatting_in_place():
    write("ugly.nest", SAMPLE.replace("  dim m", "dim    m"))
    os.chmod("ugly.nest", 0o640)
    expect(run("fmt", "-w", "ugly.nest"), 0)
    assert os.stat("ugly.nest").st_mode & 0o777 == 0o640
    before = os.stat("ugly.nest").st_mtime_ns
    expect(run("fmt", "-w", "ugly.nest"), 0)
    assert os.stat("ugly.nest").st_mtime_ns == before, "a formatted file is left alone"
    assert sorted(os.listdir(".")) == ["gemm.nest", "ugly.nest"]


def test_no_output_over_an_input():
    write("points.csv", "tm\n4\n")
    os.symlink("gemm.nest", "other.nest")
    said = "would be written over: it is given for two things"
    for out in ["gemm.nest", "./gemm.nest", "other.nest"]:
        expect(run("eval", "gemm.nest", "-o", out), 2, err=said)
        expect(run("explain", "gemm.nest", "-o", out), 2, err=said)
    expect(run("eval", "gemm.nest", "--mapping", "os", "--points", "points.csv", "-o", "points.csv"), 2, err=said)
    expect(run("sweep", "gemm.nest", "--all", "rows.csv", "-o", "./rows.csv"), 2, err=said)
    for stdin, args in [("gemm.nest", ["eval", "-", "-o", "gemm.nest"]), ("gemm.nest", ["explain", "-", "-o", "./other.nest"]),
                        ("points.csv", ["eval", "gemm.nest", "--mapping", "os", "--points", "-", "-o", "points.csv"])]:
        with open(stdin, "rb") as given:
            expect(run(*args, stdin=given), 2, err="<stdin> " + said)
    assert read("gemm.nest") == SAMPLE.encode() and read("points.csv") == b"tm\n4\n" and not os.path.exists("rows.csv")
    expect(run("fmt", "gemm.nest", "-o", "gemm.nest"), 0)


def test_use_of_files():
    os.mkdir("lib")
    parts = SAMPLE[SAMPLE.index("hardware"):SAMPLE.index("mapping")]
    write("lib/hw.nest", parts)
    write("main.nest", 'use "lib/hw.nest"\n' + SAMPLE.replace(parts, ""))
    assert run("eval", "main.nest").out == run("eval", "gemm.nest").out
    assert run("eval", "lib/../main.nest").out == run("eval", "gemm.nest").out
    write("main.nest", 'use "lib/nothing.nest"\n' + SAMPLE.replace(parts, ""))
    expect(run("eval", "main.nest"), 1, err=["main.nest:1:", "lib/nothing.nest", "No such file"])
    write("main.nest", 'use "lib"\n')
    expect(run("check", "main.nest"), 1, err="main.nest:1:")
    write("a.nest", 'use "b.nest"\n')
    write("b.nest", 'use "a.nest"\n')
    expect(run("check", "a.nest"), 1, err="a.nest")


main(globals())
