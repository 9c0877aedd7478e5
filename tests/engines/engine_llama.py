#!/usr/bin/env python3
"""The exported grammar on llama.cpp (npm's node-llama-cpp), by way of server.js and a model with random weights.

  engine_llama.py NESTOR ROOT PACKAGES [--seed N] [--answers N]

1. Every answer under the grammar that ends by itself parses, and at least 20 do.
2. Without the grammar the model writes no programs, so it was the grammar that made them.
3. The same seed gives the same answer, under either name of the field; an answer that is cut off says so.
4. Wrong requests are answered with 400.
Exit code 77: npm has no packages.
"""
import pathlib
import subprocess
import sys
import tempfile

import npm
import serving


def main():
    args, packages, node = npm.begin("llama", answers=100)
    grammar = subprocess.run([args.nestor, "grammar", "--format", "gbnf"], capture_output=True, text=True).stdout
    failures = []

    def check(good, what):
        if not good:
            failures.append(what)

    def parses(text):
        return serving.parses(args.nestor, text)

    with tempfile.TemporaryDirectory() as scratch, \
            serving.Server(node, packages, pathlib.Path(scratch), args.seed) as server:
        run(server, args, grammar, check, parses)
    for text in failures[:20]:
        print("FAILED", text)
    return 1 if failures else 0


def run(server, args, grammar, check, parses):
    request = {"model": "noise", "messages": [{"role": "user", "content": "Write a program."}], "temperature": 1,
               "max_tokens": 300}
    print(f"seed {args.seed}")
    ended, size = [], 0
    for seed in range(args.seed, args.seed + args.answers, 10):
        status, answer = server.ask(request | {"grammar": grammar, "seed": seed, "n": 10})
        check(status == 200, f"status {status}: {answer}")
        for choice in answer.get("choices", []):
            text = choice["message"]["content"]
            size += len(text)
            if choice["finish_reason"] == "stop":
                ended.append(text)
                check(parses(text), f"ended by itself and does not parse: {text!r}")
    check(len(ended) >= 20, f"only {len(ended)} answers ended by themselves")
    check(len(set(ended)) > len(ended) // 2, "most answers are the same")
    check(any("{" in text for text in ended), "no answer has a block")
    print(f"{args.answers} answers under the grammar, {size} characters; {len(ended)} ended by themselves")

    status, answer = server.ask(request | {"seed": args.seed, "n": 20})
    free = [choice["message"]["content"] for choice in answer["choices"]]
    good = sum(parses(text) for text in free if text.strip())
    check(status == 200 and good < len(free) // 2, f"without the grammar {good} of {len(free)} answers parse")
    print(f"{len(free)} answers without it, of which {good} are programs")

    once = request | {"grammar": grammar, "seed": args.seed + 5}
    other = {**{key: once[key] for key in once if key != "grammar"}, "structured_outputs": {"grammar": grammar}}
    first, second, third = (server.ask(body)[1] for body in (once, once, other))
    check(first["choices"] == second["choices"], "the same seed gives another answer")
    check(first["choices"] == third["choices"], "structured_outputs gives another answer than grammar")
    check(first["usage"]["total_tokens"] == first["usage"]["prompt_tokens"] + first["usage"]["completion_tokens"],
          f"usage does not add up: {first['usage']}")
    cut = server.ask(once | {"max_tokens": 1})[1]["choices"][0]
    check(cut["finish_reason"] == "length", f"an answer of one token says {cut['finish_reason']}")
    long = server.ask(once | {"messages": [{"role": "user", "content": "buffer " * 8000}]})
    check(long[0] == 200, f"a long prompt: {long}")

    wrong = (b"{", b"[]", {"messages": []}, {"messages": [{"role": "user"}]}, request | {"n": 0}, request | {"n": "2"},
             request | {"max_tokens": 10 ** 9}, request | {"temperature": -1}, request | {"seed": 0.5},
             request | {"grammar": "root ::= ("}, request | {"grammar": 1}, request | {"stream": True})
    for body in wrong:
        status, answer = server.ask(body)
        check(status == 400 and answer["error"]["message"], f"{body}: {status} {answer}")


sys.exit(main())
