"""The published package."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import tidegate

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_the_package_its_types_and_the_license_and_depends_on_nothing(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"tidegate-{tidegate.__version__}-py3-none-any.whl"
    assert len(list(tmp_path.glob("*.tar.gz"))) == 1
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "tidegate/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(name.startswith(("tidegate/", f"tidegate-{tidegate.__version__}.dist-info/")) for name in names)
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert required == []
    for line in (
        "License-Expression: MIT",
        "Author: Tidegate contributors",
        "Project-URL: Repository, https://github.com/tidegate/tidegate",
        "Project-URL: Changelog, https://github.com/tidegate/tidegate/blob/main/CHANGELOG.md",
        "Provides-Extra: connect",
        "Provides-Extra: encryption",
        "Provides-Extra: httpx",
    ):
        assert line in metadata.splitlines()
    assert any(line.startswith("Project-URL: Homepage,") for line in metadata.splitlines())
    assert any(line.startswith("Project-URL: Documentation,") for line in metadata.splitlines())
    assert wheel.name in (ROOT / "README.md").read_text(encoding="utf-8")
    assert any(line.startswith("Keywords: ") for line in metadata.splitlines())
