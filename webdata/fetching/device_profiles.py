"""Device profiles: the identity of requests, one for each device, the same on every transport.

To bring it up to date, take the version of the newest profile of Chrome that curl_cffi has
(`curl_cffi.requests.impersonate`). The browser tells its own version instead of this one (`Identity.user_agent`),
so that its headers agree with what scripts see.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from webdata.domain.query import Device

VERSION = "150"
PROFILE = f"chrome{VERSION}"
"""The TLS and HTTP/2 of the impersonated browser. One for both devices: measured with curl_cffi 0.16, those of
`chrome131` and `chrome131_android` differ in nothing, and there is no newer one of Android."""
ACCEPT = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
GREASE = " (:-./);=?_"
ORDERS = tuple(permutations(range(3)))
ENCODINGS, PLAIN_ENCODINGS = "gzip, deflate, br, zstd", "gzip, deflate"
"""With and without TLS."""
LANGUAGES = "en-US,en;q=0.9"
"""The languages of a request without any."""


def brands(version: str) -> list[tuple[str, str]]:
    """The brands of Chrome in this version, whole or its first number: name and version.

    components/embedder_support/user_agent_utils.cc, GenerateBrandVersionList
    """
    major = int(version.partition(".")[0])
    invented = f"Not{GREASE[major % 11]}A{GREASE[(major + 1) % 11]}Brand"
    zeros = ".0.0.0" if "." in version else ""
    named = [(invented, ("8", "99", "24")[major % 3] + zeros), ("Chromium", version), ("Google Chrome", version)]
    return [named[ORDERS[major % 6].index(place)] for place in range(3)]


BRANDS = ", ".join(f'"{name}";v="{version}"' for name, version in brands(VERSION))


@dataclass(frozen=True)
class Identity:
    """One kind of device."""

    system: str
    """In the user agent."""
    platform: str
    """In the client hints."""
    navigator: str
    """The platform, as in `navigator.platform`."""
    mobile: bool
    viewport: tuple[int, int]
    """Width and height in CSS pixels."""
    scale: float
    """Device pixels a CSS pixel."""

    def user_agent(self, version: str = VERSION) -> str:
        """The user agent of Chrome in this version; only its first number."""
        major, mobile = version.partition(".")[0], " Mobile" if self.mobile else ""
        engine = f"AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0{mobile} Safari/537.36"
        return f"Mozilla/5.0 ({self.system}) {engine}"

    def page_headers(self, referer: str | None = None) -> dict[str, str]:
        """The headers of a page that is opened, or reached by a link of the same site, in Chrome's order."""
        return {
            "Sec-Ch-Ua": BRANDS,
            "Sec-Ch-Ua-Mobile": self._hint_mobile,
            "Sec-Ch-Ua-Platform": self._hint_platform,
            "Upgrade-Insecure-Requests": "1",
            "User-Agent": self.user_agent(),
            "Accept": ACCEPT,
            "Sec-Fetch-Site": "none" if referer is None else "same-origin",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-User": "?1",
            "Sec-Fetch-Dest": "document",
            **_last(referer),
        }

    def script_headers(self, referer: str | None = None) -> dict[str, str]:
        """The headers of a script that fetches from the site of its own page, in Chrome's order."""
        return {
            "Sec-Ch-Ua-Platform": self._hint_platform,
            "User-Agent": self.user_agent(),
            "Sec-Ch-Ua": BRANDS,
            "Sec-Ch-Ua-Mobile": self._hint_mobile,
            "Accept": "*/*",
            "Sec-Fetch-Site": "same-origin",
            "Sec-Fetch-Mode": "cors",
            "Sec-Fetch-Dest": "empty",
            **_last(referer),
        }

    @property
    def _hint_mobile(self) -> str:
        return "?1" if self.mobile else "?0"

    @property
    def _hint_platform(self) -> str:
        return f'"{self.platform}"'


IDENTITIES: Mapping[str, Identity] = {
    Device.DESKTOP: Identity("Windows NT 10.0; Win64; x64", "Windows", "Win32", False, (1280, 720), 1.0),
    Device.MOBILE: Identity("Linux; Android 10; K", "Android", "Linux armv81", True, (412, 915), 2.625),
}


def identity(device: str | None) -> Identity:
    """The identity of a device; that of the desktop for None."""
    return IDENTITIES[device or Device.DESKTOP]


def untrusted(headers: Mapping[str, str]) -> dict[str, str]:
    """A device's headers without TLS: no hints, no metadata, no newer encodings.

    https://www.w3.org/TR/fetch-metadata/#framework (2.), https://wicg.github.io/ua-client-hints/#privacy
    """
    plain = {name: value for name, value in headers.items() if not name.startswith("Sec-")}
    return {**plain, "Accept-Encoding": PLAIN_ENCODINGS}


def _last(referer: str | None) -> dict[str, str]:
    """The last headers before the cookies."""
    linked = {} if referer is None else {"Referer": referer}
    return {**linked, "Accept-Encoding": ENCODINGS, "Accept-Language": LANGUAGES}
