"""What the package says about itself stands in more than one file: they must agree."""

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
    assert package["repository"] == package["homepage"] == {"workspace": True}


def test_the_citation_gives_the_same_addresses():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    crates = read("Cargo.toml")["workspace"]["package"]
    assert f"repository-code: {crates['repository']}\n" in citation
    assert f"url: {crates['homepage']}\n" in citation
