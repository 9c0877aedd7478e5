#!/usr/bin/env python3
# ctest: mutant_figures
"""What bench_test_mutants counts over v1, in docs/benchmark.md and README.md.

--update plants the faults, some minutes, and writes the figures into both; --check does so and compares. Without either the figures are only held to
each other and to the hashes of the suite that they were counted over."""
import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

NESTOR = os.environ.get("NESTOR", "nestor")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, README = ROOT / "docs" / "benchmark.md", ROOT / "README.md"
HEAD = ("| kind | references | mutants | do not compile, or hold no answer: rejected | equal at all points | differ | of these rejected |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
BLOCK = re.compile(r"<!-- tests/bench/mutants.py --update: v1 (\w+) -->\n.*?<!-- end of it -->\n", re.S)
FAULTS = re.compile(r"of \d+ kinds in programs, \d+ in numbers, \d+ in choices")
SENTENCE = re.compile(r"Of [\d,]+ faults planted in the\sreference answers of v1,.*?(?=\n\(\[how that is measured\])", re.S)
ROW = re.compile(r"(?<=\| mutants that differ and are rejected \| 99 % \| ).*?(?= \|)")
NUMBERS = ("planted", "broken", "broken_rejected", "equal", "equal_rejected", "differ", "rejected")


def suite():
    """A name of the bytes of v1."""
    return hashlib.sha256((ROOT / "bench" / "suites" / "v1.sha256").read_bytes()).hexdigest()[:12]


def count():
    """The figures of each kind and of all, and of those accepted the kind and the fault."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([NESTOR, "bench", "gen", "--suite", "v1", "--quick", "--quiet", "-o", f"{directory}/v1"], check=True)
        files = [f"{directory}/v1/{split}{end}" for split in ("train", "dev", "test") for end in (".jsonl", ".key.jsonl")]
        done = subprocess.run([pathlib.Path(os.environ["NESTOR_BUILD"]) / "bin" / "tests" / "bench_test_mutants", *files], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench_test_mutants ends with {done.returncode}\n{done.stdout[-3000:]}")
    kinds = {}
    tallies = re.compile(r"^((?:qa|gen)\.\w+|repair|all) +(\d+) planted, +(\d+) broken \( *(\d+) rejected\), +(\d+) equal \((\d+) rejected\), +"
                         r"(\d+) differ \( *(\d+) rejected.*\n *(\d+) references(?: with at least (\d+) mutants)?, (.*)", re.M)
    for name, *numbers, references, least, rest in tallies.findall(done.stdout):
        kinds[name] = dict(zip(NUMBERS, map(int, numbers)), references=int(references), least=int(least or 0),
                           few_differ=int(re.search(r"(\d+) with fewer that differ", rest).group(1)))
    accepted = re.findall(r"^\w+/\w+/([\w.]+)/\d/\d+ passes with the fault (\w+):", done.stdout, re.M)
    all_of = kinds.get("all")
    if not all_of or len(kinds) < 2 or all_of["differ"] - all_of["rejected"] != len(accepted):
        sys.exit(f"bench_test_mutants says something else than it did: {kinds}, {len(accepted)} accepted")
    return kinds, accepted


def share(rejected, differ, digits):
    """In percent; 100 only where it is."""
    text = f"{100 * rejected / differ:.{digits}f}"
    return f"{100 - 10 ** -digits:.{digits}f}" if rejected < differ and float(text) == 100 else text


def tell(names):
    """The names by how often they are there, as in a sentence."""
    parts = [f"{names.count(name)} {name}" for name in sorted(set(names), key=lambda name: (-names.count(name), name))]
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def paragraph(kinds, accepted):
    all_of, optima = kinds["all"], kinds["gen.optimize"]
    short = {name: k["few_differ"] for name, k in kinds.items() if k["few_differ"] and name not in ("all", "qa.compare", "gen.optimize")}
    text = f"Every reference has at least {min(k['least'] for name, k in kinds.items() if name != 'all')} mutants. "
    text += (f"Twelve that differ are more than some have: of choices one to three are wrong, each given in four forms; the tiles and orders of "
             f"{optima['few_differ']:,} of the {optima['references']:,} optima leave fewer that are worse")
    text += f"; so do {', '.join(f'{n:,} of `{name}`' for name, n in short.items())}. " if short else ". "
    text += ("For `gen.optimize` a mutant differs where it does not fit or costs more than the optimum: another mapping as good as the best is no fault, and is "
             "counted as equal. ")
    text += f"Of the {all_of['equal']:,} that are equal {all_of['equal_rejected'] or 'none'} {'are' if all_of['equal_rejected'] > 1 else 'is'} rejected. "
    if accepted:
        text += (f"Accepted, though they differ at some of the thousand points, are {len(accepted):,}: "
                 f"{tell([f'of `{kind}`' for kind, _ in accepted])}; by fault, {tell([f'`{fault}`' for _, fault in accepted])}.")
    else:
        text += "None that differs is accepted."
    return textwrap.fill(text, 180, break_long_words=False, break_on_hyphens=False)


def block(kinds, accepted):
    text = f"<!-- tests/bench/mutants.py --update: v1 {suite()} -->\n{HEAD}"
    for name, k in kinds.items():
        text += (f"| {name if name == 'all' else f'`{name}`'} | {k['references']:,} | {k['planted']:,} | {k['broken_rejected']:,} of {k['broken']:,} | "
                 f"{k['equal']:,} | {k['differ']:,} | {k['rejected']:,}, {share(k['rejected'], k['differ'], 2)} % |\n")
    return f"{text}\n{paragraph(kinds, accepted)}\n<!-- end of it -->\n"


def faults():
    """How many faults there are, in the words of the page."""
    rows = lambda path, word: len(re.findall(rf"^{word}\(", (ROOT / path).read_text(encoding="utf-8"), re.M))
    programs = sum(rows(f"bench/tasks/{name}.def", "NST_FAULT") for name in ("faults", "faults_tried"))
    return (f"of {programs} kinds in programs, {rows('tests/bench/mutant_answers.def', 'MUTANT_NUMBER')} in numbers, "
            f"{rows('tests/bench/mutant_answers.def', 'MUTANT_CHOICE')} in choices")


def sentence(k, least):
    return (f"Of {k['planted']:,} faults planted in the\nreference answers of v1, at least {least} in each, {k['broken']:,} do not compile or hold no answer and are "
            f"all rejected; {k['differ']:,} count something else, and {share(k['rejected'], k['differ'], 1)} % of these are rejected")


def put(pattern, new, text, where):
    if len(pattern.findall(text)) != 1:
        sys.exit(f"{where} has no place for `{new[:60]}`")
    return pattern.sub(lambda _: new, text)


def derived(page, readme):
    """Both pages with what follows from the block of the first and from the tables of faults."""
    here = BLOCK.search(page)
    total = re.search(r"^\| all \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) of ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+), ", here.group(0), re.M) if here else None
    least = re.search(r"has at least (\d+) mutants", here.group(0)) if here else None
    if not total or not least:
        sys.exit("docs/benchmark.md has no table of mutants")
    _, planted, broken_rejected, broken, _, differ, rejected = (int(number.replace(",", "")) for number in total.groups())
    k = {"planted": planted, "broken": broken, "differ": differ, "rejected": rejected}
    if broken != broken_rejected:
        sys.exit("docs/benchmark.md: some that do not compile are accepted")
    page = put(ROW, f"{share(rejected, differ, 2)} % of {differ:,}", put(FAULTS, faults(), page, PAGE.name), PAGE.name)
    return page, put(SENTENCE, sentence(k, least.group(1)), readme, README.name)


def main():
    page, readme = PAGE.read_text(encoding="utf-8"), README.read_text(encoding="utf-8")
    if sys.argv[1:] not in ([], ["--check"], ["--update"]):
        sys.exit("usage: mutants.py [--check | --update]")
    new = put(BLOCK, block(*count()), page, PAGE.name) if sys.argv[1:] else page
    new = derived(new, readme)
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(new[0], encoding="utf-8")
        README.write_text(new[1], encoding="utf-8")
    elif BLOCK.search(page).group(1) != suite():
        sys.exit("the mutants of docs/benchmark.md are of another v1; tests/bench/mutants.py --update counts them anew")
    elif new != (page, readme):
        lines = [line for old, text in zip((page, readme), new) for line in difflib.unified_diff(old.splitlines(), text.splitlines(), n=0, lineterm="")]
        sys.exit("\n".join(lines) + "\ndocs/benchmark.md and README.md have other figures of mutants; tests/bench/mutants.py --update writes them")


main()
