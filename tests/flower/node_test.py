"""`subfleet node` against a stock SuperLink of flwr: what it answers, whom the SuperLink refuses, and what happens when the
SuperLink is killed.
    node_test.py SUBFLEET FLOWER_JOBS"""
import base64, datetime, json, signal, ssl, subprocess, sys, tempfile, time, urllib.error, urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import superlink as flower

flower.use_environment()
SUBFLEET, JOBS = [str(Path(word).resolve()) for word in sys.argv[1:3]]
APP = Path(__file__).parent / "app"


class Node:
    """A `subfleet node` in a process of its own."""

    def __init__(self, folder, link, *options):
        self.out = (folder / f"node-{time.monotonic_ns()}.log").open("w+")
        command = [SUBFLEET, "node", "--superlink", link.address, "--heartbeat", "10", *[str(o) for o in options]]
        self.process = subprocess.Popen(command, stdout=self.out, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def text(self):
        self.out.seek(0)
        return self.out.read()

    def wait_for(self, words, times=1, seconds=60):
        try:
            flower.wait_for(words, seconds, lambda: self.text().count(words) >= times)
        except AssertionError as error:
            raise AssertionError(f"{error}; the node said:\n{self.text()}") from None

    def ended(self, seconds=60):
        status = self.process.wait(seconds)
        return status, self.text()


def expect(condition, what):
    assert condition, what


def run_jobs(link, folder, jobs, queries):
    for path in [*folder.glob("*.reply"), *folder.glob("*.error")]:
        path.unlink()
    link.run(APP, {"folder": folder, "jobs": ",".join(jobs), "queries": queries, "format": message_format(folder)})


def message_format(folder):
    """The fourth letter of every message."""
    return int((folder / "f32.job").read_bytes()[3:4])


def check_updates(folder, names):
    for name in names:
        reply = folder / f"{name}.reply"
        expect(reply.exists(), f"{name}: no update came back")
        expect(reply.read_bytes() == (folder / f"{name}.update").read_bytes(), f"{name}: another update than locally")


def check_answers(folder):
    """Plain HTTP, a node that registers itself; then the SuperLink forgets everything."""
    with flower.SuperLink(folder / "plain") as link:
        with Node(folder, link, "--insecure", "--clients", "0-1", "--threads", "2") as node:
            node.wait_for("node ")
            run_jobs(link, folder, ["f32", "rot", "stranger", "garbage"], True)
            check_updates(folder, ["f32", "rot"])
            query = json.loads((folder / "query.json").read_text())
            expect(query["protocol"] == 1 and query["format"] == message_format(folder) and query["clients"] == [0, 1] and
                   query["classes"] == 62 and query["input"] == [1, 28, 28] and len(query["examples"]) == 2, f"query: {query}")
            for name, words in {"stranger": "client 2 is not one of this node's", "garbage": "not one of Subfleet's",
                                "evaluate": "not 'evaluate'", "other": "'subfleet' alone"}.items():
                said = (folder / f"{name}.error").read_text()
                expect(said.startswith("2 ") and words in said, f"{name}: {said}")
            link.kill()
            node.wait_for("no answer from")
            link.start()
            node.wait_for("joining again")
            node.wait_for("over TLS" if link.ca else "without TLS", times=2)
            node.process.send_signal(signal.SIGINT)
            status, text = node.ended()
            expect(status == 130, f"exit {status} after Ctrl-C")
            expect("2 jobs, 1 query, 4 refused" in text, text)
            print(text)


def signed_headers(key_file, moment):
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    key = serialization.load_ssh_private_key(key_file.read_bytes(), None)
    pem = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    stamp = moment.isoformat()
    return pem, {"content-type": "application/protobuf", "flwr-public-key": base64.b64encode(pem).decode(),
                 "flwr-timestamp": stamp,
                 "flwr-signature": base64.b64encode(key.sign(stamp.encode(), ec.ECDSA(hashes.SHA256()))).decode()}


def status_of(link, name, body, headers):
    context = ssl.create_default_context(cafile=link.ca)
    request = urllib.request.Request(f"https://{link.address}/v1/fleet/{name}", body, headers)
    try:
        return urllib.request.urlopen(request, context=context, timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code


def check_signatures(link, key, stranger):
    """What a node sends, sent again by somebody who has listened: too late, for another node, or with another time."""
    from flwr.proto.fleet_pb2 import ActivateNodeRequest, PullMessagesRequest
    now = datetime.datetime.now(datetime.timezone.utc)
    pem, fresh = signed_headers(key, now)
    activate = ActivateNodeRequest(public_key=pem, heartbeat_interval=30).SerializeToString()
    _, old = signed_headers(key, now - datetime.timedelta(seconds=400))
    expect(status_of(link, "activate-node", activate, old) == 401, "a signature of 400 s ago was taken")
    changed = dict(old, **{"flwr-timestamp": fresh["flwr-timestamp"]})
    expect(status_of(link, "activate-node", activate, changed) == 401, "an old signature was taken with a new time")
    _, others = signed_headers(stranger, now)
    expect(status_of(link, "activate-node", activate, others) == 401, "a key was taken with another's signature")
    pull = PullMessagesRequest()
    pull.node.node_id = 1234
    expect(status_of(link, "pull-messages", pull.SerializeToString(), fresh) == 401, "a node was taken for another")


def check_security(folder):
    """TLS and node keys; the SuperLink is killed and goes on from its database."""
    key, stranger = flower.make_key(folder / "node"), flower.make_key(folder / "stranger")
    wrong = flower.make_certificates(folder / "wrong")
    with flower.SuperLink(folder / "secure", tls=True, keys=True, database=True) as link:
        link.register(f"{key}.pub")
        data = ["--clients", "0-1"]
        with Node(folder, link, "--ca", link.ca, "--key", stranger, *data) as unregistered:  # tries for a while
            check_refusals(folder, link, key, wrong, data)
            check_signatures(link, key, stranger)
            check_restart(folder, link, key, data)
            expect_refused(unregistered, "is its key registered")


def expect_refused(node, words):
    status, text = node.ended()
    expect(status == 1 and words in text, f"{words}: exit {status}\n{text}")


def check_refusals(folder, link, key, wrong, data):
    with Node(folder, link, "--ca", wrong, "--key", key, *data) as deceived, \
            Node(folder, link, "--insecure", "--key", key, *data) as plain, \
            Node(folder, link, "--ca", link.ca, *data) as keyless:
        expect_refused(deceived, "cannot connect with TLS")
        expect_refused(plain, "cannot connect without TLS")
        expect_refused(keyless, "cannot register itself")


def check_restart(folder, link, key, data):
    with Node(folder, link, "--ca", link.ca, "--key", key, *data, "--max-jobs", "2") as node:
        node.wait_for("over TLS")
        run_jobs(link, folder, ["f32"], False)
        check_updates(folder, ["f32"])
        link.kill()
        node.wait_for("no answer from")
        link.start()
        node.wait_for("answers again")
        run_jobs(link, folder, ["rot"], False)
        check_updates(folder, ["rot"])
        status, text = node.ended()
        expect(status == 0 and "2 jobs" in text, f"exit {status}\n{text}")
        print(text)


with tempfile.TemporaryDirectory(prefix="subfleet-flower-") as name:
    subprocess.run([JOBS, name], check=True)
    check_answers(Path(name))
    check_security(Path(name))
