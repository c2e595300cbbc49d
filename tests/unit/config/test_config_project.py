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


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "url",
    [
        f"https://{TOKEN}@github.com/ada/shop.git",
        f"https://ada:{TOKEN}@github.com:443/ada/shop",
        f"https://ada:word@{TOKEN}@github.com/ada/shop",
        f"https://ada:wo/rd{TOKEN}@github.com/ada/shop.git",
        "https://ada:hunter2/x@github.com/ada/shop.git",
        f"https://github.com/ada/shop.git?token={TOKEN}",
        f"https://github.com/ada/shop#{TOKEN}",
        f"git@github.com:ada/shop.git?token={TOKEN}",
        f"ada:{TOKEN}@github.com:ada/shop.git",
        f"git@{TOKEN}@github.com:ada/shop.git",
        f"ssh://ada:{TOKEN}@github.com/ada/shop?x=1",
    ],
)
def test_credentials_of_a_remote_are_no_part_of_its_key(url: str) -> None:
    assert normalise_remote(url) == "github.com/ada/shop"


@pytest.mark.parametrize("url", [f"https://github.com/{TOKEN}/shop.git", f"git@github.com:{TOKEN}/shop.git"])
def test_a_secret_in_the_path_of_a_remote_is_redacted_and_the_key_stays_its_own(url: str) -> None:
    key = normalise_remote(url)
    assert key is not None
    assert key.startswith("github.com/[redacted:")
    assert TOKEN not in key
    assert key != normalise_remote(url.replace("a1B2", "z1B2"))


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://git.example.org/@scope/pkg", "git.example.org/@scope/pkg"),
        ("ssh://git@[::1]:22/ada/shop.git", "[::1]/ada/shop"),
        ("git@localhost:ada/shop", "localhost/ada/shop"),
    ],
)
def test_unusual_addresses_keep_their_host(url: str, key: str) -> None:
    assert normalise_remote(url) == key


@pytest.mark.parametrize("is_repository", [False, True])
def test_a_secret_in_the_name_of_a_folder_reaches_neither_key_nor_name(tmp_path: Path, is_repository: bool) -> None:
    projects = []
    for name in (f"build-{TOKEN}", f"build-{TOKEN.replace('a1B2', 'z1B2')}"):
        folder = tmp_path / name
        folder.mkdir()
        if is_repository:
            git(folder, "init", "-q")
        projects.append(identify_project(folder))
    assert not any(TOKEN in project.key + project.name for project in projects)
    assert projects[0].name.startswith("build-[redacted:")
    assert projects[0].key != projects[1].key


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
