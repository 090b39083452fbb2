"""Where programs call the service, as a person sees it."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from webdata.faces.dashboard.visits import Visit


@dataclass(frozen=True)
class ServiceAddress:
    """The address of the service; `certificate` is the file of one that was made here, which programs must trust."""

    public_url: str | None
    certificate: Path | None

    def url(self, visit: Visit) -> str:
        """The address, without a slash at the end: what the operator set, or what the browser asked."""
        host = visit.incoming.header("host")
        scheme = "https" if visit.incoming.request.isSecure() else "http"
        return self.public_url or f"{scheme}://{host}"

    def trusted(self, visit: Visit) -> Path | None:
        """The certificate that programs must trust at this address; None where they need none."""
        return self.certificate if self.url(visit).startswith("https:") else None

    def curl(self, visit: Visit, header: str, path: str) -> str:
        """A command line that calls a path with a header."""
        certificate = self.trusted(visit)
        trust = f"--cacert {shlex.quote(str(certificate.absolute()))} " if certificate else ""
        return f"curl {trust}-H {shlex.quote(header)} {shlex.quote(self.url(visit) + path)}"
