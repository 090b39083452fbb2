"""What a service needs of its machine: database, folders, ports, browser, proxies, name servers, clock, disk."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from shutil import disk_usage
from typing import Literal
from urllib.parse import urlsplit

import aiohttp

import webdata
from webdata.config.config import Config
from webdata.domain.errors import DatabaseUnavailableError, FetchError
from webdata.domain.proxies import Proxy
from webdata.fetching.egress.names import NameResolver
from webdata.fetching.transports.browser.process import Browser
from webdata.runtime.process.disk import reserve
from webdata.stores.sql_stores import SqlStores

State = Literal["ok", "warning", "failed"]
ANSWERS_WITHIN = 5.0
"""Seconds for a proxy, a port or a site to answer."""
MOST_SECONDS_OFF = 60.0
"""By which a clock may differ: codes of second factors and signatures of webhooks allow little more."""


@dataclass(frozen=True)
class Finding:
    """What a check has found about its subject."""

    subject: str
    state: State
    text: str
    """What is there, or what is wrong and what would be right."""


async def here(config: Config) -> AsyncIterator[Finding]:
    """The findings about this machine, without a look outside."""
    yield await _database(config)
    for finding in _folders(config):
        yield finding
    for url in config.urls if config.public_url is None else ():
        yield await _port(config.host, url)
    yield await _browser(config)
    yield _clock_of_install()
    for finding in _disks(config):
        yield finding


async def outside(config: Config, hosts: Sequence[str]) -> AsyncIterator[Finding]:
    """The findings about proxies, name servers and the clock; `hosts` are those of the engines' sites."""
    for proxies in config.proxies.values():
        for finding in await asyncio.gather(*map(_proxy, proxies)):
            yield finding
    if hosts and config.sandbox != "always":
        yield await _names(hosts)
        yield await _clock(hosts[0])


async def _database(config: Config) -> Finding:
    file = config.database_file
    if file and not file.exists():
        return Finding("database", "ok", f"{file} is not there yet: the first start makes it")
    try:
        with SqlStores(config.database) as stores:
            await stores.check()
    except Exception as error:  # noqa: BLE001  # whatever it is, the service would not start
        known = isinstance(error, DatabaseUnavailableError)
        return Finding("database", "failed", f"does not answer: {error if known else type(error).__name__}")
    return Finding("database", "ok", f"{file or 'the server'} answers, and can be written to")


def _folders(config: Config) -> Iterator[Finding]:
    for content, folder in {**config.growing_folders, "certificate": config.tls_folder}.items():
        there = _nearest(folder)
        if not there.is_dir() or not os.access(there, os.W_OK):
            right = f"give one that the user {os.getuid()} can write to"
            yield Finding("folder", "failed", f"{folder} of the {content} cannot be written to: {right}")
        else:
            made = "" if folder.exists() else ", and will be made"
            yield Finding("folder", "ok", f"{folder} of the {content} can be written to{made}")


def _nearest(folder: Path) -> Path:
    """A folder, or the one above in which it will be made."""
    return next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())


async def _port(host: str, url: str) -> Finding:
    port = urlsplit(url).port or 0
    if await _is_own(url):
        return Finding("port", "ok", f"{port}: a webdata answers there already")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        right = "choose another by WEBDATA_PORT or WEBDATA_HTTP_PORT, or end the other program"
        reason = (error.strerror or str(error)).partition(" (")[0]
        return Finding("port", "failed", f"{port} of {host}: {reason}; {right}")
    return Finding("port", "ok", f"{port} of {host} is free")


async def _is_own(url: str) -> bool:
    """Whether a service of this kind answers at a URL; its certificate does not matter for that."""
    timeout = aiohttp.ClientTimeout(total=ANSWERS_WITHIN)
    try:
        async with aiohttp.request("GET", f"{url}/health/live", ssl=False, timeout=timeout) as response:
            return response.headers.get("server") == "webdata"
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


async def _browser(config: Config) -> Finding:
    if "browser" not in config.transports:
        return Finding("browser", "ok", "WEBDATA_TRANSPORTS leaves it out")
    browser = Browser(config.chromium, config.browser_url)
    try:
        await browser.open()
    except Exception:  # noqa: BLE001  # the browser has the reason in words
        right = "install Chromium, or set WEBDATA_CHROMIUM; pages that need one are lost until then"
        return Finding("browser", "warning", f"{browser.failure or 'none was found'}: {right}")
    finally:
        await browser.close()
    return Finding("browser", "ok", f"{'the remote one' if config.browser_url else config.chromium} starts")


async def _proxy(proxy: Proxy) -> Finding:
    address = urlsplit(proxy.url)
    try:
        async with asyncio.timeout(ANSWERS_WITHIN):
            _, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.close()
    except (OSError, TimeoutError) as error:
        reason = getattr(error, "strerror", None) or "no answer"
        return Finding("proxy", "failed", f"{proxy.label} cannot be reached: {reason}; correct its URL, or take it out")
    return Finding("proxy", "ok", f"{proxy.label} takes connections")


async def _names(hosts: Sequence[str]) -> Finding:
    resolver = NameResolver()
    found = await asyncio.gather(*(resolver(host, "doctor") for host in hosts), return_exceptions=True)
    lost = [
        host
        for host, addresses in zip(hosts, found, strict=True)
        if isinstance(addresses, BaseException) or not addresses
    ]
    if not lost:
        return Finding("DNS", "ok", f"resolves the names of all {len(hosts)} sites")
    reason = next((one.reason for one in found if isinstance(one, FetchError)), "they have no address")
    right = "look at /etc/resolv.conf and the name servers in it"
    return Finding(
        "DNS", "failed", f"does not resolve {len(lost)} of {len(hosts)} names, {lost[0]} among them: {reason}; {right}"
    )


def _clock_of_install() -> Finding:
    """The clock against the time at which this package was written to the disk."""
    if time.time() + MOST_SECONDS_OFF < Path(webdata.__file__).stat().st_mtime:
        return Finding("clock", "failed", "is before the installation of this program: set it, or run an NTP client")
    return Finding("clock", "ok", f"says {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC")


async def _clock(host: str) -> Finding:
    """The clock against that of a site, by plain HTTP: a wrong clock refuses certificates."""
    timeout = aiohttp.ClientTimeout(total=ANSWERS_WITHIN)
    try:
        async with aiohttp.request("HEAD", f"http://{host}/", timeout=timeout) as response:
            seconds = abs(time.time() - parsedate_to_datetime(response.headers["date"]).timestamp())
    except (aiohttp.ClientError, TimeoutError, OSError, KeyError, ValueError):
        return Finding("clock", "warning", f"could not be compared: {host} does not answer from here")
    if seconds > MOST_SECONDS_OFF:
        return Finding("clock", "failed", f"differs by {seconds:.0f} s from that of {host}: run an NTP client")
    return Finding("clock", "ok", f"agrees with that of {host}")


def _disks(config: Config) -> Iterator[Finding]:
    for content, folder in config.growing_folders.items():
        disk = disk_usage(_nearest(folder))
        free = f"the disk of the {content} has {disk.free >> 20:,} MiB left"
        if disk.free < reserve(disk.total):
            yield Finding("disk", "failed", f"{free}: make room before writes fail")
        else:
            yield Finding("disk", "ok", free)
