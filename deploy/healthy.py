"""Whether the service of this container answers calls: the exit status. The image's HEALTHCHECK runs it."""

import os
import ssl
import sys
from urllib.request import urlopen

PORT = os.environ.get("WEBDATA_PORT")
URLS = sys.argv[1:] or (
    f"http://127.0.0.1:{PORT or 8080}/health/ready",
    f"https://127.0.0.1:{PORT or 8443}/health/ready",
)
"""Those of its arguments, or of both schemes: WEBDATA_TLS decides which one answers."""
ITSELF = ssl.create_default_context()
ITSELF.check_hostname, ITSELF.verify_mode = False, ssl.CERT_NONE  # no key is sent, and it is this container


def answers(url: str) -> bool:
    """Whether a URL is answered with 200 within 5 seconds."""
    try:
        return bool(urlopen(url, timeout=5, context=ITSELF).status == 200)  # noqa: S310  # a URL of the image's own
    except OSError:
        return False


sys.exit(not any(map(answers, URLS)))
