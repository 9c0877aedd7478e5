#!/usr/bin/env python3
"""Keeps docs/diagnostics.md in step with the catalogue of messages (base/diag_catalogue.def).

    diagnostics.py --check   every code has a section with the catalogue's title, in order, with an example that
                             shows it; no section without a code
    diagnostics.py --write   corrects titles, puts sections in order, adds empty ones for new codes

What the examples print is checked by tests/docs/run.py.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "base" / "diag_catalogue.def"
PAGE = ROOT / "docs" / "diagnostics.md"
ROW = re.compile(r'^NST_DIAG\((\w+),\s*([EW]\d{4}),\s*(\w+),\s*"((?:[^"\\]|\\.)*)"\)', re.M)
SECTION = re.compile(r"^### ([EW]\d{4}): (.*)$", re.M)
CHAPTERS = [("00", "Files and use"), ("01", "Syntax"), ("02", "Names"), ("03", "Types and units"), ("04", "Workloads"),
            ("05", "Hardware"), ("06", "Mappings"), ("07", "Cascades"), ("08", "Tests, models, verify, sweeps"),
            ("09", "Evaluation")]
# Codes that no run of the command shows: it says these in its own words (E0001, E0002), only the library gives them
# (E0023, E0908), a failing test shows the text alone (E0905), another message comes first (E0931), or they are faults of Nestor.
WITHOUT_EXAMPLE = {"E0001", "E0002", "E0023", "E0905", "E0908", "E0931", "E0940", "E0999"}


def catalogue():
    return {code: title.replace('\\"', '"') for _, code, _, title in ROW.findall(CATALOGUE.read_text(encoding="utf-8"))}


def order(code):
    return (code[1:3], code[0] == "W", code)


def sections(text):
    """The text before the first section or chapter, and the body of each section."""
    text = re.sub(r"^## .*\n", "", text[text.find("\n## "):], flags=re.M) if "\n## " in text else ""
    parts = SECTION.split(text)
    return {parts[i]: (parts[i + 1], parts[i + 2].strip("\n")) for i in range(1, len(parts), 3)}


def head(text):
    at = text.find("\n## ")
    return text if at < 0 else text[:at + 1]


def write():
    known, text = catalogue(), PAGE.read_text(encoding="utf-8")
    have, out = sections(text), [head(text).rstrip("\n")]
    for number, chapter in CHAPTERS:
        codes = sorted((c for c in known if c[1:3] == number), key=order)
        if not codes:
            continue
        out.append(f"## {chapter}")
        for code in codes:
            body = have.get(code, ("", "TODO: what it means.\n\nTODO: an example.\n\nTODO: how to fix it."))[1]
            out.append(f"### {code}: {known[code]}\n\n{body}")
    PAGE.write_text("\n\n".join(out) + "\n", encoding="utf-8")
    return 0


def check():
    known, text = catalogue(), PAGE.read_text(encoding="utf-8")
    have, problems = sections(text), []
    if [c for c, _ in SECTION.findall(text)] != sorted(have, key=order):
        problems.append("the sections are not in the order of their codes: run docs/tools/diagnostics.py --write")
    for code in sorted(known, key=order):
        if code not in have:
            problems.append(f"{code} ({known[code]}) has no section")
            continue
        title, body = have[code]
        if title != known[code]:
            problems.append(f"{code}: the title is '{title}', the catalogue says '{known[code]}'")
        if "TODO" in body:
            problems.append(f"{code}: unfinished")
        shown = "\n".join(re.findall(r"^```console\n(.*?)^```", body, flags=re.M | re.S))
        if f"[{code}]" not in shown and code not in WITHOUT_EXAMPLE:
            problems.append(f"{code}: no example that shows it")
    for code in sorted(set(have) - set(known), key=order):
        problems.append(f"{code}: not in the catalogue")
    for problem in problems:
        print(f"docs/diagnostics.md: {problem}", file=sys.stderr)
    print(f"{len(known)} diagnostics, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["--check"], ["--write"]):
        raise SystemExit(__doc__)
    sys.exit(check() if sys.argv[1] == "--check" else write())
