#!/usr/bin/env python3
"""Checks that every relative link of the documentation leads to a file, and every #anchor to a heading."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")


def without_code(text):
    text = re.sub(r"^ *(```+).*?^ *\1 *$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    out = set()
    for line in re.sub(r"^ *(```+).*?^ *\1 *$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S).split("\n"):
        if m := re.match(r"#+ +(.*)", line):
            title = re.sub(r"[^\w\- ]", "", m[1].strip().lower())
            anchor = title.replace(" ", "-")
            n = 1
            while anchor in out:
                anchor = f"{title.replace(' ', '-')}-{n}"
                n += 1
            out.add(anchor)
    return out


def main():
    bad = 0
    files = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")])
    for path in files:
        for target in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            to = (path.parent / file).resolve() if file else path
            if not to.exists():
                print(f"{path.relative_to(ROOT)}: no such file: {target}", file=sys.stderr)
                bad += 1
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                print(f"{path.relative_to(ROOT)}: no such heading: {target}", file=sys.stderr)
                bad += 1
    print(f"{len(files)} files, {bad} broken links")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
