"""The Flower apps without a SuperLink: what client apps answer, who gets which client's number, and what is made of replies.
    apps_test.py     with SUBFLEET_FLWR=a virtual environment that has flwr, and the package on PYTHONPATH"""

import functools
import re
import sys
import threading
import time
import tracemalloc
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import superlink

superlink.use_environment()
try:
    import numpy as np
    import subfleet
    import subfleet.flower
    from subfleet.flower import protocol
    from subfleet.flower.client import client_numbers
    from subfleet.flower.nodes import Nodes
    from subfleet.flower.replies import BadReply, NodeLost, limit_object_pulls, pull_reply
    from subfleet.flower.server import serve
    from subfleet.flower.transport import FlowerTransport
except ImportError as error:
    print(f"skipped: {error}; scripts/flower-test builds the package first")
    sys.exit(superlink.SKIP)

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Error, Message, RecordDict  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402
from flwr.superlink.grid import http_grid  # noqa: E402

TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1  # messages want to know who makes them

CONFIG = subfleet.Config({"model.name": "emnist-mlp", "data.writers": 3, "round.clients": 3, "round.epochs": 2})
MODEL = subfleet.Model("emnist-mlp")
JOB = subfleet.JobMessage(MODEL, CONFIG, 1, 0, 2, MODEL.initial_weights(1))  # round 1, row 0, client 2


def context(**node_config) -> Context:
    return Context(run_id=1, node_id=2, node_config=node_config, state=RecordDict(), run_config={})


def ask(app, kind: str = "train", content: RecordDict = None, **node_config) -> Message:
    content = content or (protocol.JOB.pack(JOB.encode()) if kind == "train" else protocol.question())
    return app(Message(content, dst_node_id=2, message_type=kind), context(**node_config))


def update_of(reply: Message) -> "subfleet.UpdateMessage":
    return subfleet.UpdateMessage.decode(protocol.UPDATE.unpack(reply))


class ClientApps(unittest.TestCase):
    def test_a_function_of_ones_own_gets_the_sub_model_and_its_difference_travels(self):
        seen = []

        def train(job):
            seen.append(job)
            return subfleet.flower.Trained({name: w + 0.5 for name, w in job.weights.items()}, 7, 1.25, 0.5)

        update = update_of(ask(subfleet.flower.client_app(train, input=(1, 28, 28), classes=62)))
        self.assertEqual((update.examples, update.loss, update.accuracy, update.row), (7, 1.25, 0.5, 0))
        job = seen[0]
        self.assertLess(job.model.size, MODEL.size)
        self.assertEqual((job.client, job.epochs), (2, 2))
        given = JOB.given_weights()
        np.testing.assert_array_equal(np.frombuffer(update.update, np.float32), (given + np.float32(0.5)) - given)

    def test_pytorch_and_subfleets_trainer_make_the_same_of_a_job(self):
        try:
            from subfleet.flower import torch_client_app
        except ImportError as error:
            self.skipTest(str(error))
        ours = update_of(ask(subfleet.flower.trainer_client_app("reference"), clients="2", **{"data.writers": 3}))
        data = subfleet.Data(CONFIG)
        torchs = update_of(ask(torch_client_app(data.train, input=(1, 28, 28), classes=62)))
        a, b = (np.frombuffer(u.update, np.float32) for u in (ours, torchs))
        self.assertGreater(np.abs(a).max(), 1e-2)
        self.assertLess(np.abs(a - b).max(), 1e-5)
        self.assertEqual((ours.examples, ours.accuracy), (torchs.examples, torchs.accuracy))

    def test_an_app_introduces_the_clients_of_its_node(self):
        app = subfleet.flower.trainer_client_app("reference")
        said = protocol.read_introduction(ask(app, "query", clients="1-2", **{"data.writers": 3}))
        self.assertEqual((said["clients"], said["classes"], said["input"]), ([1, 2], 62, [1, 28, 28]))
        self.assertEqual(said["examples"], [len(subfleet.Data(CONFIG).train(client)[1]) for client in (1, 2)])
        self.assertEqual(client_numbers("0-2,7"), [0, 1, 2, 7])
        self.assertRaises(ValueError, client_numbers, "0-x")

    def test_a_server_of_another_version_is_refused_in_a_line_that_says_who_must_update(self):
        app = subfleet.flower.client_app(lambda job: None, input=(1, 28, 28), classes=62)
        older = RecordDict({"subfleet": ConfigRecord({"protocol": 1})})
        newer = RecordDict({"subfleet": ConfigRecord({"protocol": 1, "format": protocol.FORMAT + 1})})
        next_protocol = RecordDict({"subfleet": ConfigRecord({"protocol": 2, "format": 9})})
        for question, says in ((older, "format 1 of an older server; .*: update the server"),
                               (newer, "of a newer server; .*: update the node"),
                               (next_protocol, "protocol 2 of a newer server; .*: update the node")):
            self.assertRaisesRegex(protocol.Malformed, says, ask, app, "query", question)
        job = RecordDict({"subfleet": ArrayRecord({"job": Array("uint8", (1,), "subfleet.job/2", b"?")})})
        self.assertRaisesRegex(protocol.Malformed, "protocol 2 .*: update the node", ask, app, "train", job)

    def test_a_job_for_another_node_or_that_is_none_is_refused(self):
        app = subfleet.flower.client_app(lambda job: None, input=(1, 28, 28), classes=62)
        self.assertRaisesRegex(ValueError, "client 2", ask, app, clients="0-1")
        self.assertRaisesRegex(ValueError, "Array 'job'", ask, app, content=protocol.question())
        self.assertRaisesRegex(subfleet.Error, "not one of Subfleet's", ask, app, content=protocol.JOB.pack(b"no job at all"))


class Grid:
    """Nodes that answer at once with what a test says: an introduction, or anything else."""

    def __init__(self, answers: dict):
        self.answers, self.sent, self.lock = answers, {}, threading.Lock()

    def get_node_ids(self):
        return list(self.answers)

    def push_messages(self, messages):
        ids = []
        for message in messages:
            with self.lock:
                ids.append(f"message-{len(self.sent)}")
                message.metadata.__dict__["_message_id"] = ids[-1]
                self.sent[ids[-1]] = message
        return ids

    def pull_messages(self, ids):
        replies = []
        for name in ids:
            message = self.sent[name]
            answer = self.answers[message.metadata.dst_node_id]
            answer = answer(message) if callable(answer) else answer
            if isinstance(answer, Exception):
                raise answer
            if isinstance(answer, Error):
                replies.append(Message(answer, reply_to=message))
            elif answer is not None:
                replies.append(Message(answer, reply_to=message))
        return replies


def introduction(*clients, classes=62, input=(1, 28, 28)) -> RecordDict:
    return protocol.introduction(version="test", clients=clients, classes=classes, input=input, examples=[1])


class Numbers(unittest.TestCase):
    def nodes(self, answers: dict, clients: int = 4) -> Nodes:
        self.said, self.grid = [], Grid(answers)
        found = Nodes(self.grid, clients=clients, input=(1, 28, 28), classes=62, say=self.said.append)
        self.addCleanup(found.__exit__)
        return found

    def eventually(self, what, condition):
        superlink.wait_for(what, 20, condition)

    def test_nodes_without_a_number_get_free_ones_and_lost_ones_are_forgotten(self):
        nodes = self.nodes({11: introduction(0, 1), 12: introduction()})
        nodes.wait_for(3)
        self.assertEqual([nodes.node_of(0), nodes.node_of(1), nodes.node_of(3)], [11, 11, None])
        self.assertIn(12, [nodes.node_of(0), nodes.node_of(2)])
        self.grid.answers[13] = introduction(0, 1)
        nodes.wait_for(3)
        self.eventually("13", lambda: 13 in nodes._nodes and nodes._nodes[13].known)
        del self.grid.answers[11]
        self.eventually("that 13 has the clients of 11", lambda: (nodes.node_of(0), nodes.node_of(1)) == (13, 13))

    def test_nodes_that_do_not_fit_or_make_no_sense_are_left_out(self):
        bad = {
            1: introduction(9),  # the federation has 4
            2: introduction(0, classes=63),
            3: introduction(1, input=(3, 32, 32)),
            4: protocol.JOB.pack(b"?"),
            5: Error(2, "no such message"),
            6: ValueError("an Array that is none"),
            8: introduction(0),
            9: introduction(1),
        }
        bad[8]["subfleet"]["format"] = protocol.FORMAT + 1
        del bad[9]["subfleet"]["format"]
        nodes = self.nodes({**bad, 7: introduction(2)})
        nodes.wait_for(1)
        for number in bad:
            self.eventually(f"node {number} to be left out", lambda n=number: any(f"node {n} is left out: " in line for line in self.said))
        self.assertEqual([nodes.node_of(client) for client in range(4)], [None, None, 7, None])
        for number, says in ((8, "of a newer node; .* update the server"), (9, "of an older node; .* update the node")):
            self.assertTrue(any(re.search(f"node {number} .*{says}", line) for line in self.said), self.said)

    def test_a_transport_gives_every_job_what_its_node_answered(self):
        def answer(message):
            return introduction(message.metadata.dst_node_id - 1) if message.metadata.message_type == "query" else reply_of[
                message.metadata.dst_node_id]  # fmt: skip

        reply_of = {1: protocol.UPDATE.pack(b"bytes"), 2: Error(2, "no\nmemory"), 3: Error(5, "node unavailable"), 4: None}
        nodes = self.nodes({node: answer for node in reply_of}, clients=5)
        nodes.wait_for(4)
        said = []
        transport = FlowerTransport(self.grid, deadline=60.0, say=said.append)
        transport.nodes = nodes
        for client in range(5):
            transport.send(10 + client, "train", client, b"job")
        arrived = [transport.next(10) for _ in range(4)]
        self.assertNotIn(None, arrived)
        self.assertIsNone(transport.next(0))
        transport.on_result(11, "rejected", "why")
        self.assertEqual(said, ["client 1 of node 2: rejected: why"])
        moved = [transport.close(10 + client) for client in range(5)]
        self.assertEqual(moved[4], (0, 0), "no node has client 4")
        self.assertGreater(moved[0][1], moved[3][1], "client 0 answered, client 3 did not")

    def test_a_message_is_in_memory_only_until_it_was_pushed(self):
        nodes = self.nodes({1: introduction(0)}, clients=1)
        nodes.wait_for(1)
        self.grid.answers[1] = None  # no reply to anything from now on
        push = self.grid.push_messages

        def forgetful_push(messages):  # as Flower's grid does, which sends and forgets
            ids = push(messages)
            self.grid.sent[ids[0]] = Message(RecordDict(), dst_node_id=1, message_type="train")
            return ids

        self.grid.push_messages = forgetful_push
        transport = FlowerTransport(self.grid, deadline=60.0, say=self.said.append)
        transport.nodes = nodes

        size = 50_000_000
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        transport.send(0, "train", 0, bytes(size))
        self.eventually("the message to be forgotten", lambda: tracemalloc.get_traced_memory()[0] < size // 2)
        self.assertGreater(tracemalloc.get_traced_memory()[1], size)
        self.assertIsNone(transport.next(0), "its thread still waits for the reply")
        transport.close(0)

    def test_sending_waits_no_longer_than_the_deadline(self):
        nodes = self.nodes({1: introduction(0)}, clients=1)
        nodes.wait_for(1)
        hang = threading.Event()
        self.addCleanup(hang.set)
        self.grid.push_messages = lambda messages: hang.wait() and [""] * len(messages)
        transport = FlowerTransport(self.grid, deadline=0.5, say=self.said.append)
        transport.nodes = nodes
        start = time.monotonic()
        for number in range(8):
            transport.send(number, "train", 0, b"job")
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual([transport.close(number) for number in range(4, 8)], [(0, 0)] * 4, "they were not sent")

    def test_what_a_reply_cannot_be_is_said_in_one_line(self):
        grid = Grid({1: ValueError("two\nlines"), 2: Error(2, "a reason"), 3: Error(5, "gone"), 4: None})
        closed = threading.Event()

        def pull(node):
            (name,) = grid.push_messages([Message(protocol.question(), dst_node_id=node, message_type="query")])
            return pull_reply(grid, name, closed, 0.3)

        self.assertRaisesRegex(BadReply, "^the reply cannot be read: ValueError: two lines$", pull, 1)
        self.assertRaisesRegex(BadReply, "^it says: a reason$", pull, 2)
        self.assertRaisesRegex(NodeLost, "gone", pull, 3)
        self.assertIsNone(pull(4))


class Server(unittest.TestCase):
    def test_wrong_requests_are_one_line(self):
        for config, words in (
            ({}, "out: the run's folder is missing"),
            ({"out": "/tmp/none", "set": "code.keep"}, "is not key=value"),
            ({"out": "/tmp/none", "code.famly": "gold"}, "nearest: code.family"),
            ({"out": "/tmp/none", "test": False}, "clients: must be given if the server has no data"),
        ):
            with self.assertRaises(subfleet.RequestError) as raised:
                serve(Grid({}), config)
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))


class Pulls(unittest.TestCase):
    """Whatever decorates Flower's function, before the limit or after it, is called once, with the last limit."""

    def setUp(self):
        self.flowers_own = http_grid.pull_objects
        self.seen = []

        def pull_objects(*args, pull_object_fn, **more):
            self.seen.append(("pull", more["max_time"]))
            return {"a": pull_object_fn("a")}

        http_grid.pull_objects = pull_objects

    def tearDown(self):
        http_grid.pull_objects = self.flowers_own

    def decorate(self, word: str):
        pull = http_grid.pull_objects

        @functools.wraps(pull)
        def decorated(*args, **more):
            self.seen.append((word, None))
            return pull(*args, **more)

        http_grid.pull_objects = decorated

    def test_decorators_stay_and_the_last_limit_holds(self):
        self.decorate("before")
        limit_object_pulls(5)
        self.decorate("after")
        limit_object_pulls(7)
        self.assertEqual(http_grid.pull_objects(["a"], pull_object_fn=str.upper), {"a": "A"})
        self.assertEqual(self.seen, [("after", None), ("before", None), ("pull", 7)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
