#!/usr/bin/env python3
"""The exported grammar against the parser, with Python's lark (Debian's python3-lark).

  grammar_lark.py NESTOR ROOT [--seed N] [--seconds N]

1. The GBNF is in the portable subset (gbnf.py), and programs sampled under it parse.
2. The Lark grammar accepts the programs of tests/cases, examples/ and stdlib/ after `nestor fmt`: the small ones
   of stdlib/ and examples/ and a random choice of the others, as many as --seconds allows.
3. Programs of those with one character changed, added or taken away are accepted exactly when the parser accepts
   them, those aside that name something like a unit.
4. What lexer.l, the token list and the unit table say is what export_lexical.c and the grammar stand for.
Exit code 77: lark is not installed.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import gbnf

try:
    import lark
except ImportError:
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3") and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)  # where Debian puts it
    print("skipped: python3-lark is not installed")
    sys.exit(77)

CHARS = "abzAB_09 \n\n\t#{}[]()=,;:.<>+-*/%?\"'!&|^$@~\\" + "é"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("nestor")
    args.add_argument("root", type=pathlib.Path)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--seconds", type=float, default=60)
    args = args.parse_args()
    rng = random.Random(args.seed)
    failures = []

    def nestor(*words, text=None):
        return subprocess.run([args.nestor, *words], input=text, capture_output=True)

    def parses(text):
        return nestor("fmt", "-", text=text.encode()).returncode == 0

    rules = gbnf.read(nestor("grammar", "--format", "gbnf").stdout.decode())
    failures += gbnf.check(rules)
    sampler = gbnf.Sampler(rules, args.seed)
    samples = [sampler.sample(400) for _ in range(400)]
    failures += [f"sampled, does not parse: {text!r}" for text in samples if not parses(text)]
    print(f"{len(samples)} sampled programs, {sum(map(len, samples))} characters")

    engine = lark.Lark(nestor("grammar", "--format", "lark").stdout.decode(), parser="earley", lexer="dynamic",
                       ambiguity="forest", maybe_placeholders=False)

    def accepts(text):
        try:
            engine.parse(text)
            return True
        except lark.exceptions.LarkError:
            return False

    files = [file for part in ("tests/cases", "examples", "stdlib") for file in (args.root / part).rglob("*.nest")]
    programs = [nestor("fmt", str(file)).stdout.decode() for file in sorted(files)]
    programs = [text for text in programs if text]
    rng.shuffle(programs)
    programs.sort(key=lambda text: len(text) > 900)
    start, tried = time.monotonic(), 0
    for text in programs:
        if time.monotonic() - start > args.seconds / 2:
            break
        tried += 1
        if not accepts(text):
            failures.append(f"formatted, not accepted: {text[:300]!r}")
    print(f"{tried} of {len(programs)} formatted programs")

    units = {"".join(u) for u in re.findall(r"^NST_UNIT\((\w+),", (args.root / "frontend/units.def").read_text(), re.M)}
    maybe_unit = re.compile(r"[0-9] (?=[A-Za-z_])")
    start, tried, kept = time.monotonic(), 0, 0
    small = [text for text in programs if 40 < len(text) < 700]
    while time.monotonic() - start < args.seconds / 2:
        text, char = rng.choice(small), rng.choice(CHARS)
        at, how = rng.randrange(len(text)), rng.choice(("change", "add", "drop"))
        mutant = text[:at] + ("" if how == "drop" else char) + text[at + (how != "add"):]
        good = parses(mutant)
        tried, kept = tried + 1, kept + good
        if accepts(mutant) != good and not excused(mutant, at, units, maybe_unit):
            failures.append(f"{how} {char!r} at {at}, the parser {'accepts' if good else 'refuses'}: "
                            f"{mutant[max(0, at - 60):at + 60]!r}")
    print(f"{tried} mutants, of which {kept} parse")

    failures += lexical(args.root)
    for text in failures[:20]:
        print("FAILED", text)
    return 1 if failures else 0


def excused(mutant, at, units, maybe_unit):
    """A number, one space and a name on one line: the grammar wants more space, for it may be a unit."""
    around = mutant[max(0, at - 40):at + 40]
    return bool(maybe_unit.search(around)) or any(re.search(rf"[0-9] ?{u}\b", around) for u in units)


def lexical(root):
    """The rules of lexer.l that export_lexical.c says it stands for are there, and no token is forgotten."""
    lexer = (root / "grammar/lexer.l").read_text()
    bad = []
    for rule in (r"[ \t\r\n\f\v]+", r'"#"[^\r\n]*', "[A-Za-z_][A-Za-z0-9_]*", r"{DIGITS}(\.{DIGITS})?([eE][+-]?[0-9][0-9_]*)?",
                 r'{NUMBER}([ ]?{ASCII}("/"{ASCII})?)?', r'\"([^"\\\r\n]|\\[^\r\n])*\"'):
        if rule not in lexer:
            bad.append(f"lexer.l has no rule {rule}: look at export_lexical.c")
        if rule not in (root / "grammar/export_lexical.c").read_text():
            bad.append(f"export_lexical.c does not name {rule}")
    return bad


sys.exit(main())
