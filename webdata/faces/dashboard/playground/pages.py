"""The pages of the playground: choose a resource, fill its form, look at the answer."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from webdata.accounts.access.admission import CallRequest
from webdata.domain.errors import UnknownIdError
from webdata.domain.secrets import MASK
from webdata.faces.api.calling import Called, Calling
from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.playground.answers import AnswerView, answer_view
from webdata.faces.dashboard.playground.fields import (
    NAME_PREFIX,
    Form,
    field_text,
    form_fields,
    other_errors,
    sent_values,
)
from webdata.faces.dashboard.playground.http_call import read_query
from webdata.faces.dashboard.playground.samples import samples, variables
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.usable_keys import key_options, usable_keys
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.resources import Resource
from webdata.resources.groups import Group
from webdata.runtime.server.replies import Reply, attachment
from webdata.stores.accounts.model import Key
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.calls.model import CallFilter, LoggedCall
from webdata.stores.calls.sql import CallLog

FIRST_RESOURCE = "web_search"
"""The resource that is shown first, where there is one of this name."""
MOST_KEYS = 50
"""Keys to choose from."""
HISTORY = 50
"""The last calls of the account that can be made again."""
NO_KEY = "Choose a key that is neither revoked nor expired and opens this endpoint."
NO_SUCH_RESOURCE = "There is no such endpoint to try. Choose one of those that there are."


@dataclass(frozen=True)
class PastCall:
    """A call of the history."""

    call: LoggedCall
    summary: str
    """The summary of its resource."""
    text: str
    """The parameters of the call, cut."""


class PlaygroundPages(Pages):
    """`/dashboard/playground`.

    A call is made with a key of the account that is shown, through `calls`, so that limits, credits, cache and log are
    those of any call. `batch_arguments` are the first arguments of `scrapy crawl` for a resource, `engines` the names
    of the engines of each.
    """

    def __init__(
        self,
        resources: Collection[Resource],
        calls: Calling,
        batch_arguments: Callable[[Resource], Sequence[str]],
        keys: KeyStore,
        log: CallLog,
        address: ServiceAddress,
        engines: Mapping[str, Sequence[str]],
        *,
        sandbox_always: bool = False,
    ) -> None:
        self._resources = {
            one.name: one for one in sorted(resources, key=lambda one: (one.name != FIRST_RESOURCE, one.path))
        }
        self._groups = [(group, found) for group in Group if (found := self._of_group(group))]
        self._calls = calls
        self._batch_arguments = batch_arguments
        self._keys = keys
        self._log = log
        self._address = address
        self._engines = engines
        self._sandbox_always = sandbox_always

    @route("GET", "/playground")
    async def _first(self, visit: Visit) -> Reply:
        return redirect(f"/playground/{next(iter(self._resources))}")

    @route("GET", "/playground/<name>")
    async def _form(self, visit: Visit, name: str) -> Reply:
        resource = self._resource(name)
        sent = visit.query.to_dict()
        form = sent if any(key.startswith(NAME_PREFIX) for key in sent) else None
        return await self._page(visit, resource, form, sent.get("key", ""))

    @route("GET", "/playground/again/<request_id>")
    async def _again(self, visit: Visit, request_id: str) -> Reply:
        """The form of a call of the history."""
        call = await self._log.find(request_id, visit.viewer.account.id)
        if call is None:
            raise UnknownIdError("There is no such call in the log of this account: older ones are removed.")
        resource = self._resource(call.resource)
        form = {NAME_PREFIX + key: field_text(value) for key, value in call.query.items() if value != MASK}
        return await self._page(visit, resource, form, call.key_id)

    @route("POST", "/playground/<name>")
    async def _run(self, visit: Visit, name: str) -> Reply:
        resource, form = self._resource(name), visit.form.to_dict()
        key = await self._chosen(visit, resource, form)
        if key is None:
            return await self._page(visit, resource, form, form.get("key", ""), key_error=NO_KEY)
        called = await self._called(visit, resource, form, key)
        try:
            view = answer_view(resource, called, visit.incoming.id)
            return await self._page(visit, resource, form, key.id, view)
        finally:
            called.release()

    @route("POST", "/playground/<name>/download")
    async def _download(self, visit: Visit, name: str) -> Reply:
        """The whole answer as a file: of the same call again, which the cache answers while it has it."""
        resource, form = self._resource(name), visit.form.to_dict()
        key = await self._chosen(visit, resource, form)
        if key is None:
            return await self._page(visit, resource, form, form.get("key", ""), key_error=NO_KEY)
        called = await self._called(visit, resource, form, key)
        is_json = "json" in called.headers.get("content-type", "")
        headers = {
            "content-type": "application/json" if is_json else "text/plain; charset=utf-8",
            "cache-control": "no-store",
            **attachment(f"{resource.name}.{'json' if is_json else 'md'}"),
        }
        return Reply(called.status, called.body, headers, called.release)

    async def _called(self, visit: Visit, resource: Resource, form: Form, key: Key) -> Called:
        values = sent_values(resource.query, form)
        headers = {"cache-control": "no-cache"} if form.get("fresh") else {}
        incoming = visit.incoming
        return await self._calls.called(
            CallRequest(
                incoming.id,
                resource,
                headers.get,
                partial(read_query, resource, values),
                lambda: incoming.gone,
                key.digest,
            )
        )

    async def _page(
        self,
        visit: Visit,
        resource: Resource,
        form: Form | None,
        key_id: str,
        view: AnswerView | None = None,
        key_error: str = "",
    ) -> Reply:
        account = visit.viewer.account
        keys = await usable_keys(self._keys, account.id, resource.name)
        problems = view.problems if view else ()
        fields = form_fields(resource, form, problems)
        values = sent_values(resource.query, form or {field.sent_as: field.value for field in fields})
        keys.sort(key=lambda one: one.id != key_id)
        key = keys[0] if keys else None
        is_sandbox = self._sandbox_always or key is None or key.test
        history = await self._log.page(account.id, CallFilter(), HISTORY)
        return render(
            "playground",
            visit,
            status=422 if problems or key_error else 200,
            pictures=bool(view and not is_sandbox),
            groups=self._groups,
            engines=self._engines,
            resource=resource,
            fields=fields,
            problems=other_errors(fields, problems),
            keys=key_options(keys[:MOST_KEYS]),
            key=key,
            further_keys=len(keys[MOST_KEYS:]),
            key_error=key_error,
            fresh=bool(form and form.get("fresh")),
            view=view,
            is_sandbox=is_sandbox,
            samples=samples(resource, values, self._address.url(visit), self._batch_arguments(resource)),
            variables=variables(f"{key.prefix if key else 'wd_test_'}…", self._address.trusted(visit)),
            history=[self._past(call) for call in history if call.query and call.resource in self._resources],
        )

    def _of_group(self, group: Group) -> list[Resource]:
        return [one for one in self._resources.values() if one.group is group]

    def _resource(self, name: str) -> Resource:
        if name not in self._resources:
            raise UnknownIdError(NO_SUCH_RESOURCE)
        return self._resources[name]

    async def _chosen(self, visit: Visit, resource: Resource, form: Form) -> Key | None:
        """The key that the form names, if it is the account's and can be used."""
        keys = await usable_keys(self._keys, visit.viewer.account.id, resource.name)
        return next((key for key in keys if key.id == form.get("key")), None)

    def _past(self, call: LoggedCall) -> PastCall:
        text = ", ".join(f"{name}={field_text(value)}" for name, value in call.query.items())
        return PastCall(call, self._resources[call.resource].summary, text[:160])
