"""A project is its remote repository; worktrees, subfolders and links share it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clew.config.project import identify_project, normalise_remote


def git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    subprocess.run(["git", "-C", str(folder), *identity, *args], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "mem-palace ü.app_x"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://github.com/ada/shop.git", "github.com/ada/shop"),
        ("https://user:token@GitHub.com/ada/shop", "github.com/ada/shop"),
        ("git@github.com:ada/shop.git", "github.com/ada/shop"),
        ("ssh://git@github.com:22/ada/shop.git/", "github.com/ada/shop"),
        ("https://git.example.org/group/sub/my.app", "git.example.org/group/sub/my.app"),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("C:\\repos\\shop", None),
        ("file:///srv/shop.git", None),
    ],
)
def test_forms_of_one_address_give_one_key(url: str, key: str | None) -> None:
    assert normalise_remote(url) == key


def test_subfolder_worktree_and_link_share_the_key_of_the_checkout(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    (repository / "src/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repository)
    folders = (repository, repository / "src/deep", tmp_path / "tree", tmp_path / "link")
    assert {identify_project(folder).key for folder in folders} == {f"cwd:{repository}"}
    git(repository, "remote", "add", "origin", "git@example.org:ada/mem-palace.git")
    assert {identify_project(folder).key for folder in folders} == {"example.org/ada/mem-palace"}
    assert identify_project(tmp_path / "tree").name == "mem-palace"


def test_a_folder_outside_git_is_its_own_project_by_full_name(tmp_path: Path) -> None:
    folder = tmp_path / "my.app-x_y ü"
    folder.mkdir()
    project = identify_project(folder)
    assert (project.key, project.name) == (f"cwd:{folder}", "my.app-x_y ü")


def test_a_broken_git_folder_counts_as_no_remote(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\x00")
    assert identify_project(tmp_path).key.startswith("cwd:")
