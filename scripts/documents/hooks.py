"""What the site has besides the files in docs: the root's documents, notebooks, links into the repository, the live page."""

import json
import os
import pathlib
import re
import shutil

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = "https://github.com/backsweep/backsweep/blob/main/"
# Page of the site: document of the repository.
PAGES = {
    "project/architecture.md": "ARCHITECTURE.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/changelog.md": "CHANGELOG.md",
    "project/security.md": "SECURITY.md",
    "notebooks/maze_in_ten_minutes.md": "docs/notebooks/maze_in_ten_minutes.ipynb",
    "notebooks/your_own_states.md": "docs/notebooks/your_own_states.ipynb",
}
# Where each document of the repository is shown.
SHOWN = {source: page for page, source in PAGES.items()}
LIVE_PAGE = ROOT / "out" / "site"  # what `scripts/site out/site` writes


def on_files(files, config):
    """Adds the documents of the root and the notebooks."""
    for page, source in PAGES.items():
        path = ROOT / source
        text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=notebook(text) if path.suffix == ".ipynb" else text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Points links at the pages of the site, or at the repository where the site has no such page."""
    here = page.file.src_uri
    if here == "index.md" and LIVE_PAGE.is_dir():
        markdown = markdown.replace("\n## In sixty seconds", "\n**[Try it in this browser](live/index.html)**, without installing anything.\n\n## In sixty seconds")
    source = PAGES.get(here, f"docs/{here}")

    def target(link):
        path, _, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link
        found = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if not (ROOT / found).exists():
            return link  # MkDocs reports it
        end = f"#{anchor}" if anchor else ""
        shown = SHOWN.get(found) or (found[len("docs/"):] if found.startswith("docs/") and found.endswith((".md", ".png", ".svg")) else None)
        if shown is None:
            return SOURCES + found + end
        return os.path.relpath(shown, os.path.dirname(here) or ".") + end

    return re.sub(r"\]\(([^)\s]+)\)", lambda m: f"]({target(m[1])})", markdown)


def notebook(text):
    """Returns a notebook as Markdown: its texts, its code and what the code printed."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        printed = "".join("".join(out["text"]) for out in cell["outputs"] if out.get("name") == "stdout")
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def on_post_build(config):
    """Copies the static live page, if it was built."""
    if LIVE_PAGE.is_dir():
        shutil.copytree(LIVE_PAGE, pathlib.Path(config["site_dir"]) / "live", dirs_exist_ok=True)
