"""What may be tracked: few files, none of them large, and nothing that is there twice."""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_FILES, MOST_IN_A_FOLDER, MOST_BYTES = 450, 40, 2_000_000


def test_the_repository_stays_small():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("needs git and a checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [path for name in listed.split("\0") if name and (path := Path(ROOT, name)).exists()]
    assert 100 < len(files) <= MOST_FILES
    folders = Counter(path.parent for path in files)
    assert {folder for folder, n in folders.items() if n > MOST_IN_A_FOLDER} == set()
    assert {path for path in files if path.stat().st_size > MOST_BYTES} == set()
    assert {path for path in files if path.suffix == ".png" and path.with_suffix(".svg") in files} == set()
