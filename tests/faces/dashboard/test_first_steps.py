"""The three steps of a new member."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.first_steps import first_steps


@pytest.mark.parametrize(("secure", "trusts"), [(False, False), (True, True)])
def test_the_variables_name_a_certificate_only_where_one_is_used(secure, trusts):
    """By HTTPS the own certificate of the service is among them; by plain HTTP the key is the only one."""
    request = SimpleNamespace(isSecure=lambda: secure)
    visit = SimpleNamespace(incoming=SimpleNamespace(request=request, header=lambda _: "127.0.0.1:8080"))
    steps = first_steps(visit, ServiceAddress(None, Path("tls/cert.pem")), [])
    assert steps.variables.startswith("export WEBDATA_KEY=YOUR_KEY")
    assert ("export CURL_CA_BUNDLE=" in steps.variables) == trusts
