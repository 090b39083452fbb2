"""A new batch, of queries that were written, pasted, or read from a file by the browser."""

from collections.abc import Iterator, Mapping

import orjson

from webdata.batches.submissions import Submissions
from webdata.domain.errors import AccessError, QueryError
from webdata.domain.sentences import sentence
from webdata.faces.api.batches import owner_of
from webdata.faces.dashboard.rendering import redirect, render
from webdata.faces.dashboard.usable_keys import key_options, usable_keys
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.resources import Resource
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.model import Key
from webdata.stores.accounts.sql import KeyStore

LONGEST_QUERIES = 48_000
"""Characters of the queries of a form; `webdata batches submit` takes files of any size."""
MOST_SHOWN = 5
"""Wrong lines that are described."""
NO_KEY = "Choose a key that is neither revoked nor expired and opens this endpoint."
NO_ENDPOINT = "Choose one of the list."
NO_QUERIES = "Give a query a line: a search term, or the parameters as a JSON object."
TOO_LONG = f"These are more than {LONGEST_QUERIES:,} characters: send a file by `webdata batches submit`."


class BatchFormPages(Pages):
    """`/dashboard/batches/new`."""

    def __init__(self, submissions: Submissions, keys: KeyStore, resources: Mapping[str, Resource]) -> None:
        self._submissions = submissions
        self._keys = keys
        self._resources = resources

    @route("GET", "/batches/new")
    async def _show(self, visit: Visit) -> Reply:
        return await self._page(visit, {})

    async def _page(self, visit: Visit, errors: Mapping[str, str]) -> Reply:
        keys = await usable_keys(self._keys, visit.viewer.account.id)
        form = visit.form
        return render(
            "batch_new",
            visit,
            status=422 if errors else 200,
            keys=key_options(keys),
            endpoints=sorted((name, one.summary) for name, one in self._resources.items()),
            values={name: form.get(name, "") for name in ("endpoint", "key", "label", "queries")},
            longest=LONGEST_QUERIES,
            errors=errors,
        )

    @route("POST", "/batches/new")
    async def _submit(self, visit: Visit) -> Reply:
        form, account = visit.form, visit.viewer.account
        resource = self._resources.get(form.get("endpoint", ""))
        if resource is None:
            return await self._page(visit, {"endpoint": NO_ENDPOINT})
        found = await usable_keys(self._keys, account.id, resource.name)
        key = next((one for one in found if one.id == form.get("key")), None)
        if errors := _errors(form.get("queries", ""), key):
            return await self._page(visit, errors)
        assert key, "without one there is an error"
        body = b"".join(_lines(resource, form.get("queries", "")))
        given = {"resource": resource.name, "label": form.get("label", "").strip()}
        try:
            batch = await self._submissions.take(owner_of(key), body, given, ndjson=True)
        except QueryError as error:
            return await self._page(visit, {"queries": _said(error)})
        except AccessError as error:
            return await self._page(visit, {"key": sentence(str(error))})
        return redirect(f"/batches/{batch['id']}", notice="made")


def _errors(queries: str, key: Key | None) -> dict[str, str]:
    errors = {} if key else {"key": NO_KEY}
    if len(queries) > LONGEST_QUERIES:
        return {**errors, "queries": TOO_LONG}
    return errors if queries.strip() else {**errors, "queries": NO_QUERIES}


def _lines(resource: Resource, text: str) -> Iterator[bytes]:
    """The queries as lines of JSON; what is no object is the first parameter that has to be given."""
    fields = resource.query.model_fields
    term = next((name for name in resource.query.fields() if fields[name].is_required()), "q")
    for line in filter(None, map(str.strip, text.splitlines())):
        query = line.encode("utf-8", "replace") if line.startswith("{") else orjson.dumps({term: line})
        yield query + b"\n"


def _said(error: QueryError) -> str:
    return " ".join(sentence(problem["msg"]) for problem in error.problems[:MOST_SHOWN])
