"""The sandbox with the trials that only tests need, on the example hosts beside the sandbox's own."""

import asyncio
import sys

from webdata.sandbox.server import Sandbox
from webdata.sandbox.sites import url

from . import compressed, encodings, redirects, transfers, traps

TRIALS = (*encodings.TRIALS, *compressed.TRIALS, *redirects.TRIALS, *transfers.TRIALS, *traps.TRIALS)
BY_PATH = {trial.path: trial.answer for trial in TRIALS}


def trial_for(request):
    """The handler of the trial that a request is for, or None."""
    return BY_PATH.get(request.path) if url.EXAMPLES.fullmatch(request.host) else None


class TrialWeb(Sandbox):
    """A sandbox with all trials."""

    def answer(self, request):
        trial = trial_for(request)
        return trial(request) if trial else super().answer(request)


async def _serve():
    sandbox = TrialWeb()
    sys.stdout.write(f"{await sandbox.start()}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    from twisted.internet import asyncioreactor

    loop = asyncio.new_event_loop()
    asyncioreactor.install(loop)
    loop.run_until_complete(_serve())
