"""Addresses, summary and version stand in more than one file, which must agree."""

import re
import tomllib

import pytest
from conftest import ROOT


def read(name: str) -> dict:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def test_the_package_and_the_crates_give_the_same_addresses():
    crates = read("Cargo.toml")["workspace"]["package"]
    urls = read("pyproject.toml")["project"]["urls"]
    assert urls["Source"] == crates["repository"]
    assert urls["Homepage"] == crates["homepage"]
    for url in urls.values():
        assert url.startswith((crates["repository"], crates["homepage"]))


def test_the_package_and_the_crates_have_the_same_summary():
    assert read("pyproject.toml")["project"]["description"] == read("Cargo.toml")["workspace"]["package"]["description"]


@pytest.mark.parametrize("manifest", sorted(ROOT.glob("crates/*/Cargo.toml")), ids=lambda path: path.parent.name)
def test_every_crate_takes_its_addresses_from_the_workspace(manifest):
    package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
    assert package["repository"] == package["homepage"] == package["documentation"] == {"workspace": True}


def test_the_citation_gives_the_same_addresses():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    crates = read("Cargo.toml")["workspace"]["package"]
    assert f"repository-code: {crates['repository']}\n" in citation
    assert f"url: {crates['homepage']}\n" in citation


def test_every_file_names_the_version_and_the_day_of_its_release():
    workspace = read("Cargo.toml")["workspace"]
    version = workspace["package"]["version"]
    for name, crate in workspace["dependencies"].items():
        assert crate["version"] == version, name
    newest = re.findall(r"^## (\S+) - (\d{4}-\d{2}-\d{2})$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[0]
    assert newest[0] == version
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\ndate-released: {newest[1]}\n" in citation
