#!/usr/bin/env python3
"""The exported grammar on XGrammar, the engine of vLLM and SGLang (npm's @mlc-ai/web-xgrammar).

  engine_xgrammar.py NESTOR ROOT PACKAGES [--seed N] [--programs N] [--samples N] [--mutants N]

It compiles the GBNF, accepts programs as `nestor fmt` writes them and programs sampled under the grammar, and accepts
mutants exactly when the parser does (tests/grammar/corpus.py). All in one process. Exit code 77: npm has no packages.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "grammar"))
import corpus
import gbnf
import npm


def main():
    args, packages, node = npm.begin("xgrammar", programs=150, samples=150, mutants=1500)
    programs = corpus.Corpus(args.nestor, args.root, args.seed)
    grammar = programs.grammar("gbnf")
    sampler = gbnf.Sampler(gbnf.read(grammar), args.seed)
    wanted = {text: (True, f"formatted: {text[:200]!r}") for text in programs.small[:args.programs]}
    for _ in range(args.samples):
        text = sampler.sample(300)
        wanted[text] = (True, f"sampled: {text!r}")
    for _ in range(args.mutants):
        text, what = programs.mutant()
        wanted[text] = (programs.parses(text), what)
    deep = "const a = " + "(" * 40 + "a" + ")" * 40 + "\n"
    wanted[deep] = (True, "40 brackets deep")

    def ask(texts):
        done = subprocess.run([node, "xgrammar_check.cjs", packages], capture_output=True, text=True, timeout=500,
                              input=json.dumps({"grammar": grammar, "texts": texts}))
        if done.returncode:
            raise SystemExit(f"xgrammar_check.cjs: {done.stderr[-2000:]}")
        return dict(zip(texts, json.loads(done.stdout), strict=True))

    print(f"seed {args.seed}")
    answers = ask(list(wanted))
    differ = [text for text in wanted if answers[text] != wanted[text][0]]
    # the second question: with more space behind numbers, where a name may be a unit
    spaced = {more for text in differ for more in programs.with_space(text)}
    answers |= ask(sorted(spaced)) if spaced else {}
    failures = [f"{wrong}: {wanted[text][1]}" for text in differ
                if (wrong := programs.disagreement(answers.get, text, wanted[text][0]))]
    print(f"{len(wanted)} texts, of which {sum(good for good, _ in wanted.values())} parse")
    for text in failures[:20]:
        print("FAILED", text)
    return 1 if failures else 0


sys.exit(main())
