"""What a new member does first: a key, a call, a batch, each with the lines to copy."""

import json
import shlex
from collections.abc import Collection
from dataclasses import dataclass

from webdata.domain.api_key import HEADERS
from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.keys import EXAMPLE
from webdata.faces.dashboard.playground.samples import KEY_VARIABLE, variables
from webdata.faces.dashboard.programs import ProgramLines, program_lines
from webdata.faces.dashboard.visits import Visit

YOUR_KEY = "YOUR_KEY"
BATCH = {"resource": "web_search", "queries": [{"q": "cafes in Porto"}, {"q": "cafes in Lisbon"}]}


@dataclass(frozen=True)
class FirstSteps:
    """The lines of the steps, which take the key from the environment."""

    variables: str
    call: str
    batch: str
    programs: list[ProgramLines]


def first_steps(visit: Visit, address: ServiceAddress, prefixes: Collection[str]) -> FirstSteps:
    """The steps for the service as the browser of the visit reaches it; `prefixes` are those of its doors."""
    base = address.url(visit)
    header = f'-H "{HEADERS[0]}: ${KEY_VARIABLE}"'
    body = shlex.quote(json.dumps(BATCH))
    return FirstSteps(
        variables(YOUR_KEY, address.trusted(visit)),
        f"curl {header} {shlex.quote(base + EXAMPLE)}",
        f"curl {header} -H 'content-type: application/json' \\\n  -d {body} \\\n  {shlex.quote(f'{base}/v1/batches')}",
        program_lines(base, YOUR_KEY, prefixes),
    )
