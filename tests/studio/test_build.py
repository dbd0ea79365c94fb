"""What is committed of the page is built from the sources that are committed."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "sparkrex" / "studio" / "page"


def test_the_page_is_built_from_these_sources() -> None:
    folder = ROOT / "studio"
    names = ["build.mjs", "package.json", "package-lock.json"]
    names += [f"src/{path.name}" for path in sorted((folder / "src").iterdir())]
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\n{(folder / name).read_text(encoding='utf-8')}".encode())
    for built in ("app.js", "app.css"):
        text = (PAGE / built).read_text(encoding="utf-8")
        assert text.startswith(f"/* Built by `make studio` from {digest.hexdigest()}."), "run `make studio`"


def test_every_package_is_pinned_and_has_its_licence() -> None:
    lock = json.loads((ROOT / "studio" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {path.removeprefix("node_modules/"): one for path, one in lock["packages"].items() if path}
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    licences = (PAGE / "licences.txt").read_text(encoding="utf-8")
    for name, one in packages.items():
        if not one.get("dev"):
            assert re.search(rf"^{re.escape(name)} {re.escape(one['version'])} \(MIT\)$", licences, re.MULTILINE), name
