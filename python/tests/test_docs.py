"""Documents and examples run, and what they say is true."""

import ast
import doctest
import inspect
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from conftest import ROOT

import backsweep

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def blocks(path, kinds=("python",)):
    """The code of these kinds in a document, indented blocks of tabs included."""
    found = re.findall(rf"^( *)```(?:{'|'.join(kinds)})\n(.*?)^\1```", path.read_text(encoding="utf-8"), re.M | re.S)
    return [textwrap.dedent(code) for _, code in found]


BLOCKS = blocks(ROOT / "docs" / "python.md")
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name in ("tutorials", "coming-from")) + [ROOT / "docs" / "index.md", ROOT / "python" / "README.md"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    """In a real kernel; a cell that fails is an error. The texts that are stored are those that it prints."""
    import nbclient
    import nbformat

    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    ran = nbformat.from_dict(stored)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Jupyter's own packages
        nbclient.NotebookClient(ran, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert printed(ran) == printed(stored)


def printed(notebook):
    """What each cell prints; a kernel may send it in several pieces."""
    return ["".join(out.text for out in cell.get("outputs", []) if out.get("name") == "stdout") for cell in notebook.cells]


def test_there_are_two_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["maze_in_ten_minutes", "your_own_states"]


def test_the_code_in_the_guide_runs(tmp_path, monkeypatch):
    """All blocks of docs/python.md, one after another, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    assert len(BLOCKS) >= 8
    names = {"__name__": "guide"}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), names)


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path)], ids=lambda path: path.stem)
def test_the_code_of_a_page_runs(path, tmp_path, monkeypatch):
    """All blocks of a page, one after another, with commands of ours in between; what they promise is asserted in them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": path.stem}
    log = blocks(ROOT / "docs" / "tutorials" / "first-log.md")[:1] if path.stem == "pandas" else []
    for block in log + blocks(path, ("python", "sh")):
        if block.startswith("backsweep "):
            for command in block.replace("\\\n", " ").splitlines():
                subprocess.run([sys.executable, "-m", *shlex.split(command, comments=True)], check=True, timeout=120)
        elif not block.startswith("pip "):
            exec(compile(block, str(path), "exec"), names)


def test_the_page_of_the_package_index_has_no_relative_links():
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "python" / "README.md").read_text(encoding="utf-8"))
    assert links and all(link.startswith("https://") for link in links)


def test_every_tutorial_has_code():
    assert sum(1 for path in PAGES if blocks(path)) >= 6


def test_the_code_on_the_first_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(ROOT / "README.md")
    exec(compile(block, "README.md", "exec"), {"__name__": "first page"})
    mean, standard_error = map(float, capsys.readouterr().out.split())
    assert mean > 0.5 and 0 < standard_error < 0.1
    assert (tmp_path / "lake.backsweep").exists()


def test_the_docstring_is_true():
    assert doctest.testmod(backsweep).failed == 0


EXAMPLES = [
    backsweep.Agent, backsweep.Agent.forget, backsweep.Agent.plan, backsweep.Agent.recommend, backsweep.MDP, backsweep.MDP.from_function,
    backsweep.MDP.solve, backsweep.MDP.what_if, backsweep.evaluate, backsweep.learn, backsweep.learn_log,
]  # fmt: skip


@pytest.mark.parametrize("item", EXAMPLES, ids=lambda item: item.__qualname__)
def test_examples_in_docstrings_are_true(item):
    """Those of the library are taken from the docstring alone: doctest finds nothing in compiled modules."""
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(item), {}, item.__qualname__, None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_every_public_name_is_documented():
    """The API page shows a class with all its methods, from their docstrings."""
    page = (ROOT / "docs" / "reference" / "python-api.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: backsweep\.(\w+)$", page, re.M)
    assert sorted(shown) == sorted(backsweep.__all__)
    for name in backsweep.__all__:
        assert getattr(backsweep, name).__doc__, name
    for kind in (backsweep.Agent, backsweep.MDP):
        for name in dir(kind):
            if not name.startswith("_"):
                assert getattr(kind, name).__doc__, name


def test_the_stub_says_what_help_says():
    """Editors show the docstrings of the stub, ``help()`` those of the module: they are the same."""
    stub = ast.parse((Path(backsweep.__file__).parent / "_backsweep.pyi").read_text(encoding="utf-8"))
    compared = 0
    for kind in (node for node in stub.body if isinstance(node, ast.ClassDef) and node.name in backsweep.__all__):
        runtime = getattr(backsweep, kind.name)
        assert ast.get_docstring(kind) == inspect.getdoc(runtime), kind.name
        for method in (node for node in kind.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")):
            if any(isinstance(mark, ast.Attribute) for mark in method.decorator_list):
                continue  # the setter of a property
            assert ast.get_docstring(method) == inspect.getdoc(getattr(runtime, method.name)), f"{kind.name}.{method.name}"
            compared += 1
    assert compared > 30
