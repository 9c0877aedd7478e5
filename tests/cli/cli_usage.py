"""Commands, options and exit codes: 0 good, 1 the program is wrong, 2 wrong usage, 3 I/O."""
from common import NESTOR, SAMPLE, expect, main, run, write
import os
import subprocess

COMMANDS = ["check", "fmt", "eval", "simulate", "test", "explain", "emit", "grammar", "sweep", "merge", "version", "help"]
TOO_BIG = SAMPLE.replace("capacity = 128 KiB", "capacity = 16 KiB")


def test_no_command():
    expect(run(), 2, err="usage: nestor COMMAND")


def test_help_everywhere():
    for word in ["help", "--help", "-h"]:
        expect(run(word), 0, out=["usage: nestor COMMAND", "Exit codes: 0 good"])
    for command in COMMANDS:
        for args in [(command, "--help"), (command, "-h"), ("help", command)]:
            expect(run(*args), 0, out=[f"usage: nestor {command}", "Exit codes"])
    for unit in ["elements", "bytes", "cycles", "picojoules", "1 KiB = 1024 B"]:
        expect(run("eval", "--help"), 0, out=unit)


def test_version():
    expect(run("version"), 0, out="nestor 0.1.0")
    expect(run("--version"), 0, out="counting rules version 1")


def test_unknown_command():
    expect(run("evla", "gemm.nest"), 2, err='did you mean "eval"?')
    expect(run("frobnicate"), 2, err="nestor help")
    expect(run("help", "chekc"), 2, err='did you mean "check"?')


def test_unknown_option():
    expect(run("eval", "--formt", "json", "gemm.nest"), 2, err='did you mean "--format"?')
    expect(run("check", "--engine", "jit", "gemm.nest"), 2, err="no option")
    expect(run("eval", "-x", "gemm.nest"), 2, err="no option")


def test_option_values():
    expect(run("eval", "--format", "jsn", "gemm.nest"), 2, err=['did you mean "json"?', "table, json or csv"])
    expect(run("eval", "--engine=fast", "gemm.nest"), 2, err="analysis, simulate, jit or all")
    expect(run("eval", "gemm.nest", "--format"), 2, err="takes a value")
    expect(run("eval", "--require-fit=yes", "gemm.nest"), 2, err="takes no value")
    expect(run("check", "--color", "blue", "gemm.nest"), 2, err="auto, always or never")
    expect(run("check", "--diagnostics", "xml", "gemm.nest"), 2, err="text or json")


def test_grammar():
    expect(run("grammar"), 0, out="root ::=")
    expect(run("grammar", "-f", "lark"), 0, out="start:")
    expect(run("grammar", "--format", "gbfn"), 2, err=['did you mean "gbnf"?', "ebnf, gbnf or lark"])
    expect(run("grammar", "gemm.nest"), 2, err="takes no file")
    assert "STALE" not in run("grammar").out  # a line of export_narrow.def without its production


def test_files_needed():
    for command in ["check", "fmt", "eval", "simulate", "test", "explain", "emit", "sweep", "merge"]:
        expect(run(command), 2, err="needs a file")
    expect(run("check", "-", "-"), 2, err="only once")


def test_options_and_files_mix():
    write("-odd.nest", SAMPLE)
    expect(run("eval", "gemm.nest", "--format", "csv"), 0, out="mapping,workload")
    expect(run("check", "--", "-odd.nest"), 0, out="-odd.nest: good")


def test_check():
    expect(run("check", "gemm.nest"), 0, out="gemm.nest: good, 1 mapping, 1 test")
    assert run("check", "-q", "gemm.nest").out == ""
    expect(run("check", "-", stdin=SAMPLE), 0, out="<stdin>: good")
    write("bad.nest", SAMPLE.replace("keep all in RF", "keep all in RG"))
    expect(run("check", "bad.nest", "gemm.nest"), 1, out="gemm.nest: good", err="bad.nest:")


def test_program_errors():
    write("bad.nest", SAMPLE.replace("for m by tm", "for q by tm"))
    for command in ["check", "eval", "simulate", "test", "explain"]:
        expect(run(command, "bad.nest"), 1, err="bad.nest:15:")
    expect(run("emit", "ir", "bad.nest"), 1, err="bad.nest:15:")
    write("bad.nest", SAMPLE.replace("mapping os", "mappin os"))
    expect(run("fmt", "bad.nest"), 1, err="bad.nest:14:")


def test_nothing_to_do():
    write("empty.nest", "")
    write("comments.nest", "# nothing\n\n# here\n")
    write("half.nest", "hardware h { memory DRAM compute MAC }\n")
    for name in ["empty.nest", "comments.nest"]:
        expect(run("check", name), 0, err="declares nothing")
        expect(run("eval", name), 1, err="declares no mapping")
        expect(run("explain", name), 1, err="declares no mapping")
        expect(run("test", name), 1, err="no test or verify block")
    expect(run("eval", "half.nest"), 1, err="half.nest declares no mapping")
    expect(run("eval", "-", stdin=""), 1, err="<stdin> declares no mapping")
    expect(run("eval", "half.nest", "gemm.nest"), 1, out="os: gemm on tiny", err="half.nest declares no mapping")


def test_choosing_mappings():
    expect(run("eval", "--mapping", "os", "gemm.nest"), 0, out="os: gemm on tiny")
    expect(run("eval", "--mapping", "so", "gemm.nest"), 2, err='no mapping is named "so"')
    expect(run("eval", "-m", "oss", "gemm.nest"), 2, err='did you mean "os"?')
    write("two.nest", SAMPLE + SAMPLE[SAMPLE.index("mapping os"):].replace("os", "ws"))
    result = run("eval", "-mws", "two.nest")
    expect(result, 0, out="ws: gemm on tiny")
    assert "os: gemm" not in result.out, result
    result = run("eval", "two.nest", "gemm.nest")
    assert result.out.count(": gemm on tiny") == 3, result


def test_setting_parameters():
    expect(run("eval", "--set", "tm=32", "-stn=16", "gemm.nest"), 0, out="tm = 32, tn = 16, tk = 32")
    expect(run("eval", "--set", "tx=32", "gemm.nest"), 2, err=["has a parameter \"tx\"", "tm, tn, tk"])
    for value in ["x", "12x", "", "1e", "--1", "nan", "inf", "0x10"]:
        expect(run("eval", f"--set=tm={value}", "gemm.nest"), 2)
    expect(run("eval", "--set", "tm", "gemm.nest"), 2, err="P=V")
    expect(run("eval", "--set", "tm=1_0e0", "gemm.nest"), 0, out="tm = 10,")
    for value in ["0", "-1", "0.5"]:
        expect(run("eval", "--set", f"tm={value}", "gemm.nest"), 1, err="gemm.nest:15:")
    expect(run("eval", "--set", "tm=99999999999999999999999999999999999999999", "gemm.nest"), 2)


def test_parameter_without_value():
    write("open.nest", SAMPLE.replace("tm = 64, tn", "tm, tn").replace("test of os", "test of os(tm = 64)"))
    expect(run("eval", "open.nest"), 1, err="tm")
    expect(run("eval", "--set", "tm=64", "open.nest"), 0, out="tm = 64")


def test_require_fit():
    write("big.nest", TOO_BIG)
    result = run("eval", "big.nest")
    expect(result, 0, out=["off-chip traffic", "no: GLB needs 20,480 of 16,384 bytes"],
           err=["warning[W0950]", "GLB", "20,480", "16,384", "A 2,048 B", "B 2,048 B", "C 16,384 B"])
    again = run("eval", "--require-fit", "big.nest")
    expect(again, 1)
    assert again.out == result.out, again
    expect(run("eval", "--require-fit", "gemm.nest"), 0)
    expect(run("simulate", "--require-fit", "--set", "tm=8", "gemm.nest"), 1)  # too large to simulate


def test_partial():
    """One mapping that cannot be evaluated does not keep the others from their values."""
    text = SAMPLE + "".join(
        SAMPLE[SAMPLE.index("mapping os"):SAMPLE.index("test of")].replace("os(tm = 64", f"m{i}(tm = {v}")
        for i, v in enumerate([64, 32, 0, 16, 8]))
    write("five.nest", text)
    result = run("eval", "--format", "json", "five.nest")
    expect(result, 1, err=["five.nest:", "1 of 6 mappings could not be evaluated"])
    for name in ["os", "m0", "m1", "m3", "m4"]:
        assert f'"mapping":"{name}","workload"' in result.out, result
    assert '"errors":[{"mapping":"m2"' in result.out, result
    alone = run("eval", "--mapping", "m3", "--format", "csv", "five.nest")
    expect(alone, 0)
    together = run("eval", "--format", "csv", "five.nest")
    for line in alone.out.splitlines():
        assert line in together.out, line


def test_test_command():
    expect(run("test", "gemm.nest"), 0, out=["pass  test of os", "1 passed, 0 failed"])
    write("bad.nest", SAMPLE.replace("(512 / 64)", "(512 / 32)").replace("<= 128 KiB", "<= 20000"))
    expect(run("test", "bad.nest"), 1,
           out=["FAIL  test of os", "reads(DRAM, A) = 2,097,152 elements", "512 * 512 * (512 / 32) = 4,194,304",
                "usage(GLB) = 20,480 bytes", "0 passed, 1 failed"])
    expect(run("test", "--format", "json", "bad.nest"), 1, out='"passed":0,"failed":1')
    expect(run("test", "--format", "csv", "gemm.nest"), 2)
    assert run("test", "-q", "gemm.nest").out == ""


def test_fmt():
    formatted = run("fmt", "gemm.nest")
    expect(formatted, 0, out="workload gemm")
    write("ugly.nest", SAMPLE.replace("  dim m", "dim     m"))
    expect(run("fmt", "--check", "ugly.nest"), 1, err="ugly.nest would be formatted differently")
    assert run("fmt", "-", stdin=SAMPLE).out == formatted.out
    expect(run("fmt", "-w", "ugly.nest"), 0)
    assert open("ugly.nest").read() == formatted.out
    expect(run("fmt", "--check", "ugly.nest"), 0)
    expect(run("fmt", "-w", "--check", "ugly.nest"), 2)
    write("broken.nest", "workload {")
    expect(run("fmt", "-w", "broken.nest"), 1)
    assert open("broken.nest").read() == "workload {"


def test_emit():
    for stage, text in [("ast", "gemm"), ("ir", "gemm"), ("expr", "reads(DRAM, A) = ")]:
        expect(run("emit", stage, "gemm.nest"), 0, out=text)
        expect(run("emit", f"--emit={stage}", "gemm.nest"), 0, out=text)
    expect(run("emit", "irr", "gemm.nest"), 2, err='did you mean "ir"?')
    expect(run("emit", "ir"), 2, err="needs a file")


def test_diagnostics_json():
    import json
    write("bad.nest", SAMPLE.replace("for m by tm", "for q by tm"))
    result = run("check", "--diagnostics", "json", "bad.nest", "gemm.nest")
    assert result.code == 1
    lines = [json.loads(line) for line in result.err.splitlines()]
    assert [line["schema"] for line in lines] == ["nestor.diagnostics/1"] * 2
    first = lines[0]["diagnostics"][0]
    assert (first["file"], first["line"], first["severity"]) == ("bad.nest", 15, "error"), first
    assert lines[1]["diagnostics"] == []


def test_color():
    write("bad.nest", SAMPLE.replace("for m by tm", "for q by tm"))
    assert "\033[" not in run("check", "bad.nest").err
    assert "\033[" in run("check", "--color", "always", "bad.nest").err
    assert "\033[" in run("eval", "--color=always", "gemm.nest").out
    assert "\033[" not in run("eval", "gemm.nest").out
    terminal = ["script", "-qec", f"{NESTOR} check bad.nest", "/dev/null"]
    for env, colored in [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                         ({"TERM": "xterm", "NO_COLOR": ""}, True)]:
        try:
            shown = subprocess.run(terminal, capture_output=True, env=dict(os.environ, **env), stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            return
        assert (b"\033[" in shown.stdout) == colored, (env, shown.stdout)


main(globals())
