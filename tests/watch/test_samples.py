"""Pages that no parser knew are kept for study."""

import json
from concurrent.futures import ThreadPoolExecutor

from webdata.watch.samples import KeptPages


def index(folder):
    return [json.loads(line) for line in (folder / "INDEX.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_page_is_kept_with_what_is_known_of_it(tmp_path):
    """The body is kept as it came, and the index tells where it came from."""
    path = KeptPages(tmp_path / "kept").keep("google_web", b"<p>new</p>", url="https://www.google.com/", reason="shape")
    assert path.read_bytes() == b"<p>new</p>"
    row = {"file": path.name, "engine": "google_web", "url": "https://www.google.com/", "reason": "shape"}
    assert index(path.parent) == [row]


def test_the_same_page_is_kept_once(tmp_path):
    """A page that comes a thousand times takes the room of one."""
    pages = KeptPages(tmp_path)
    assert pages.keep("google_web", b"<p>new</p>") == pages.keep("google_web", b"<p>new</p>")
    assert len(index(tmp_path)) == 1


def test_the_oldest_go_first(tmp_path):
    """No more than so many pages are kept, and the index lists just those."""
    pages = KeptPages(tmp_path, most=2)
    kept = [pages.keep("google_web", body) for body in (b"1", b"2", b"3")]
    assert [path.exists() for path in kept] == [False, True, True]
    assert [row["file"] for row in index(tmp_path)] == [path.name for path in kept[1:]]


def test_several_at_once(tmp_path):
    """What several processes keep at the same time is all in the index."""
    bodies = [str(number).encode() for number in range(64)]
    with ThreadPoolExecutor(8) as keepers:  # a lock of a file that each opens for itself holds among threads, too
        list(keepers.map(lambda body: KeptPages(tmp_path).keep("google_web", body), bodies))
    assert len(index(tmp_path)) == len(bodies)
