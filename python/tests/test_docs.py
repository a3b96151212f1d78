"""Documents and examples run, and what they say is true."""

import ast
import doctest
import inspect
import re
import warnings
from pathlib import Path

import pytest
from conftest import ROOT

import backsweep

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def blocks(path):
    """The Python code in a document."""
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)


BLOCKS = blocks(ROOT / "docs" / "python.md")


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


def test_the_code_on_the_first_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(ROOT / "README.md")
    exec(compile(block, "README.md", "exec"), {"__name__": "first page"})
    learned, solved = capsys.readouterr().out.splitlines()
    value, error_bound = map(float, solved.split())
    assert error_bound <= 1e-9
    assert abs(float(learned.split()[0]) - value) < 0.2 and 0 < float(learned.split()[2]) <= 1
    assert (tmp_path / "lake.backsweep").exists()


def test_the_docstring_is_true():
    assert doctest.testmod(backsweep).failed == 0


def test_every_public_name_is_documented():
    guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in backsweep.__all__:
        assert getattr(backsweep, name).__doc__, name
        assert name in guide, f"{name} is not in docs/python.md"
    for kind in (backsweep.Agent, backsweep.MDP):
        for name in dir(kind):
            if not name.startswith("_"):
                assert getattr(kind, name).__doc__, name
                assert name in guide, f"{kind.__name__}.{name} is not in docs/python.md"


def test_the_stub_says_what_help_says():
    """Editors show the docstrings of the stub, ``help()`` those of the module: they are the same."""
    stub = ast.parse((Path(backsweep.__file__).parent / "_backsweep.pyi").read_text(encoding="utf-8"))
    compared = 0
    for kind in (node for node in stub.body if isinstance(node, ast.ClassDef) and node.name not in ("KnownModel", "LearnedLog", "Solver", "SuiteWorld")):
        runtime = getattr(backsweep, kind.name)
        assert ast.get_docstring(kind) == inspect.getdoc(runtime), kind.name
        for method in (node for node in kind.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")):
            if any(isinstance(mark, ast.Attribute) for mark in method.decorator_list):
                continue  # the setter of a property
            assert ast.get_docstring(method) == inspect.getdoc(getattr(runtime, method.name)), f"{kind.name}.{method.name}"
            compared += 1
    assert compared > 30
