"""`webdata certificates`: the service's certificate for clients."""

from pathlib import Path

import click

from webdata.config.config import Config
from webdata.faces.administration.docs_pages import DocumentedGroup
from webdata.runtime.process import private_files
from webdata.runtime.server.certificates import BUNDLE, authorities_file, certificate_of, joined_authorities


@click.group(cls=DocumentedGroup)
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
    file = output or config.tls_folder / BUNDLE
    try:
        private_files.make_folder(file.parent)
        private_files.replace(file, joined_authorities(certificate), 0o644)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}; give another --output") from error
    click.echo(
        f"{file.resolve()} has the authorities of {authorities} and the service's certificate, until "
        f"{certificate.until:%Y-%m-%d}. Make it again when either changes. For programs that cannot be changed:\n\n"
        f"    export SSL_CERT_FILE={file.resolve()} REQUESTS_CA_BUNDLE={file.resolve()}\n"
        f"    export NODE_EXTRA_CA_CERTS={certificate.cert_file.resolve()}"
    )
