"""Several services behind nginx, with one PostgreSQL and one Redis, as in `deploy/`."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from threading import Timer

import orjson
import pytest
import trustme

pytestmark = pytest.mark.slow
WEBDATA = Path(sys.executable).with_name("webdata")
NGINX_CONF = Path(__file__).parents[2] / "deploy" / "nginx.conf"
HTTP = """
pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; events {{}} {user}
http {{
    log_format servers '$upstream_addr'; access_log {folder}/access.log servers;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {servers}
}}
"""
"""What a distribution's nginx.conf has around `conf.d`, with all files in one folder."""
REQUESTS = 60
"""Those of the default plan."""
CALLERS = 8


class Nginx:
    """deploy/nginx.conf in front of two services, with its ports on loopback and its files in a folder."""

    def __init__(self, folder, services):
        self.folder, self.port, self.plain_port = folder, free_port(), free_port()
        authority = trustme.CA()
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "both.pem")
        self.trust = ssl.create_default_context(cadata=authority.cert_pem.bytes().decode())
        changes = {
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "/etc/nginx/certificates/cert.pem": f"{folder}/both.pem",
            "/etc/nginx/certificates/key.pem": f"{folder}/both.pem",
            **{f"serve{number}:8080": f"127.0.0.1:{one.port}" for number, one in enumerate(services, 1)},
        }
        servers = NGINX_CONF.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in servers
            servers = servers.replace(old, new)
        user = "user root;" if os.getuid() == 0 else ""
        (folder / "nginx.conf").write_text(HTTP.format(folder=folder, user=user, servers=servers), encoding="utf-8")

    @contextmanager
    def running(self, until):
        arguments = [nginx_program(), "-p", self.folder, "-c", self.folder / "nginx.conf", "-g", "daemon off;"]
        with subprocess.Popen(arguments, stderr=subprocess.DEVNULL) as process:
            try:
                until(lambda: listens(self.port))
                yield self
            finally:
                process.terminate()

    def request(self, method, path, key, body=None):
        """The status and the body of a response, on a connection of its own."""
        connection = HTTPSConnection("127.0.0.1", self.port, timeout=40, context=self.trust)
        try:
            connection.request(method, path, body, {"X-Api-Key": key, "Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def get(self, path, key):
        """The status of a GET."""
        return self.request("GET", path, key)[0]

    def read(self, path, key):
        """The body of a GET, which must succeed."""
        status, body = self.request("GET", path, key)
        assert status == 200, body
        return body

    def post(self, path, body, key):
        """The answer to a POST, which must be taken."""
        status, answer = self.request("POST", path, key, orjson.dumps(body))
        assert status == 202, answer
        return orjson.loads(answer)

    def calls(self, number, key, word):
        """The statuses of many calls, by their number; each asks for something else."""
        with ThreadPoolExecutor(CALLERS) as callers:
            return Counter(callers.map(lambda one: self.get(f"/v1/search?q={word}+{one}", key), range(number)))

    def answered_by(self):
        """How many requests each service has had."""
        lines = (self.folder / "access.log").read_text(encoding="utf-8").splitlines()
        return Counter(address for line in lines for address in line.split(", "))


def nginx_program():
    found = shutil.which("nginx", path=os.pathsep.join((os.environ["PATH"], "/usr/sbin")))
    if found is None:
        pytest.skip("there is no nginx: scripts/servers installs Debian's")
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listens(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class Machines:
    """Two services, each with a folder of its own, and one database."""

    def __init__(self, start, folder, settings):
        self.start, self.folder, self.settings = start, folder, settings

    def serve(self, number):
        folder = self.folder / f"serve{number}"
        folder.mkdir(exist_ok=True)
        return self.start(folder, limited=True, **self.settings, WEBDATA_TLS_FOLDER=str(folder / "tls"))

    def query(self, statement):
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(self.settings["WEBDATA_DATABASE"]) as database:
            done = database.execute(statement)
            return done.fetchall() if done.description else None

    def commits(self):
        [(number,)] = self.query("SELECT count(*) FROM movements WHERE kind = 'commit'")
        return number


@pytest.fixture
def machines(start_in, tmp_path, postgresql, shared_redis):
    settings = {
        "WEBDATA_DATABASE": postgresql,
        "WEBDATA_REDIS": shared_redis.url,
        "WEBDATA_TLS": "off",
        "WEBDATA_SANDBOX": "always",
        "WEBDATA_WORKER": "off",
    }
    return Machines(start_in, tmp_path, settings)


@pytest.fixture
def front(machines, until):
    """nginx, the two services behind it, and the key that the first of them has made."""
    nginx_program()  # or the test is skipped before anything starts
    with ExitStack() as stack:
        services = [stack.enter_context(machines.serve(number)) for number in (1, 2)]
        nginx = Nginx(machines.folder, services)
        yield stack.enter_context(nginx.running(until)), services, services[0].live_key


def test_two_services_are_one(machines, front):
    """Both answer, with the same keys and credits, and count a plan's limit together; nobody outside sees metrics."""
    nginx, services, key = front
    machines.query("UPDATE plans SET seconds = 3600")  # so that no request leaves the window before the last
    assert nginx.calls(REQUESTS + 10, key, "coffee") == {200: REQUESTS, 429: 10}
    assert machines.commits() == REQUESTS
    shares = nginx.answered_by()
    assert set(shares) == {f"127.0.0.1:{one.port}" for one in services}
    assert min(shares.values()) > REQUESTS / 4
    assert nginx.get("/metrics", key) == 403
    connection = HTTPConnection("127.0.0.1", nginx.plain_port, timeout=10)
    connection.request("GET", "/v1/search?q=tea")
    assert connection.getresponse().status == 308
    connection.close()


@pytest.mark.parametrize(("how", "repeated"), [(signal.SIGTERM, 0), (signal.SIGKILL, CALLERS)])
def test_one_of_two_services_ends(machines, front, how, repeated):
    """When one service is stopped or dies under load, no caller notices, and every call is charged once.

    A call whose service died after its commit, before its last byte, is the exception: it is charged again.
    """
    nginx, (first, second), key = front
    machines.query("UPDATE plans SET requests = 100000")
    timer = Timer(1, first.process.send_signal, [how])
    timer.start()
    assert nginx.calls(300, key, "coffee") == {200: 300}
    timer.join()
    first.process.wait(40)
    assert 300 <= machines.commits() <= 300 + repeated
    assert nginx.answered_by()[f"127.0.0.1:{second.port}"] > 150
    with machines.serve(1):  # gives back what the dead one had reserved
        assert machines.query("SELECT count(*) FROM reservations") == [(0,)]


ROWS = 600
RESULTS = re.compile(r'^webdata_batch_rows_total\{.*outcome="ok".*\} (\S+)$', re.MULTILINE)


class WorkerProcess:
    """`webdata worker` with the settings of the services."""

    def __init__(self, folder, settings):
        self.port = free_port()
        environ = {**os.environ, **settings, "WEBDATA_WORKER_METRICS": f"127.0.0.1:{self.port}"}
        with (folder / f"worker-{self.port}.log").open("wb") as log:
            self.process = subprocess.Popen([WEBDATA, "worker"], env=environ, stderr=log)

    @property
    def rows(self):
        """The rows that it has ended with a record."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return sum(map(float, RESULTS.findall(text)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def test_three_workers_run_a_batch(machines, front, until):
    """Three workers share a batch, one of which is stopped and one killed; every row ends and is charged once."""
    nginx, _, key = front
    machines.query("UPDATE accounts SET balance = 100000")
    machines.query("UPDATE plans SET requests = 100000")
    with ExitStack() as stack:
        workers = [stack.enter_context(WorkerProcess(machines.folder, machines.settings)) for _ in range(3)]
        for worker in workers:
            until(lambda worker=worker: listens(worker.port), 60)
        queries = [{"q": f"coffee {number}"} for number in range(ROWS)]
        batch = nginx.post("/v1/batches", {"resource": "web_search", "queries": queries}, key)["id"]
        until(lambda: sum(worker.rows > 10 for worker in workers) >= 2, 60)  # who begins first may take most
        assert nginx.calls(50, key, "tea") == {200: 50}
        stopped, killed = sorted(workers, key=lambda worker: worker.rows)[-2:]
        stopped.process.send_signal(signal.SIGTERM)
        killed.process.kill()
        until(lambda: orjson.loads(nginx.read(f"/v1/batches/{batch}", key))["state"] == "done", 120)
        assert stopped.process.wait(30) == 0
    lines = nginx.read(f"/v1/batches/{batch}/results?limit={ROWS}", key).splitlines()
    assert {orjson.loads(line)["query"]["q"] for line in lines} == {query["q"] for query in queries}
    outcomes = machines.query("SELECT outcome, count(*), count(DISTINCT row) FROM results GROUP BY outcome")
    assert outcomes == [("ok", ROWS, ROWS)]
    charges = machines.query("SELECT count(*), count(DISTINCT request_id) FROM movements WHERE kind = 'charge'")
    assert charges == [(ROWS, ROWS)]
