#!/usr/bin/env python3
"""The exported grammar against the parser, with Python's lark (Debian's python3-lark).

  grammar_lark.py NESTOR ROOT [--seed N] [--seconds N]

1. The Lark grammar accepts the programs of tests/cases, examples/ and stdlib/ after `nestor fmt`, small ones first,
   as many as --seconds allows.
2. Mutants of those are accepted exactly when the parser accepts them (corpus.py).
3. What lexer.l, the token list and the unit table say is what export_lexical.c and the grammar stand for.
Exit code 77: lark is not installed.
"""
import argparse
import os
import pathlib
import sys
import time

import corpus

try:
    import lark
except ImportError:
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3") and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)  # where Debian puts it
    print("skipped: python3-lark is not installed")
    sys.exit(77)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("nestor")
    args.add_argument("root", type=pathlib.Path)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--seconds", type=float, default=60)
    args = args.parse_args()
    programs = corpus.Corpus(args.nestor, args.root, args.seed, ("tests/cases", "examples", "stdlib"))
    engine = lark.Lark(programs.grammar("lark"), parser="earley", lexer="dynamic", ambiguity="forest",
                       maybe_placeholders=False)
    failures = lexical(args.root)
    print(f"seed {args.seed}")

    def accepts(text):
        try:
            engine.parse(text)
            return True
        except lark.exceptions.LarkError:
            return False

    texts = programs.small + [text for text in programs.programs.values() if len(text) >= 700]
    start, tried = time.monotonic(), 0
    for text in texts:
        if time.monotonic() - start > args.seconds / 2:
            break
        tried += 1
        if not accepts(text):
            failures.append(f"formatted, not accepted: {text[:300]!r}")
    print(f"{tried} of {len(texts)} formatted programs")

    start, tried, kept = time.monotonic(), 0, 0
    while time.monotonic() - start < args.seconds / 2:
        mutant, what = programs.mutant()
        good = programs.parses(mutant)
        tried, kept = tried + 1, kept + good
        wrong = programs.disagreement(accepts, mutant, good)
        if wrong:
            failures.append(f"{wrong}: {what}")
    print(f"{tried} mutants, of which {kept} parse")
    if not tried or not kept:
        failures.append("too slow: nothing was tried")

    for text in failures[:20]:
        print("FAILED", text)
    return 1 if failures else 0


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
