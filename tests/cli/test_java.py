"""tools/java.py: which Java Spark gets."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools import java

SH = shutil.which("sh")


def pretend(folder: Path, version: str, reported_home: str | None = None) -> Path:
    """A home with a `java` that only says what it is."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    said = f"    java.home = {reported_home or folder}\n    java.specification.version = {version}\n"
    command.write_text(f"#!{SH}\ncat >&2 <<'END'\n{said}END\n", encoding="utf-8")
    command.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with nothing on it but `cat`, which the pretended Java needs."""
    (tmp_path / "path").mkdir()
    cat = shutil.which("cat")
    assert cat is not None
    (tmp_path / "path" / "cat").symlink_to(cat)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.parametrize("version", ["17", "21", "25"])
def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(pretend(tmp_path / "home", version)))
    (tmp_path / "path" / "java").symlink_to(pretend(tmp_path / "other", "21") / "bin" / "java")
    assert java.installed_java() == tmp_path / "home"


@pytest.mark.parametrize("version", ["1.8", "11", "24", "26", ""])
def test_a_version_that_spark_does_not_support_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(pretend(tmp_path / "home", version)))
    assert java.installed_java() is None
    (tmp_path / "path" / "java").symlink_to(pretend(tmp_path / "other", "21", "/where/it/is") / "bin" / "java")
    assert java.installed_java() == Path("/where/it/is")


def test_a_java_that_does_not_start_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (tmp_path / "path" / "java").write_text(f"#!{SH}\nexit 1\n", encoding="utf-8")
    (tmp_path / "path" / "java").chmod(0o755)
    assert java.installed_java() is None


def test_the_wrapper_drops_one_option_and_keeps_the_others_as_they_are(tmp_path: Path) -> None:
    real = tmp_path / "it's real"
    real.write_text(f"#!{SH}\nfor argument do echo \"<$argument>\"; done\n", encoding="utf-8")
    real.chmod(0o755)
    java.wrap(real, tmp_path / "bin" / "java")
    arguments = ["-Da=b c", "--add-modules=jdk.incubator.vector", "", "--add-modules=other", "$x"]
    done = subprocess.run([tmp_path / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["<-Da=b c>", "<>", "<--add-modules=other>", "<$x>"]


def test_without_any_java_the_packaged_one_is_used(tmp_path: Path) -> None:
    home = java.packaged_java(tmp_path / "java")
    assert home == tmp_path / "java"
    assert java.supported_home(str(home / "bin" / "java")) is not None


def test_it_needs_no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run([sys.executable, "-I", "-S", java.__file__], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no Java for Spark" in done.stderr
