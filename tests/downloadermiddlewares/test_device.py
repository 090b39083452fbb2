"""Requests look like the kind of device that the query asks for."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request

from webdata.downloadermiddlewares.device import DeviceMiddleware
from webdata.query import Device


@pytest.mark.parametrize(("device", "is_mobile"), [(None, False), (Device.DESKTOP, False), (Device.MOBILE, True)])
@ensureDeferred
async def test_the_user_agent_fits_the_device(device, is_mobile):
    """Mobile requests carry a phone's user agent, all others a desktop's."""
    request = Request("https://example.com", meta={"device": device})
    await DeviceMiddleware().process_request(request)
    assert (b"Mobile" in request.headers["User-Agent"]) is is_mobile


@ensureDeferred
async def test_a_user_agent_that_is_there_stays():
    """An engine that sets its own user agent keeps it."""
    request = Request("https://example.com", headers={"User-Agent": "own"})
    await DeviceMiddleware().process_request(request)
    assert request.headers["User-Agent"] == b"own"
