"""GBNF as the tests need it: a reader, checks of the portable subset, a sampler.

A grammar is {name: node}; nodes are tuples: ("text", s), ("class", negated, [(lo, hi)]),
("rule", name), ("seq", [..]), ("alt", [..]), ("rep", node, least, most).
"""
import random
import re

TOKEN = re.compile(r'\s*(?:(#[^\n]*)|([A-Za-z][A-Za-z0-9-]*)(\s*::=)?|("(?:[^"\\]|\\.)*")|(\[(?:[^\]\\]|\\.)*\])'
                   r'|(\{\d+,\d+\})|([()|?*+]))')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def unescape(text):
    def one(match):
        body = match.group(1)
        return chr(int(body[1:], 16)) if body[0] == "x" else ESCAPES.get(body, body)
    return re.sub(r"\\(x[0-9A-Fa-f]{2}|.)", one, text)


def char_class(text):
    negated = text.startswith("^")
    chars = re.findall(r"\\x[0-9A-Fa-f]{2}|\\.|.", text[negated:], re.S)
    ranges, i = [], 0
    while i < len(chars):
        low = high = unescape(chars[i])
        if i + 2 < len(chars) and chars[i + 1] == "-":
            high, i = unescape(chars[i + 2]), i + 2
        ranges.append((ord(low), ord(high)))
        i += 1
    return ("class", negated, ranges)


def read(text):
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise ValueError("no GBNF at: " + text[at:at + 40])
        at = m.end()
        if not m.group(1):
            tokens.append(m)
    rules, i = {}, 0

    def alternatives():
        nonlocal i
        options = [sequence()]
        while i < len(tokens) and tokens[i].group(7) == "|":
            i += 1
            options.append(sequence())
        return options[0] if len(options) == 1 else ("alt", options)

    def sequence():
        nonlocal i
        items = []
        while i < len(tokens) and not tokens[i].group(3):
            _, name, _, quoted, cls, bounds, sign = tokens[i].group(*range(1, 8))
            if sign in ("|", ")"):
                break
            i += 1
            if name:
                items.append(("rule", name))
            elif quoted:
                items.append(("text", unescape(quoted[1:-1])))
            elif cls:
                items.append(char_class(cls[1:-1]))
            elif bounds:
                least, most = bounds[1:-1].split(",")
                items[-1] = ("rep", items[-1], int(least), int(most))
            elif sign == "?":
                items[-1] = ("rep", items[-1], 0, 1)
            elif sign == "(":
                items.append(alternatives())
                i += 1
            else:
                raise ValueError("outside the portable subset: " + sign)
        return items[0] if len(items) == 1 else ("seq", items)

    while i < len(tokens):
        name = tokens[i].group(2)
        if not tokens[i].group(3) or name in rules:
            raise ValueError("bad rule " + name)
        i += 1
        rules[name] = alternatives()
    return rules


def kids(node):
    return {"seq": lambda: node[1], "alt": lambda: node[1], "rep": lambda: [node[1]]}.get(node[0], lambda: [])()


def nullable_rules(rules):
    known = set()

    def nullable(node):
        kind = node[0]
        if kind == "seq":
            return all(map(nullable, node[1]))
        if kind == "alt":
            return any(map(nullable, node[1]))
        if kind == "rep":
            return node[2] == 0 or nullable(node[1])
        return (kind == "rule" and node[1] in known) or (kind == "text" and not node[1])

    while True:
        more = {name for name, body in rules.items() if nullable(body)}
        if more == known:
            return nullable
        known |= more


def check(rules):
    """What is outside the portable subset, as a list of complaints."""
    bad = []
    if next(iter(rules)) != "root":
        bad.append("the first rule is not root")
    nullable = nullable_rules(rules)

    def walk(node, where):
        if node[0] == "rule" and node[1] not in rules:
            bad.append(f"{where}: no rule {node[1]}")
        if node[0] == "rep" and node[3] != 1 and nullable(node[1]):
            bad.append(f"{where}: a repetition of what may be empty")
        for kid in kids(node):
            walk(kid, where)

    def first(node):
        if node[0] == "rule":
            return {node[1]}
        if node[0] == "seq":
            out = set()
            for item in node[1]:
                out |= first(item)
                if not nullable(item):
                    break
            return out
        return set().union(*map(first, kids(node))) if kids(node) else set()

    for name, body in rules.items():
        walk(body, name)
    begins = {name: first(body) for name, body in rules.items()}
    for name in rules:
        seen, todo = set(), list(begins[name])
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo += begins.get(other, ())
        if name in seen:
            bad.append(f"{name}: left recursion")
    used, todo = {"root"}, ["root"]
    while todo:
        stack = [rules[todo.pop()]]
        while stack:
            node = stack.pop()
            stack += kids(node)
            if node[0] == "rule" and node[1] not in used:
                used.add(node[1])
                todo.append(node[1])
    bad += [f"{name}: never used" for name in rules if name not in used]
    return bad


class Sampler:
    """Random texts of a grammar. Beyond `budget` characters the shortest way out is taken."""

    def __init__(self, rules, seed):
        self.rules, self.random = rules, random.Random(seed)
        self.height = {name: 1000 for name in rules}
        while True:
            now = {name: 1 + self.of(body) for name, body in rules.items()}
            if now == self.height:
                break
            self.height = now

    def of(self, node):
        if node[0] == "rule":
            return min(self.height[node[1]], 1000)
        if node[0] == "rep" and node[2] == 0:
            return 0
        values = [self.of(kid) for kid in kids(node)]
        if not values:
            return 0
        return min(values) if node[0] == "alt" else max(values)

    def sample(self, budget=600, root="root"):
        out, stack, size = [], [("rule", root)], 0
        while stack:
            node = stack.pop()
            kind, short = node[0], size > budget
            if kind == "text":
                out.append(node[1])
                size += len(node[1])
            elif kind == "class":
                out.append(self.char(node))
                size += 1
            elif kind == "rule":
                stack.append(self.rules[node[1]])
                size += 1  # recursion without characters ends too
            elif kind == "seq":
                stack += reversed(node[1])
            elif kind == "alt":
                options = node[1]
                if short:
                    least = min(map(self.of, options))
                    options = [o for o in options if self.of(o) == least]
                stack.append(self.random.choice(options))
            else:
                least, most = node[2], node[3]
                count = least
                while not short and count < most and self.random.random() < 0.5:
                    count += 1
                stack += [node[1]] * count
        return "".join(out)

    def char(self, node):
        _, negated, ranges = node
        if negated:
            while True:
                c = self.random.choice(range(32, 127)) if self.random.random() < 0.95 else self.random.choice((0xE9, 0x3BC, 0x1F600))
                if not any(low <= c <= high for low, high in ranges):
                    return chr(c)
        low, high = self.random.choice(ranges)
        return chr(self.random.randint(low, high))
