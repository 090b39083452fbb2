"""Keys as people send them: in Authorization, in the URL, in the body."""

import logging
from base64 import b64encode

import orjson
import pytest
from pytest_twisted import ensureDeferred

from webdata.accounts.access.api_keys import new_key
from webdata.resources.url_request import URL_REQUEST

PLACES = [
    "/v1/search/q=coffee?api_key={}",
    "/v1/search?q=coffee&key={}",
    "/v1/search?q=coffee&apikey={}",
    "/v1/search?q=coffee&token={}",
    "/v1/search?q=coffee&access_token={}",
    "/v1/search?q=coffee&X-Api-Key={}",
    "/v1/search/q=coffee&api%5Fkey={}",
    "/api/v1/account?api_key={}",
]


def basic(text):
    return f"Basic {b64encode(text.encode()).decode()}"


@pytest.mark.parametrize("form", ["Bearer {}", "bearer   {}", "Basic any:", "Basic :", "Basic user", "Basic user:"])
@ensureDeferred
async def test_a_key_may_be_in_authorization(send, test_secret, form):
    """As a bearer token, as the password of any user, or as the user alone."""
    values = {
        "Basic any:": basic(f"any:{test_secret}"),
        "Basic :": basic(f":{test_secret}"),
        "Basic user": basic(test_secret),
        "Basic user:": basic(f"{test_secret}:"),
    }
    value = values.get(form) or form.format(test_secret)
    assert (await send("/v1/search/q=coffee", headers={"Authorization": value})).status == 200
    assert (await send("/api/v1/account", headers={"Authorization": value})).status == 200


@ensureDeferred
async def test_the_first_header_that_is_present_counts(send, test_secret):
    """A key of our own headers goes before Authorization, which then may be anything."""
    both = {"apikey": test_secret, "Authorization": "Bearer of-another-service"}
    assert (await send("/v1/search/q=coffee", headers=both)).status == 200
    wrong = {"apikey": "wrong", "Authorization": f"Bearer {test_secret}"}
    assert (await send("/v1/search/q=coffee", headers=wrong)).status == 401


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ({"x-apikey": "wrong"}, "x-apikey"),
        ({"Authorization": "Bearer wrong"}, "Authorization"),
        ({"Authorization": "Digest username=x"}, "Authorization"),
        ({"Authorization": "Basic no base64"}, "Authorization"),
        ({"Authorization": "wrong"}, "Authorization"),
        ({"Authorization": ""}, "Authorization"),
    ],
)
@ensureDeferred
async def test_a_refusal_names_the_header_and_what_a_key_looks_like(send, headers, named):
    """The header in which something was found is named, never what was found."""
    response = await send("/v1/search/q=coffee", headers=headers)
    message = response.problem["message"]
    assert response.status == 401
    assert f"header {named}" in message.replace("The header", "header")
    assert "wd_live_ or wd_test_ and 49 letters and digits" in message
    assert "wrong" not in message


@ensureDeferred
async def test_an_unknown_key_is_refused_with_the_name_of_its_header(send):
    """A key of another service is as wrong in Authorization as elsewhere."""
    _, unknown = new_key("elsewhere", test=False)
    message = (await send("/v1/search/q=coffee", headers={"Authorization": f"Bearer {unknown}"})).problem["message"]
    assert message.startswith("This API key is not known here (it came in the header Authorization)")


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("in_header", [False, True])
@ensureDeferred
async def test_a_key_in_the_url_is_refused(send, calls, test_secret, caplog, target, in_header):
    """It is a 401 that says where it belongs, also beside a header with a key; no log has it."""
    caplog.set_level(logging.INFO)
    headers = {"X-Api-Key": test_secret} if in_header else {}
    response = await send(target.format(test_secret), headers=headers)
    message = response.problem["message"]
    assert (response.status, "An API key is in the parameter" in message) == (401, True)
    assert "send it in the header X-Api-Key, or as Authorization: Bearer KEY" in message
    assert test_secret not in message + caplog.text
    assert not calls.calls


@pytest.mark.parametrize("name", ["api_key", "apiKey", "key", "token", "Authorization", "accessToken"])
@pytest.mark.parametrize("in_header", [False, True])
@ensureDeferred
async def test_a_key_in_a_body_is_refused(make_api, make_send, test_secret, name, in_header):
    """So it is in a member of a JSON body."""
    headers = {"X-Api-Key": test_secret} if in_header else {}
    body = orjson.dumps({"url": "https://example.com/", name: test_secret})
    response = await make_send(make_api([URL_REQUEST]))("/v1/request", "POST", headers, body)
    assert (response.status, f"the member {name} of the body" in response.problem["message"]) == (401, True)


@ensureDeferred
async def test_what_is_called_a_key_but_is_none(send, test_secret):
    """It is ignored beside a header with a key; without one the refusal says that it is no place for a key."""
    response = await send("/v1/search/q=coffee?key=of-maps", headers={"X-Api-Key": test_secret})
    assert (response.status, response.headers["x-ignored-params"]) == (200, "key")
    message = (await send("/v1/search/q=coffee?key=of-maps", headers={})).problem["message"]
    assert message.startswith("The API key is missing: the parameter key of the URL is no place for one")


@ensureDeferred
async def test_a_search_for_a_key_is_a_search(send, calls, test_secret):
    """Only parameters that are called keys are searched for one."""
    assert (await send(f"/v1/search/q={test_secret}", headers={"X-Api-Key": test_secret})).status == 200
    assert calls.calls[0].query.q == test_secret
