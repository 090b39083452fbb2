"""The reserve of disks."""

from webdata.runtime.process.disk import lacks_room, reserve


def test_the_reserve_is_a_part_within_bounds():
    """The reserve is 5 % of a disk, at most 1 GiB of a large one, and 16 MiB of a tiny one at least."""
    assert [reserve(size) for size in (1 << 40, 10 << 30, 20 << 20)] == [1 << 30, (10 << 30) // 20, 16 << 20]


def test_a_folder_that_is_missing_lacks_nothing(tmp_path):
    """A folder that is not there yet does not tell, and a disk lacks room for more than all of it."""
    assert not lacks_room([tmp_path / "missing"], 10**6)
    assert lacks_room([tmp_path], 10**6)
