"""Time for tests."""


class Clock:
    """A clock that tests advance."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now
