#!/usr/bin/env python3
"""The exported grammar against the parser, with the tests' own reader of GBNF (gbnf.py, matcher.py).

  grammar_own.py NESTOR ROOT [--seed N] [--samples N] [--mutants N] [--cases N]

1. The GBNF is in the portable subset.
2. Programs sampled under it parse.
3. It accepts the programs of the project after `nestor fmt`, those beyond its bounds aside: all that are written by
   hand, and of the made ones of tests/cases as many as --cases says.
4. Mutants of those are accepted exactly when the parser accepts them.
5. The readings an engine follows at once do not grow with nesting.
"""
import argparse
import pathlib
import sys

import corpus
import gbnf
import matcher


def main():
    args = argparse.ArgumentParser()
    args.add_argument("nestor")
    args.add_argument("root", type=pathlib.Path)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--samples", type=int, default=1500)
    args.add_argument("--mutants", type=int, default=1000)
    args.add_argument("--cases", type=int, default=150)
    args = args.parse_args()
    programs = corpus.Corpus(args.nestor, args.root, args.seed)
    rules = gbnf.read(programs.grammar("gbnf"))
    engine = matcher.Matcher(rules)
    failures = gbnf.check(rules)
    print(f"seed {args.seed}, {len(rules)} rules")

    sampler, size = gbnf.Sampler(rules, args.seed), 0
    for i in range(args.samples):
        text = sampler.sample((50, 150, 400, 1000)[i % 4])
        size += len(text)
        if not programs.parses(text):
            failures.append(f"sampled, does not parse: {text!r}")
    print(f"{args.samples} sampled programs, {size} characters")

    made = sorted(name for name in programs.programs if name.startswith("tests/cases/"))
    left_out = set(programs.random.sample(made, max(0, len(made) - args.cases)))
    tried = [name for name in programs.programs if name not in left_out]
    for name in tried:
        if not engine.accepts(programs.programs[name]):
            failures.append(f"formatted, not accepted: {name}")
    for name, text in programs.beyond.items():
        if engine.accepts(text):
            failures.append(f"{name} is accepted, with {corpus.BEYOND[name]}")
    print(f"{len(tried)} of {len(programs.programs)} formatted programs")

    kept = 0
    for _ in range(args.mutants):
        mutant, what = programs.mutant()
        good = programs.parses(mutant)
        kept += good
        wrong = programs.disagreement(engine.accepts, mutant, good)
        if wrong:
            failures.append(f"{wrong}: {what}")
    print(f"{args.mutants} mutants, of which {kept} parse")

    for open_, close in (("(", ")"), ("f(", ")"), ("A[", "]"), ("sum(", " for i in 1 .. n)"),
                         ("if ", " then b else c"), ("not (", ")"), ("-", "")):
        widest = {}
        for depth in (3, 30):
            engine.widest = 0
            text = "const a = " + open_ * depth + "a" + close * depth + "\n"
            if not engine.accepts(text):
                failures.append(f"not accepted: {text}")
            widest[depth] = engine.widest
        if widest[30] > widest[3]:
            failures.append(f"{open_} 30 deep has {widest[30]} readings, 3 deep {widest[3]}")

    for text in failures[:20]:
        print("FAILED", text)
    return 1 if failures else 0


sys.exit(main())
