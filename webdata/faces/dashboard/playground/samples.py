"""The same call as code, with every value quoted for its language.

The key is read from the environment: the dashboard does not know it, and code with a key in it is passed on by mistake.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from webdata.domain.api_key import HEADERS
from webdata.faces.dashboard.playground.http_call import HttpCall, Values, text_of
from webdata.resources import Resource
from webdata.runtime.server.certificates import BUNDLE

KEY_HEADER = HEADERS[0]
KEY_VARIABLE = "WEBDATA_KEY"
"""The environment variable with the key, in all samples."""
TRUST = ("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
"""The environment variables with all authorities to trust, of curl, requests and httpx."""
FURTHER_TRUST = ("NODE_EXTRA_CA_CERTS", "WEBDATA_CA")
"""Those with further ones, of Node.js and the commands of webdata."""
WAIT_SECONDS = 30
"""How long the samples wait: longer than the deadline of a call."""


@dataclass(frozen=True)
class Sample:
    """A call in one language."""

    name: str
    """Also the label of its tab."""
    text: str


def samples(resource: Resource, values: Values, base: str, batch: Sequence[str]) -> list[Sample]:
    """The call as code. `base` is the address of the service, `batch` what stands first after `scrapy crawl`."""
    call = HttpCall.of(resource, values)
    url = base.rstrip("/") + call.path
    return [
        Sample("curl", _curl(call, url)),
        Sample("Python requests", _python(call, url, "requests")),
        Sample("Python httpx", _python(call, url, "httpx")),
        Sample("JavaScript fetch", _javascript(call, url)),
        Sample("scrapy crawl", _scrapy(values, batch)),
    ]


def variables(key: str, certificate: Path | None) -> str:
    """The commands of a shell that set what the samples take from the environment."""
    lines = [f"export {KEY_VARIABLE}={key}"]
    if certificate:
        own = certificate.absolute()
        lines += [f"export {name}={shlex.quote(str(own.with_name(BUNDLE)))}" for name in TRUST]
        lines += [f"export {name}={shlex.quote(str(own))}" for name in FURTHER_TRUST]
    return "\n".join(lines)


def _curl(call: HttpCall, url: str) -> str:
    lines = [f"curl --fail-with-body {shlex.quote(url)}", f'-H "{KEY_HEADER}: ${KEY_VARIABLE}"']
    lines += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in call.headers.items()]
    if call.body is not None:
        lines += ["-H 'Content-Type: application/json'", f"--data-raw {shlex.quote(_json(call.body))}"]
    elif call.parameters:
        lines += ["--get", *(_curl_parameter(name, value) for name, value in call.parameters.items())]
    return " \\\n  ".join(lines)


def _curl_parameter(name: str, value: str) -> str:
    """A parameter for curl to encode; one with characters that a terminal does not show is encoded here."""
    if value.isprintable():
        return f"--data-urlencode {shlex.quote(f'{name}={value}')}"
    return f"--data-raw {shlex.quote(f'{quote(name)}={quote_plus(value)}')}"


def _python(call: HttpCall, url: str, library: str) -> str:
    arguments = [_python_text(url)]
    if call.parameters:
        arguments.append(f"params={_python_object(call.parameters)}")
    headers = [f"{_python_text(KEY_HEADER)}: os.environ[{_python_text(KEY_VARIABLE)}]"]
    headers += [f"{_python_text(name)}: {_python_text(value)}" for name, value in call.headers.items()]
    arguments.append(f"headers={{{', '.join(headers)}}}")
    if call.body is not None:
        arguments.append(f"json={_python_object(call.body)}")
    arguments.append(f"timeout={WAIT_SECONDS}")
    listed = "".join(f"    {argument},\n" for argument in arguments)
    return (
        f"import os\n\nimport {library}\n\n"
        f"response = {library}.{call.method.lower()}(\n{listed})\n"
        "response.raise_for_status()\nprint(response.text)"
    )


def _python_object(values: Mapping[str, Any]) -> str:
    inner = ", ".join(f"{_python_text(name)}: {_python_value(value)}" for name, value in values.items())
    return f"{{{inner}}}"


def _python_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _python_object(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_python_value, value))}]"
    return _python_text(value) if isinstance(value, str) else repr(value)


def _python_text(text: str) -> str:
    """A literal in double quotes where that needs no backslash; `repr` escapes what is not printable."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and not re.search(r"[\"\\]", literal) else literal


def _javascript(call: HttpCall, url: str) -> str:
    headers = {KEY_HEADER: None, **call.headers} | ({"Content-Type": "application/json"} if call.body else {})
    lines = [
        f"    {_json(name)}: {f'process.env.{KEY_VARIABLE}' if value is None else _json(value)},\n"
        for name, value in headers.items()
    ]
    query = f" + new URLSearchParams({_json(call.parameters)})" if call.parameters else ""
    address = _json(url + "?") if call.parameters else _json(url)
    method = f'  method: "POST",\n  body: JSON.stringify({_json(call.body)}),\n' if call.body is not None else ""
    return (
        f"const response = await fetch({address}{query}, {{\n{method}  headers: {{\n{''.join(lines)}  }},\n"
        f"  signal: AbortSignal.timeout({WAIT_SECONDS}_000),\n}});\n"
        "if (!response.ok) throw new Error(await response.text());\n"
        "console.log(await response.text());"
    )


def _json(value: Any) -> str:
    """JSON in which everything that is not printable is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text).replace("</", "<\\/")


def _scrapy(values: Values, batch: Sequence[str]) -> str:
    first = " ".join(map(shlex.quote, ["scrapy", "crawl", *batch]))
    arguments = [f"-a {_shell(f'{name}={text_of(value)}')}" for name, value in values.items()]
    return " \\\n  ".join([first, *arguments, "-O answer.jsonl"])


def _shell(text: str) -> str:
    """A word of a shell; with characters that are not printable in the quotes of POSIX.1-2024, which bash has."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = re.sub(r"[\\']", r"\\\g<0>", text)
    return "$'" + "".join(char if char.isprintable() else _octal(char) for char in escaped) + "'"


def _octal(char: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in char.encode())
