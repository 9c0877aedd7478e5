"""What the tests of the grammar have in common: the tool, the project's programs as `nestor fmt` writes them, and
mutants of them with one character changed, added or taken away."""
import random
import re
import subprocess

CHARS = "abzAB_09 \n\n\t#{}[]()=,;:.<>+-*/%?\"'!&|^$@~\\" + "é"
# Beyond the bounds that docs/grammar.md names.
BEYOND = {"tests/golden/eval/too-many-loops.nest": "more than 100 items in a block",
          "tests/golden/check/integer-too-large.nest": "a number of more than 18 digits"}


class Corpus:
    def __init__(self, nestor, root, seed, parts=("tests/cases", "tests/golden", "examples", "stdlib")):
        self.nestor, self.root, self.random = nestor, root, random.Random(seed)
        files = sorted(file for part in parts for file in (root / part).rglob("*.nest"))
        self.programs, self.beyond = {}, {}
        for file in files:
            name, text = str(file.relative_to(root)), self.run("fmt", str(file)).stdout.decode()
            if text:  # what does not parse is not written
                (self.beyond if name in BEYOND else self.programs)[name] = text
        self.random.shuffle(small := [text for text in self.programs.values() if 40 < len(text) < 700])
        self.small = small

    def run(self, *words, text=None):
        return subprocess.run([self.nestor, *words], input=text, capture_output=True)

    def grammar(self, notation):
        return self.run("grammar", "--format", notation).stdout.decode()

    def parses(self, text):
        done = self.run("fmt", "-", text=text.encode())
        if done.returncode not in (0, 1):
            raise SystemExit(f"exit code {done.returncode} for {text!r}: {done.stderr.decode()}")
        return done.returncode == 0

    def mutant(self):
        """A text and what was done to which program."""
        text, char = self.random.choice(self.small), self.random.choice(CHARS)
        at, how = self.random.randrange(len(text)), self.random.choice(("change", "add", "drop"))
        mutant = text[:at] + ("" if how == "drop" else char) + text[at + (how != "add"):]
        return mutant, f"{how} {char!r} at {at}: {mutant[max(0, at - 60):at + 60]!r}"

    @staticmethod
    def with_space(text):
        """The text with a second space behind one of its numbers, where a name might be a unit."""
        return [text[:m.end()] + " " + text[m.end():] for m in re.finditer(r"[0-9] (?=[A-Za-z_])", text)]

    def disagreement(self, accepts, mutant, good):
        """None where grammar and parser agree. A name behind a number and one space may be a unit to a grammar: it is
        excused where it takes the same text with two spaces."""
        if accepts(mutant) == good or (good and any(map(accepts, self.with_space(mutant)))):
            return None
        return "the parser accepts, the grammar does not" if good else "the grammar accepts, the parser does not"
