"""`webdata certificates`: the service's certificate for clients."""

import ssl
from pathlib import Path

import certifi
import click
from cryptography.hazmat.primitives.serialization import Encoding

from webdata.config.config import Config
from webdata.runtime.process import private_files
from webdata.runtime.server.certificates import certificate_of

SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
)
"""Where systems have their authorities in one file."""


@click.group()
def certificates() -> None:
    """The certificate that clients have to trust."""


@certificates.command()
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write (default: bundle.pem in the folder of the certificate).",
)
@click.pass_obj
def bundle(config: Config, output: Path | None) -> None:
    """Write the system's authorities and the service's certificate into one file.

    It is for programs that read their authorities from one file alone, which SSL_CERT_FILE or REQUESTS_CA_BUNDLE names.
    """
    certificate, authorities = certificate_of(config), authorities_file()
    file = output or config.tls_folder / "bundle.pem"
    chain = [one.public_bytes(Encoding.PEM) for one in certificate.chain]
    try:
        private_files.make_folder(file.parent)
        private_files.replace(file, b"\n".join([authorities.read_bytes(), *chain]), 0o644)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}; give another --output") from error
    click.echo(
        f"{file.resolve()} has the authorities of {authorities} and the service's certificate, until "
        f"{certificate.until:%Y-%m-%d}. Make it again when either changes. For programs that cannot be changed:\n\n"
        f"    export SSL_CERT_FILE={file.resolve()} REQUESTS_CA_BUNDLE={file.resolve()}\n"
        f"    export NODE_EXTRA_CA_CERTS={certificate.cert_file.resolve()}"
    )


def authorities_file() -> Path:
    """The system's file of authorities, which may have those of a company; else that of certifi."""
    of_system = (ssl.get_default_verify_paths().openssl_cafile, *SYSTEM_FILES)
    return next((path for path in map(Path, of_system) if path.is_file()), Path(certifi.where()))
