#!/usr/bin/env python3
"""Checks the links of the documents in the repository: files and headings that they name must exist."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def headings(path):
    """Returns the anchors of a document, as GitHub and MkDocs name them."""
    found, inside = set(), False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
        if not inside and (match := re.match(r"#+ (.*)", line)):
            words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower())
            found.add(words.strip().replace(" ", "-"))
            found.add(re.sub(r"-+", "-", words.strip().replace(" ", "-")))
    return found


def broken():
    """Yields a message for each link that leads nowhere."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not path.exists():
            continue
        text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for match in re.finditer(r"\]\(([^)\s]+)\)", text):
            link = match[1]
            if re.match(r"[a-z]+:", link):
                continue
            where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() and not is_generated(target):
                yield f"{where}: there is no {link}"
            elif anchor and target.suffix == ".md" and target.exists() and anchor not in headings(target):
                yield f"{where}: {file or name} has no heading #{anchor}"


def is_generated(target):
    """Returns whether the site makes this page from another document."""
    from hooks import PAGES

    return target.is_relative_to(ROOT / "docs") and target.relative_to(ROOT / "docs").as_posix() in PAGES


if __name__ == "__main__":
    messages = list(broken())
    print("\n".join(messages), end="\n" if messages else "")
    sys.exit(1 if messages else 0)
