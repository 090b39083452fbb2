"""What endpoints are about, as people choose among them."""

from enum import Enum


class Group(Enum):
    """A subject of endpoints, in the order in which they are listed."""

    SEARCH = "Search", "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM15.3 15.3 20 20"
    SHOPPING = "Shopping", "M5 8h14l-1 12H6zM9 11V7a3 3 0 0 1 6 0v4"
    PLACES = "Places", "M12 21c4-5 6-8 6-11a6 6 0 0 0-12 0c0 3 2 6 6 11zM12 8v4M10 10h4"
    PAPERS = "Papers", "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6"
    JOBS = "Jobs", "M4 8h16v11H4zM9 8V5h6v3M4 13h16"
    FORUMS = "Forums", "M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12h5"
    ANY_PAGE = "Any page", "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18zM3 12h18M12 3c3.5 4 3.5 14 0 18M12 3c-3.5 4-3.5 14 0 18"

    def __init__(self, label: str, icon: str) -> None:
        self.label = label
        self.icon = icon
        """Lines, as the path of an SVG in a square of 24."""
