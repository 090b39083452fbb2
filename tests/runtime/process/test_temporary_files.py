"""Temporary files of a program: where they are, and that nothing of them stays."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from webdata.runtime.process.temporary_files import PREFIX, locked_folder, own_temporary_files, remove_unused

PROGRAM = """
from multiprocessing.util import get_temp_dir
from tempfile import NamedTemporaryFile
from webdata.runtime.process.temporary_files import own_temporary_files
own_temporary_files()
get_temp_dir()
file = NamedTemporaryFile(delete=False)
print(file.name, flush=True)
input()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_files_of_a_program_and_its_children_lie_in_its_folder_until_its_end(temporary):
    """Python and the environment of children name the folder, which only its user can read, until the end."""
    end = own_temporary_files()
    folder = Path(tempfile.gettempdir())
    assert os.environ["TMPDIR"] == str(folder)
    assert folder.parent == temporary
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "profile").mkdir()
    end()
    assert not list(temporary.iterdir())


def test_the_folder_of_a_child_lies_beside_that_of_its_parent(temporary):
    """A program that another one has started makes its folder beside the other one's, so that paths stay short."""
    end_parent = own_temporary_files()
    end_child = own_temporary_files()
    assert [path.parent for path in temporary.iterdir()] == [temporary] * 2
    end_child()
    end_parent()


def test_a_program_that_ends_leaves_and_says_nothing(temporary, starts):
    """The folder is removed after multiprocessing has removed its own in it, which would complain."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], input="\n", capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert not list(temporary.iterdir())


def test_the_next_program_removes_what_a_killed_one_has_left(temporary, starts):
    """The folder of a program stays while that runs, and the next program removes it once it was killed."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=-1, stdout=-1, text=True) as process:
        left = Path(process.stdout.readline().strip())
        with locked_folder(temporary):
            assert left.exists()
        process.kill()
        process.wait()
    assert left.exists()
    with locked_folder(temporary) as folder:
        assert list(temporary.iterdir()) == [folder]


def test_only_folders_of_programs_are_removed(temporary):
    """Files, links and folders of other names stay."""
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}file").touch()
    remove_unused(temporary)
    assert {path.name for path in temporary.iterdir()} == {"elsewhere", f"{PREFIX}link", f"{PREFIX}file"}


def test_a_folder_that_vanishes_before_it_is_locked_is_made_again(temporary, monkeypatch):
    """A program whose new folder another one removes, which found it without its lock, makes another."""
    made = []

    def vanishing(**arguments):
        made.append(make(**arguments))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    make = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", vanishing)
    with locked_folder(temporary) as folder:
        assert str(folder) == made[1]
