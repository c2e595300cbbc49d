from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import clew
from clew.core.errors import InvalidInput, NotFound
from clew.hosts.pi.install import (
    MARKER,
    PI_PACKAGE_NAME,
    SOURCE,
    InstallFailed,
    extension_folder,
    install,
    read_status,
    uninstall,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture
def agent_dir(tmp_path):
    return tmp_path / "mein Verzeichnis – ñ" / "agent"


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def read_marker(agent_dir: Path) -> dict:
    return json.loads((extension_folder(agent_dir) / MARKER).read_text(encoding="utf-8"))


def write_marker(agent_dir: Path, **changes) -> None:
    marker = read_marker(agent_dir) | changes
    (extension_folder(agent_dir) / MARKER).write_text(json.dumps(marker), encoding="utf-8")


def test_install_copies_the_whole_extension_and_names_the_interpreter(agent_dir):
    done = install(agent_dir, python="/opt/my python/bin/python")
    assert done.folder == agent_dir / "extensions" / "clew"
    assert files_below(done.folder) == {*files_below(SOURCE), MARKER}
    assert (done.folder / "index.ts").read_bytes() == (SOURCE / "index.ts").read_bytes()
    assert (read_marker(agent_dir)["python"], done.replaced_version) == ("/opt/my python/bin/python", None)


def test_install_leaves_nothing_else_behind(agent_dir):
    install(agent_dir)
    install(agent_dir)
    assert [path.name for path in agent_dir.iterdir()] == ["extensions"]
    assert [path.name for path in (agent_dir / "extensions").iterdir()] == ["clew"]


def test_an_upgrade_removes_files_of_the_old_version_and_keeps_those_of_others(agent_dir):
    folder = install(agent_dir).folder
    (folder / "gone.ts").write_text("old")
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("keep")
    write_marker(agent_dir, version="0.0.1", files=[*read_marker(agent_dir)["files"], "gone.ts"])
    done = install(agent_dir, python="/new/python")
    assert done.replaced_version == "0.0.1"
    assert not (folder / "gone.ts").exists()
    assert (folder / "notes" / "mine.txt").read_text() == "keep"
    assert read_marker(agent_dir)["python"] == "/new/python"


@pytest.mark.parametrize("content", [{}, {"index.ts": "theirs"}, {MARKER: "{}"}, {MARKER: "not json"}])
def test_a_folder_that_is_not_clews_is_never_touched(agent_dir, content):
    folder = extension_folder(agent_dir)
    folder.mkdir(parents=True)
    for name, text in content.items():
        (folder / name).write_text(text)
    with pytest.raises(InvalidInput, match="was not made by"):
        install(agent_dir)
    with pytest.raises(NotFound):
        uninstall(agent_dir)
    assert {name: (folder / name).read_text() for name in files_below(folder)} == content
    assert read_status(agent_dir).state == "foreign"


def test_a_link_to_somewhere_else_is_not_followed(agent_dir, tmp_path):
    install(tmp_path / "elsewhere")
    folder = extension_folder(agent_dir)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(extension_folder(tmp_path / "elsewhere"))
    with pytest.raises(InvalidInput):
        install(agent_dir)
    with pytest.raises(NotFound):
        uninstall(agent_dir)
    assert read_status(tmp_path / "elsewhere").state == "installed"


def test_uninstall_removes_the_folder(agent_dir):
    install(agent_dir)
    assert uninstall(agent_dir).left_behind == ()
    assert not extension_folder(agent_dir).exists()
    with pytest.raises(NotFound):
        uninstall(agent_dir)


def test_uninstall_keeps_and_names_what_clew_did_not_write(agent_dir):
    folder = install(agent_dir).folder
    (folder / "mine.txt").write_text("keep")
    assert uninstall(agent_dir).left_behind == ("mine.txt",)
    assert files_below(folder) == {"mine.txt"}


def test_a_manipulated_list_of_files_deletes_nothing_outside(agent_dir):
    folder = install(agent_dir).folder
    outside = agent_dir / "precious"
    outside.write_text("keep")
    write_marker(agent_dir, files=["../../precious", str(outside), 7, ""])
    uninstall(agent_dir)
    assert outside.read_text() == "keep"
    assert (folder / "index.ts").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_named(agent_dir):
    agent_dir.mkdir(parents=True)
    agent_dir.chmod(0o500)
    with pytest.raises(InstallFailed, match="Permission denied"):
        install(agent_dir)


def test_an_agent_directory_that_is_a_file_is_named(agent_dir):
    agent_dir.parent.mkdir(parents=True)
    agent_dir.write_text("not a directory")
    with pytest.raises(InstallFailed, match="cannot be changed"):
        install(agent_dir)


def test_a_failed_swap_brings_the_old_copy_back(agent_dir, monkeypatch):
    folder = install(agent_dir, python="/old/python").folder
    rename = Path.rename

    def fail_on_the_new_copy(self, target):
        if self.name == "new":
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_on_the_new_copy)
    with pytest.raises(InstallFailed):
        install(agent_dir, python="/new/python")
    assert read_marker(agent_dir)["python"] == "/old/python"
    assert (folder / "index.ts").exists()


def test_status_of_an_empty_place(agent_dir):
    status = read_status(agent_dir)
    assert (status.state, status.version, status.package_sources) == ("absent", None, ())


def test_status_tells_version_interpreter_and_missing_files(agent_dir):
    folder = install(agent_dir).folder
    status = read_status(agent_dir)
    assert (status.state, status.version, status.is_current, status.python_exists) == (
        "installed", clew.__version__, True, True,
    )  # fmt: skip
    write_marker(agent_dir, version="0.0.1", python="/nonexistent/python")
    (folder / "rpc.ts").unlink()
    status = read_status(agent_dir)
    assert (status.state, status.is_current, status.python_exists) == ("damaged", False, False)


def test_status_finds_clew_among_pis_packages(agent_dir, tmp_path):
    clone = tmp_path / "clone"
    git = agent_dir / "git" / "github.com" / "someone" / "clew"
    other = tmp_path / "other"
    for folder, name in ((clone, PI_PACKAGE_NAME), (git, PI_PACKAGE_NAME), (other, "else")):
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name}))
    packages = [
        "../../clone",
        {"source": str(clone)},
        "git:github.com/someone/clew@v1",
        "https://github.com/someone/clew.git",
        f"npm:{PI_PACKAGE_NAME}@1.0.0",
        str(other),
        "npm:else",
        42,
    ]
    (agent_dir / "settings.json").write_text(json.dumps({"packages": packages}))
    assert len(read_status(agent_dir).package_sources) == 5


@pytest.mark.parametrize("settings", ["not json", "[]", '{"packages": 1}', ""])
def test_status_survives_unusable_settings(agent_dir, settings):
    agent_dir.mkdir(parents=True)
    (agent_dir / "settings.json").write_text(settings)
    assert read_status(agent_dir).package_sources == ()


def test_the_repository_is_a_pi_package_that_points_at_the_extension():
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    assert (package["name"], package["version"]) == (PI_PACKAGE_NAME, clew.__version__)
    assert "pi-package" in package["keywords"]
    assert [(ROOT / path).resolve() for path in package["pi"]["extensions"]] == [SOURCE / "index.ts"]
    assert "dependencies" not in package


def test_the_lock_file_names_no_download_address():
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert '"integrity"' in lock


def test_the_extension_imports_pi_only_for_its_types():
    for path in SOURCE.glob("*.ts"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("import") and '"@' in line:
                assert line.startswith("import type"), f"{path.name}: {line}"
