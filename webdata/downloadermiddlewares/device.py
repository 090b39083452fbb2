"""Requests look like the kind of device that the query asks for."""

from scrapy import Request

from webdata.query import Device

ENGINE = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"
USER_AGENTS = {
    Device.DESKTOP: f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {ENGINE} Safari/537.36",
    Device.MOBILE: f"Mozilla/5.0 (Linux; Android 10; K) {ENGINE} Mobile Safari/537.36",
}


class DeviceMiddleware:
    """Sets the user agent of `meta["device"]`, desktop without it."""

    async def process_request(self, request: Request) -> None:
        device = request.meta.get("device") or Device.DESKTOP
        request.headers.setdefault("User-Agent", USER_AGENTS[device])
