"""A sandbox for tests of what reaches it."""

from webdata.sandbox.server import Sandbox


class Recording(Sandbox):
    """A sandbox that records the requests to its sites."""

    def __init__(self):
        super().__init__()
        self.requests = []

    def answer(self, request):
        self.requests.append(request)
        return super().answer(request)
