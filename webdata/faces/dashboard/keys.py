"""API keys of an account: make, rotate, revoke."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

from webdata.accounts.access.api_keys import check_name, new_key, successor
from webdata.domain.api_key import HEADERS
from webdata.domain.errors import UnknownIdError
from webdata.domain.sentences import sentence
from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.programs import program_lines
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.visits import Fields, Pages, RefusedError, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.model import Key
from webdata.stores.accounts.sql import KeyStore

LIFETIMES = {"": None, **{days: timedelta(days=int(days)) for days in ("1", "30", "90", "365")}}
LIFETIME_LABELS = [("", "Never"), ("1", "In a day"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year")]
ARCHIVES = {"": None, **{days: int(days) for days in ("0", "7", "30", "90", "365")}}
ARCHIVE_LABELS = [
    ("", "As the plan says"),
    ("0", "Only where a call has archive=true"),
    ("7", "All of them, for 7 days"),
    ("30", "All of them, for 30 days"),
    ("90", "All of them, for 90 days"),
    ("365", "All of them, for a year"),
]
OVERLAPS = {"0": timedelta(0), "1": timedelta(hours=1), "24": timedelta(hours=24), "168": timedelta(days=7)}
OVERLAP_LABELS = [("24", "24 hours"), ("168", "7 days"), ("1", "An hour"), ("0", "Not at all: it stops at once")]
SHOWN = 60
"""Keys of a page."""
ENDED_STATES = ("revoked", "expired")
MOST_KEYS = 200
"""Keys of an account that can be used: more are a sign that old ones should be revoked."""
EXAMPLE = "/v1/search?q=coffee+shops&num=3"
NO_NAME = "Give it a name that says what uses it, such as the name of a program."
UNKNOWN = "The account has no key with this id: the page Keys lists its keys."
ENDED = "The key is revoked or has a successor already, so it cannot be replaced: make a new one, or replace that one."
NOTICES = {"revoked": "The key is revoked: it opens nothing from now on."}

State = Literal["active", "expires", "expired", "replaced", "revoked"]


class KeysPages(Pages):
    """`/dashboard/keys`. `endpoints` are what keys can be limited to, with a summary of each."""

    def __init__(
        self,
        keys: KeyStore,
        endpoints: Mapping[str, str],
        address: ServiceAddress,
        prefixes: Collection[str] = (),
        engines: Collection[str] = (),
    ) -> None:
        """`engines` are what the calls of a key can be limited to, `prefixes` those of the doors of this service."""
        self._engines = engines
        self._keys = keys
        self._prefixes = prefixes
        self._endpoints = endpoints
        self._address = address

    @route("GET", "/keys")
    async def _list(self, visit: Visit) -> Reply:
        now = datetime.now(UTC)
        newest = [(key, state(key, now)) for key in reversed(await self._keys.of(visit.viewer.account.id))]
        keys = sorted(newest, key=lambda pair: pair[1] in ENDED_STATES)  # those that can be used are first
        first = _place(visit.query.get("from", ""), len(keys))
        shown = keys[first : first + SHOWN]
        return render(
            "keys",
            visit,
            usable=[pair for pair in shown if pair[1] not in ENDED_STATES],
            ended=[pair for pair in shown if pair[1] in ENDED_STATES],
            before=max(0, first - SHOWN) if first else None,
            after=first + SHOWN if first + SHOWN < len(keys) else None,
            notice_text=NOTICES.get(visit.query.get("notice", "")),
        )

    @route("GET", "/keys/new")
    async def _new(self, visit: Visit) -> Reply:
        return self._form(visit, {})

    def _form(self, visit: Visit, errors: Mapping[str, str], status: int = 200) -> Reply:
        form = visit.form
        endpoints = [(name, name, summary) for name, summary in self._endpoints.items()]
        return render(
            "key_new",
            visit,
            status=status,
            name=form.get("name", ""),
            kind=form.get("kind", "test"),
            expiry=form.get("expiry", ""),
            scopes=form.getlist("scopes"),
            endpoints=endpoints,
            engines=form.getlist("engines"),
            known_engines=[(name, name, "") for name in self._engines],
            lifetimes=LIFETIME_LABELS,
            archive=form.get("archive", ""),
            archives=ARCHIVE_LABELS,
            errors=errors,
        )

    @route("POST", "/keys")
    async def _make(self, visit: Visit) -> Reply:
        form, account = visit.form, visit.viewer.account
        errors = self._errors(form)
        if errors:
            return self._form(visit, errors, 422)
        lifetime = LIFETIMES[form.get("expiry", "")]
        key, secret = new_key(
            check_name(form["name"]),
            test=form["kind"] == "test",
            account_id=account.id,
            scopes=form.getlist("scopes"),
            expires=datetime.now(UTC) + lifetime if lifetime else None,
            engines=form.getlist("engines"),
            archive_days=ARCHIVES[form.get("archive", "")],
        )
        if not await self._keys.add(key, MOST_KEYS):
            message = f"The account has {MOST_KEYS} keys that can be used, which is the most: revoke one first."
            return self._form(visit, {"name": message}, 422)
        return self._made(visit, key, secret, None)

    def _errors(self, form: Fields) -> dict[str, str]:
        errors = {}
        try:
            if not check_name(form.get("name", "")):
                errors["name"] = NO_NAME
        except ValueError as error:
            errors["name"] = sentence(str(error))
        if form.get("kind") not in ("test", "live"):
            errors["kind"] = "Choose one of the two."
        if form.get("expiry", "") not in LIFETIMES:
            errors["expiry"] = "Choose one of the list."
        if form.get("archive", "") not in ARCHIVES:
            errors["archive"] = "Choose one of the list."
        if not set(form.getlist("scopes")) <= set(self._endpoints):
            errors["scopes"] = "Choose some of these, or none for all."
        if not set(form.getlist("engines")) <= set(self._engines):
            errors["engines"] = "Choose some of these, or none for all."
        return errors

    def _made(self, visit: Visit, key: Key, secret: str, old: Key | None) -> Reply:
        """The only page that ever shows the secret."""
        curl = self._address.curl(visit, f"{HEADERS[0]}: {secret}", EXAMPLE)
        programs = program_lines(self._address.url(visit), secret, self._prefixes)
        return render("key_made", visit, key=key, secret=secret, curl=curl, old=old, programs=programs)

    @route("GET", "/keys/<key_id>/rotate")
    async def _confirm_rotation(self, visit: Visit, key_id: str) -> Reply:
        key = await self._find(visit, key_id)
        if key.revoked or key.replaced_by:
            raise RefusedError(ENDED)
        return render("key_rotate", visit, key=key, overlaps=OVERLAP_LABELS, error=None)

    @route("POST", "/keys/<key_id>/rotate")
    async def _rotate(self, visit: Visit, key_id: str) -> Reply:
        key, overlap = await self._find(visit, key_id), OVERLAPS.get(visit.form.get("overlap", ""))
        if overlap is None:
            error = "Choose one of the list."
            return render("key_rotate", visit, status=422, key=key, overlaps=OVERLAP_LABELS, error=error)
        new, secret = successor(key)
        try:
            await self._keys.rotate(key.id, new, new.created + overlap)
        except ValueError:
            raise RefusedError(ENDED) from None
        return self._made(visit, new, secret, await self._find(visit, key_id))

    @route("GET", "/keys/<key_id>/revoke")
    async def _confirm_revocation(self, visit: Visit, key_id: str) -> Reply:
        key = await self._find(visit, key_id)
        return redirect("/keys") if key.revoked else render("key_revoke", visit, key=key)

    @route("POST", "/keys/<key_id>/revoke")
    async def _revoke(self, visit: Visit, key_id: str) -> Reply:
        key = await self._find(visit, key_id)
        await self._keys.revoke(key.id, datetime.now(UTC))
        return redirect("/keys", notice="revoked")

    async def _find(self, visit: Visit, key_id: str) -> Key:
        """A key of the account; one of another account is one that does not exist."""
        found = [key for key in await self._keys.of(visit.viewer.account.id) if key.id == key_id]
        if not found:
            raise UnknownIdError(UNKNOWN)
        return found[0]


def state(key: Key, now: datetime) -> State:
    """What a key is good for now; `replaced` for one that its successor follows."""
    if key.revoked:
        return "revoked"
    if key.expires and key.expires <= now:
        return "expired"
    if key.replaced_by:
        return "replaced"
    return "expires" if key.expires else "active"


def _place(text: str, number: int) -> int:
    """The first key of a page of so many keys; the first of all where the text is no number of one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 and int(text) < number else 0
