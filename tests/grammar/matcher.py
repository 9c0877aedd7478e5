"""Whether a text is one of a grammar (gbnf.py), by the method of llama.cpp: all readings at once, each a stack.

Stacks are linked cells, interned, so what a cell may go on with is found once. `widest` is the greatest number of
readings that were alive at the same time: engines get slow where it grows with nesting.
"""


class Matcher:
    def __init__(self, rules):
        self.rules, self.widest = rules, 0
        self.forget()

    def forget(self):
        self.cells, self.repeated, self.ready = {}, {}, {}
        self.root = self.cell(("rule", "root"), None)

    def cell(self, node, below):
        """The stack with `node` on top; None is the empty one. A node is known by its value where it is small."""
        key = (node if node[0] in ("rule", "text", "turns") else id(node), below[2] if below else 0)
        found = self.cells.get(key)
        if not found:
            found = self.cells[key] = (node, below, len(self.cells) + 1)
        return found

    def readings(self, cell):
        """The stacks with a character on top that a stack stands for; None among them: the text may end."""
        found = self.ready.get(cell[2] if cell else 0)
        if found is None:
            out, seen, todo = [], set(), [cell]
            while todo:
                at = todo.pop()
                if at is None:
                    out.append(None)
                    continue
                if at[2] in seen:
                    continue
                seen.add(at[2])
                self.expand(at, out, todo)
            found = self.ready[cell[2] if cell else 0] = out
        return found

    def expand(self, at, out, todo):
        node, below, _ = at
        kind = node[0]
        if kind == "class" or (kind == "text" and node[1]):
            out.append(at)
        elif kind == "text":
            todo.append(below)
        elif kind == "rule":
            todo.append(self.cell(self.rules[node[1]], below))
        elif kind == "seq":
            for item in reversed(node[1]):
                below = self.cell(item, below)
            todo.append(below)
        elif kind == "alt":
            todo += [self.cell(option, below) for option in node[1]]
        else:
            what, least, most = (node[1], node[2], node[3]) if kind == "rep" else (self.repeated[node[1]], node[2], node[3])
            self.repeated[id(what)] = what
            if least == 0:
                todo.append(below)
            if most > 0:
                more = self.cell(("turns", id(what), max(least - 1, 0), most - 1), below) if most > 1 else below
                todo.append(self.cell(what, more))

    def after(self, at, char):
        """The stack behind a character; False when it does not fit."""
        node, below, _ = at
        if node[0] == "text":
            if node[1][0] != char:
                return False
            return self.cell(("text", node[1][1:]), below) if len(node[1]) > 1 else below
        code = ord(char)
        return below if any(low <= code <= high for low, high in node[2]) != node[1] else False

    def accepts(self, text):
        if len(self.cells) > 300000:
            self.forget()
        alive = self.readings(self.root)
        for char in text:
            now, seen = [], set()
            for at in alive:
                behind = self.after(at, char) if at else False
                if behind is False:
                    continue
                for reading in self.readings(behind):
                    number = reading[2] if reading else 0
                    if number not in seen:
                        seen.add(number)
                        now.append(reading)
            alive = now
            if not alive:
                return False
            self.widest = max(self.widest, len(alive))
        return None in alive
