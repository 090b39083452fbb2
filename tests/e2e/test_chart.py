"""The chart of `deploy/helm`, rendered by Helm's own library and held against the schemas of Kubernetes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
CHART = Path(__file__).parents[2] / "deploy" / "helm"
TOOLS = ("helm-python-sdk==0.2.2", "kubernetes-validate==1.37.0", "pyyaml")
"""Installed for this module alone: they take 350 MB, and nothing else needs them."""
KUBERNETES = "1.34"
RENDER = f"""
import json, sys, yaml, kubernetes_validate
from helm_python.chart import Chart
with Chart.load({str(CHART)!r}) as chart:
    files = chart.render(values=json.load(sys.stdin), name="demo")
documents = [one for name, text in files.items() if name.endswith(".yaml") for one in yaml.safe_load_all(text) if one]
for one in documents:
    kubernetes_validate.validate(one, {KUBERNETES!r}, strict=True)
notes = next(text for name, text in files.items() if name.endswith("NOTES.txt"))
json.dump({{"documents": documents, "notes": notes}}, sys.stdout)
"""
MANY = {
    "replicas": 2,
    "workers": 3,
    "secret": "webdata",
    "settings": {"WEBDATA_DEADLINE": "20"},
    "ingress": {"host": "data.example.com", "className": "nginx", "tlsSecret": "certificate"},
    "storage": {"className": "fast"},
}


@pytest.fixture(scope="module")
def render(made_once):
    """Renders the chart with values: the documents by their kind and the notes, or the message of an error."""
    environ = {**os.environ, "PYTHONPATH": str(made_once("helm", install))}

    def rendered(**values):
        done = subprocess.run(
            [sys.executable, "-c", RENDER],
            input=json.dumps(values),
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return done.stderr, ""
        answer = json.loads(done.stdout)
        return {one["kind"]: one for one in answer["documents"]}, answer["notes"]

    return rendered


def install(folder):
    options = ["--quiet", "--no-compile", "--only-binary", ":all:", "--target", folder]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, *TOOLS], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"Helm's library cannot be installed: {done.stderr.strip().splitlines()[-1]}")


def pods(kinds):
    """The specifications of the pods of some documents."""
    return [one["spec"]["template"]["spec"] for kind, one in kinds.items() if kind in ("StatefulSet", "Deployment")]


def environment(pod):
    return {one["name"]: one["value"] for one in pod["containers"][0]["env"] or ()}


def test_one_node_is_a_service_and_a_pod_with_a_volume(render):
    """Without values the chart is valid: a service and one pod, whose notes say how to read the first keys."""
    kinds, notes = render()
    assert set(kinds) == {"Service", "StatefulSet"}
    assert kinds["StatefulSet"]["spec"]["replicas"] == 1
    assert "exec demo-0 -- cat /data/first-keys.txt" in notes


def test_several_nodes_have_workers_and_an_address(render):
    """With all values the chart is valid; services leave batches to the workers and know their public address."""
    kinds, notes = render(**MANY)
    assert set(kinds) == {"Service", "StatefulSet", "Deployment", "Ingress"}
    service, worker = pods({"StatefulSet": kinds["StatefulSet"]} | {"Deployment": kinds["Deployment"]})
    expected = {"WEBDATA_WORKER": "off", "WEBDATA_PUBLIC_URL": "https://data.example.com", "WEBDATA_DEADLINE": "20"}
    assert environment(service) == expected
    assert environment(worker) == {**expected, "WEBDATA_WORKER_METRICS": "0.0.0.0:9464"}
    assert "https://data.example.com" in notes


def test_pods_have_the_restricted_profile(render):
    """Pods are not root, cannot write but to their volumes, have no capabilities, no token and no links to services."""
    for pod in pods(render(**MANY)[0]):
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert (pod["enableServiceLinks"], pod["automountServiceAccountToken"]) == (False, False)


@pytest.mark.parametrize(
    ("values", "right"),
    [
        ({"replicas": 2}, "need secret: the name of a Secret with WEBDATA_DATABASE"),
        ({"workers": 1}, "need secret: the name of a Secret with WEBDATA_DATABASE"),
        ({"replica": 2}, "additional properties 'replica' not allowed"),
        ({"settings": {"DEADLINE": "3"}}, "does not match pattern '^WEBDATA_'"),
        ({"settings": {"WEBDATA_CACHE_BYTES": 134217728}}, "got number, want string"),
    ],
)
def test_wrong_values_are_refused(render, values, right):
    """Nodes that share no database, and values or settings that mean nothing, are refused with the reason."""
    message, _ = render(**values)
    assert right in message
