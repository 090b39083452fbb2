"""The password again, before what a stolen session must not do."""

from webdata.domain.errors import RateLimitedError
from webdata.faces.dashboard.attempts import Attempts
from webdata.faces.dashboard.passwords import Passwords
from webdata.faces.dashboard.visits import Visit

WRONG = "This is not your password."


class Confirmation:
    """Asks for the password of the person who is signed in."""

    def __init__(self, passwords: Passwords, attempts: Attempts) -> None:
        self._passwords = passwords
        self._attempts = attempts

    async def problem(self, visit: Visit) -> str | None:
        """Why the field `current` of a form does not confirm it; None if it does."""
        member = visit.viewer.member
        try:
            await self._attempts.count(member.name, visit.address, visit.browser_secret)
        except RateLimitedError as error:
            return str(error)
        right = await self._passwords.verify(member.password, visit.form.get("current", ""))
        return None if right else WRONG
