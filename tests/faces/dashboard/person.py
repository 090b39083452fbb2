"""A person with a browser, without the browser: keeps cookies, and sends forms with their token."""

import re
from urllib.parse import urlencode

from webdata.accounts.access.invitations import invite
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

TOKEN = re.compile(r'name="csrf" value="([0-9a-f]+)"')
PASSWORD = "correct horse battery staple"


class Person:
    """`send` is that of `tests.service_in_memory`."""

    def __init__(self, send, members) -> None:
        self._send = send
        self._members = members
        self.cookies: dict[str, str] = {}
        self.token = ""

    async def get(self, path, **headers):
        """The response to a GET below `/dashboard`."""
        return await self._exchange("GET", path, None, headers)

    async def post(self, path, token=None, headers=(), **form):
        """The response to a form, which has the token of the last page, or another one."""
        fields = {"csrf": self.token if token is None else token, **form}
        sent = {"Content-Type": "application/x-www-form-urlencoded", **dict(headers)}
        return await self._exchange("POST", path, urlencode(fields, doseq=True).encode(), sent)

    async def sign_up(self, name="ada@example.com", role="member", account=DEFAULT_ACCOUNT):
        """Become a member by an invitation; returns this person, signed in."""
        link = (await invite(self._members, account, role)).removeprefix("/dashboard")
        assert (await self.get(link)).status == 200
        response = await self.post(link, name=name, password=PASSWORD)
        assert response.status == 303, response.body
        await self.get("/keys")
        return self

    async def sign_in(self, name="ada@example.com", password=PASSWORD):
        """The response to the sign-in."""
        await self.get("/sign-in")
        return await self.post("/sign-in", name=name, password=password)

    async def _exchange(self, method, path, body, headers):
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {**({"Cookie": cookie} if cookie else {}), **headers}
        response = await self._send(f"/dashboard{path}", method, sent, body)
        if "set-cookie" in response.headers:
            name, _, value = response.headers["set-cookie"].partition(";")[0].partition("=")
            self.cookies.pop(name, None)
            if value:
                self.cookies[name] = value
        if found := TOKEN.search(response.body.decode()):
            self.token = found[1]
        return response
