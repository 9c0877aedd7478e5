#!/usr/bin/env python3
# ctest: traits
"""Levels raise one trait at a time: seen in the text of tasks, without the generator's eyes. --update rewrites the table of docs/benchmark.md."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NESTOR = os.environ.get("NESTOR", "nestor")
PAGE = SOURCE / "docs" / "benchmark.md"
HEAD = "| level | trait | what it is | shown by |\n| --- | --- | --- | --- |\n"
NO_MODEL = {"memories", "array", "grid", "deep", "imperfect"}  # nothing of them shows in closed forms, or it is in all of them


def rows():
    text = (SOURCE / "bench/tasks/traits.def").read_text(encoding="utf-8")
    return [(name, int(level), part.lower(), what)
            for name, level, part, what in re.findall(r'^NST_TRAIT\(\w+, "(\w+)", (\d), (\w+), "([^"]+)"\)$', text, re.M)]


TRAITS = {name: (level, part) for name, level, part, _ in rows()}


# ---- programs --------------------------------------------------------------------------------------------------------

def block(text, word):
    """Head and body of the first declaration of a kind, and what is behind it."""
    found = re.search(rf"^{word} ", text, re.M)
    if not found:
        return None
    start = text.index("{", found.end())
    depth, at = 1, start + 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[found.end():start], text[start + 1:at - 1], text[at:]


def defaults(head):
    return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", head.split(" of ")[0])}


class Workload:
    def __init__(self, text):
        head, body, _ = block(text, "workload")
        params = defaults(head)
        dims = re.search(r"\bdim ([^\n]*(?:,\n[^\n]*)*)", body).group(1)
        self.extents = {d: params.get(size) or int(size) for d, size in re.findall(r"(\w+) = (\w+)", dims)}
        self.tensors, self.statements, self.ranks = {}, [], []
        for line in re.sub(r"\n {4,}", " ", body).splitlines():
            if not re.search(r"\][^=\[\]]*=", line) or line.split()[0] in ("dim", "tensor"):
                continue
            names = []
            for name, ranks in re.findall(r"(\w+)\[([^\]]*)\]", line):
                self.ranks += ranks.split(",")
                self.tensors[name] = set(re.findall(r"[a-z]\w*", ranks))
                names.append(name)
            self.statements.append((names[0], set(names)))

    def traits(self):
        many = len(self.statements)
        found = {"dims": len(self.extents) > 3, "cascade": many > 1, "chain": many > 2,
                 "halo": any(len(re.findall(r"[a-z]\w*", r)) > 1 for r in self.ranks),
                 "stride": any(re.search(r"\d", r) for r in self.ranks)}
        return {name for name, there in found.items() if there}


class Hardware:
    def __init__(self, text):
        head, body, _ = block(text, "hardware")
        params = defaults(head)
        self.memories = re.findall(r"^\s*memory +(\w+)", body, re.M)
        self.arrays = {name: {axis: int(params.get(n, n)) for axis, n in re.findall(r"(\w+) = (\w+)", axes)}
                       for name, axes in re.findall(r"^\s*array +(\w+)\[([^\]]*)\]", body, re.M)}
        self.grid = any(len(axes) > 1 for axes in self.arrays.values()) or bool(re.search(r"multicast|reduce", body))

    def traits(self):
        found = {"memories": len(self.memories) > 2, "deep": len(self.memories) > 3, "array": self.arrays, "grid": self.grid}
        return {name for name, there in found.items() if there}


NODE = re.compile(r"for (?P<d>\w+)(?: (?P<how>by|into) (?P<t>\w+))?|par (?P<p>\w+)(?: by (?P<by>\w+))? on (?P<array>\w+)\.(?P<axis>\w+)"
                  r"|keep (?P<keep>[\w,\s]+?) in (?P<in>\w+)|(?P<seq>seq) \{|do (?P<do>[\w, ]+) \{|(?P<compute>compute)|(?P<end>\})")


class Mapping:
    def __init__(self, head, body, workload, hardware):
        self.params, self.w, self.h = defaults(head), workload, hardware
        self.nodes = [m.groupdict() for m in NODE.finditer(body)]
        self.spread = any(n["p"] for n in self.nodes)

    def value(self, word):
        return int(self.params.get(word, word))

    def block_dims(self):
        """Of the loops above all keeps on chip and all branches."""
        dims = []
        for n in self.nodes:
            if n["seq"] or n["in"] in self.h.memories[1:] or n["p"] or n["compute"]:
                break
            dims += [n["d"]] if n["d"] else []
        return dims

    def paths(self):
        """Of each statement the nodes down to its compute; those of its branch are marked."""
        above, path = [], []
        inside = False
        for n in self.nodes:
            if n["seq"]:
                above = path
            elif n["do"]:
                path, inside, out = list(above), True, n["do"]
            elif n["compute"]:
                yield next(s for s in self.w.statements if not inside or s[0] == out), path
            elif not n["end"]:
                path = path + [(n, inside)]

    def traits(self):
        found = set()
        for (_, tensors), path in self.paths():
            extent, loops, cuts = dict(self.w.extents), [], 0
            kept, at = collections.defaultdict(set), {}
            middle = [i for i, (n, inside) in enumerate(path) if inside and n["in"] == self.h.memories[1]]
            for i, (n, inside) in enumerate(path):
                if n["in"]:
                    names = tensors if n["keep"].strip() == "all" else set(re.findall(r"\w+", n["keep"]))
                    kept[n["in"]] |= names
                    if at.setdefault(n["in"], cuts) != cuts:
                        found.add("uneven")
                    at[n["in"]] = cuts
                    found |= {"orders" for t in names & set(self.w.tensors) if self.partial(t, loops, inside)}
                    continue
                d, cuts = n["d"] or n["p"], cuts + 1
                if n["d"]:
                    tile = self.value(n["t"]) if n["t"] else 1
                    tile = -(-extent[d] // tile) if n["how"] == "into" else tile
                    if inside and middle and i < middle[-1]:
                        found.add("branches")
                else:
                    tile = self.value(n["by"]) if n["by"] else -(-extent[d] // self.h.arrays[n["array"]][n["axis"]])
                if tile < extent[d]:
                    if extent[d] % tile:
                        found.add("imperfect")
                    if n["d"]:
                        loops.append((d, inside))
                    extent[d] = tile
            found |= {"bypass" for m in self.h.memories[1:] if tensors - kept[m]}
        return found

    def partial(self, tensor, loops, inside):
        """inside: the keep is in a branch, where it starts empty."""
        own = [d in self.w.tensors[tensor] for d, _ in loops]
        again = [not mine and (any(own[i + 1:]) or (inside and not loops[i][1])) for i, mine in enumerate(own)]
        left = [not mine and not more for mine, more in zip(own, again)]
        return any(again) and any(left)


# ---- tasks -----------------------------------------------------------------------------------------------------------

def traits_of(task, key):
    prompt, kind, spec = task["messages"][-1]["content"], task["kind"], task["spec"]
    if kind.startswith("qa."):
        text = re.search(r"```nest\n(.*?)```", prompt, re.S).group(1)
    elif kind == "gen.model":
        text = spec["given"]
    else:
        text = key["answer"] if spec["declares"]["kind"] != "mapping" else spec["given"] + key["answer"]
    asked = spec["declares"]["kind"] if kind == "repair" else kind.removeprefix("gen.")
    if asked == "workload":
        return Workload(text).traits(), "workload"
    if asked == "hardware":
        return Hardware(text).traits(), "hardware"
    w, h = Workload(text), Hardware(text)
    found, rest, used = w.traits() | h.traits(), text, False
    while rest and (this := block(rest, "mapping")):
        m = Mapping(this[0], this[1], w, h)
        own = m.traits()
        if kind == "gen.optimize":  # tiles and the order of the outer loops are what is looked for
            dims = m.block_dims()
            own -= {"orders", "imperfect"}
            own |= {"imperfect"} if "a tile from 1 to" in prompt else set()
            own |= {"orders" for t in w.tensors.values() if (n := len(t & set(dims))) and len(dims) - n > 1}
        found, used, rest = found | own, used or m.spread, this[2]
    if {"array", "grid"} & {spec.get("raises")}:
        assert used, (task["task_id"], "an array that raises it is not used")
    return found, ""


def may_raise(kind, target, level):
    names = {name for name, (at, part) in TRAITS.items() if at == level and (not target or part == target)}
    if kind == "gen.model":
        names -= NO_MODEL
    return names - ({"uneven"} if kind == "gen.optimize" else set())


def check(tasks, keys):
    raised = collections.defaultdict(collections.Counter)
    for task, key in zip(tasks, keys):
        found, target = traits_of(task, key)
        level, raises = task["level"], task["spec"].get("raises")
        own = {t for t in found if TRAITS[t][0] == level}
        where = (task["task_id"], raises, sorted(found))
        assert not {t for t in found if TRAITS[t][0] > level}, where
        assert own == ({raises} if level > 1 else set()), where
        assert (raises is None) == (level == 1), where
        assert level == 1 or raises in may_raise(task["kind"], target, level), where
        assert level < 5 or target == "hardware" or "cascade" in found, where
        raised[(task["kind"], level)][raises] += 1
    return raised


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def changes_are_seen(tasks, keys):
    """A task that is changed by hand breaks the rule: the check is none that cannot fail."""
    by = {t["task_id"]: k for t, k in zip(tasks, keys)}
    tried = 0
    for task in tasks:
        if task["kind"] != "gen.model" or task["level"] != 2:
            continue
        given = task["spec"]["given"]
        for old, new in ((r"(\n  compute \w+)", r"\n  array X[x = 2]\1"), (r"\[([a-z])", r"[2*\1"), (r"\[([a-z])", r"[\1 + \1"),
                         (r"memory", r"memory Y\n  memory"), (r"keep (\w+), ([\w, ]+) in", r"keep \2 in")):
            changed = re.sub(old, new, given, count=0 if "keep" in old or "[2" in new else 1)
            if changed == given:
                continue
            try:
                check([task | {"spec": task["spec"] | {"given": changed}}], [by[task["task_id"]]])
            except AssertionError:
                tried += 1
            else:
                assert "memory" in old and task["spec"]["raises"] == "memories", (task["task_id"], old)
    assert tried > 20, tried


def table():
    return HEAD + "".join(f"| {level} | `{name}` | {what} | {part} |\n" for name, level, part, what in rows())


def main():
    page = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: table(), page), encoding="utf-8")
        return
    assert table() in page, "docs/benchmark.md has another table: tests/bench/traits.py --update rewrites it"
    schema = json.loads((SOURCE / "docs/schemas/nestor.task-1.schema.json").read_text(encoding="utf-8"))
    assert schema["definitions"]["raises"]["enum"] == [name for name, *_ in rows()]
    with tempfile.TemporaryDirectory() as directory:
        tasks, key = f"{directory}/tasks.jsonl", f"{directory}/key.jsonl"
        subprocess.run([NESTOR, "bench", "gen", "--suite", "traits", "--seed", "3", "--count", "1600", "--card", "none", "--examples", "0", "--quick",
                        "--quiet", "-o", tasks, "--key", key], check=True, stdout=subprocess.DEVNULL)
        tasks, keys = lines(tasks), lines(key)
    raised = check(tasks, keys)
    for (kind, level), names in sorted(raised.items()):
        print(kind, level, dict(names))
        target = kind[4:] if kind in ("gen.workload", "gen.hardware") else ""
        if level > 1:
            assert set(names) == may_raise(kind, target, level), (kind, level, names)
    changes_are_seen(tasks, keys)


main()
