"""Nodes that are threads of this process and speak the Fleet API by themselves: HTTP, protobuf and SHA-256, nothing of
Flower's own node. They can be good, and bad in every way that a node can be."""

import base64
import datetime
import hashlib
import http.client
import json
import struct
import threading
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from flwr.proto import fleet_pb2, heartbeat_pb2, message_pb2, node_pb2, recorddict_pb2
from subfleet._core import MESSAGE_FORMAT

CHUNK = 5 * 1024 * 1024
PROTOCOL = 1

# What a bad node can do with a job; "vanish" is no answer at all.
GARBAGE = ["garbage", "nan", "shape", "examples", "hash", "unfinished", "array", "error", "row"]


class _Objects:
    """The objects of one message, by their ids."""

    def __init__(self):
        self.all = {}

    def put(self, kind: str, children: list, body: bytes) -> str:
        content = f"{kind} {','.join(children)} {len(body)}".encode() + b"\0" + body
        name = hashlib.sha256(content).hexdigest()
        self.all[name] = content
        return name


def _read(content: bytes):
    head, _, body = content.partition(b"\0")
    kind, children, length = head.decode().split(" ")
    assert len(body) == int(length)
    return kind, children.split(",") if children else [], body


class Peer(threading.Thread):
    """One node. `answer(job_bytes, behaviour)` is called for a job; `behave(job_number)` says how to treat it."""

    def __init__(self, address: str, *, clients: list, examples: list, classes: int, input: list, run_job, behave=None,
                 poll: float = 0.1, heartbeat: float = 30.0):  # fmt: skip
        super().__init__(daemon=True)
        self.host, port = address.rsplit(":", 1)
        self.port, self.poll, self.heartbeat = int(port), poll, heartbeat
        self.introduction = {"clients": clients, "examples": examples, "classes": classes, "input": input}
        self.run_job, self.behave = run_job, behave or (lambda number: "good")
        self.key = ec.generate_private_key(ec.SECP384R1())
        self.public = self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.connection = None
        self.node = None
        self.stopped = threading.Event()
        self.jobs = 0
        self.beaten = 0.0

    def stop(self):
        self.stopped.set()

    def run(self):
        while not self.stopped.is_set():
            try:
                if self.node is None:
                    self._join()
                if time.monotonic() - self.beaten > self.heartbeat * 0.6:
                    self._beat()
                if not self._work():
                    self.stopped.wait(self.poll)
            except (OSError, http.client.HTTPException, RuntimeError):  # a SuperLink that was killed, or refuses
                self.connection = None
                self.stopped.wait(0.3)

    def _call(self, path: str, request, response):
        stamp = datetime.datetime.now(datetime.timezone.utc).isoformat()
        head = {
            "content-type": "application/protobuf",
            "flwr-public-key": base64.b64encode(self.public).decode(),
            "flwr-timestamp": stamp,
            "flwr-signature": base64.b64encode(self.key.sign(stamp.encode(), ec.ECDSA(hashes.SHA256()))).decode(),
        }
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        self.connection.request("POST", f"/v1/fleet/{path}", request.SerializeToString(), head)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {data[:200]!r}")
        return response.FromString(data)

    def _join(self):
        self._call("register-node", fleet_pb2.RegisterNodeFleetRequest(public_key=self.public),
                   fleet_pb2.RegisterNodeFleetResponse)  # fmt: skip
        activated = self._call(
            "activate-node",
            fleet_pb2.ActivateNodeRequest(public_key=self.public, heartbeat_interval=self.heartbeat),
            fleet_pb2.ActivateNodeResponse,
        )
        self.node = node_pb2.Node(node_id=activated.node_id)
        self.beaten = time.monotonic()

    def _beat(self):
        self._call(
            "send-node-heartbeat",
            heartbeat_pb2.SendNodeHeartbeatRequest(node=self.node, heartbeat_interval=self.heartbeat),
            heartbeat_pb2.SendNodeHeartbeatResponse,
        )
        self.beaten = time.monotonic()

    def _work(self) -> bool:
        pulled = self._call("pull-messages", fleet_pb2.PullMessagesRequest(node=self.node), fleet_pb2.PullMessagesResponse)
        if not pulled.messages_list:
            return False
        metadata, tree = pulled.messages_list[0].metadata, pulled.message_object_trees[0]
        objects = self._pull(metadata, tree)
        self._call(
            "confirm-message-received",
            message_pb2.ConfirmMessageReceivedRequest(
                node=self.node, run_id=metadata.run_id, message_object_id=metadata.message_id
            ),
            message_pb2.ConfirmMessageReceivedResponse,
        )
        record = json.loads(_read(objects[_read(objects[tree.object_id])[1][0]])[2])["subfleet"]
        if metadata.message_type == "query":
            self._introduce(metadata)
            return True
        self.jobs += 1
        behaviour = self.behave(self.jobs)
        if behaviour == "vanish":
            return True
        if behaviour == "error":
            self._push(metadata, _Objects(), None, behaviour)
            return True
        array = json.loads(_read(objects[record])[2])["job"]
        _, chunks, meta = _read(objects[array])
        job = b"".join(_read(objects[chunks[i]])[2] for i in json.loads(meta)["arraychunk_ids"])
        self._update(metadata, spoil(self.run_job(job), behaviour), behaviour)
        return True

    def _pull(self, metadata, tree) -> dict:
        objects = {}
        names, pending = [], [tree]
        while pending:
            node = pending.pop()
            names.append(node.object_id)
            pending.extend(node.children)
        for name in dict.fromkeys(names):
            for _ in range(100):
                got = self._call(
                    "pull-object",
                    message_pb2.PullObjectRequest(node=self.node, run_id=metadata.run_id, object_id=name),
                    message_pb2.PullObjectResponse,
                )
                if got.object_available:
                    break
                time.sleep(0.05)
            else:
                raise RuntimeError("whoever sent the message was killed before it had sent all of it")
            objects[name] = got.object_content
        return objects

    def _introduce(self, metadata):
        record = recorddict_pb2.ConfigRecord()

        def put(key):
            item = record.items.add()
            item.key = key
            return item.value

        put("protocol").sint64 = PROTOCOL
        put("format").sint64 = MESSAGE_FORMAT  # whoever runs the jobs is of the package
        put("version").string = "peer"
        put("classes").sint64 = self.introduction["classes"]
        for key in ("clients", "input", "examples"):
            value = put(key)
            value.sint_list.SetInParent()
            value.sint_list.vals.extend(self.introduction[key])
        out = _Objects()
        name = out.put("ConfigRecord", [], record.SerializeToString())
        self._push(metadata, out, [name, []], "good")

    def _update(self, metadata, update: bytes, behaviour: str):
        out = _Objects()
        pieces = [update[i : i + CHUNK] for i in range(0, len(update), CHUNK)] or [b""]
        ids = [out.put("ArrayChunk", [], piece) for piece in pieces]
        unique = list(dict.fromkeys(ids))
        where = [unique.index(i) for i in ids] if behaviour != "array" else [77]
        meta = {"dtype": "uint8", "shape": [len(update)], "stype": "subfleet.update/1", "arraychunk_ids": where}
        array = out.put("Array", unique, json.dumps(meta).encode())
        record = out.put("ArrayRecord", [array], json.dumps({"update": array}).encode())
        self._push(metadata, out, [record, [[array, [[u, []] for u in unique]]]], behaviour)

    def _push(self, metadata, out: _Objects, record, behaviour: str):
        def tree(name, children):
            return message_pb2.ObjectTree(object_id=name, children=[tree(*child) for child in children])

        reply = message_pb2.Message()
        m = reply.metadata
        m.run_id, m.src_node_id, m.dst_node_id = metadata.run_id, self.node.node_id, metadata.src_node_id
        m.reply_to_message_id, m.group_id = metadata.message_id, metadata.group_id
        m.message_type, m.created_at = metadata.message_type, time.time()
        m.ttl = metadata.created_at + metadata.ttl - m.created_at
        if metadata.HasField("src_task_id"):
            m.dst_task_id = metadata.src_task_id
        if metadata.HasField("dst_task_id"):
            m.src_task_id = metadata.dst_task_id
        children = []
        if record is None:
            reply.error.code, reply.error.reason = 2, "the node cannot do this job"
            name = out.put("Message", [], reply.SerializeToString(deterministic=True))
        else:
            dictionary = out.put("RecordDict", [record[0]], json.dumps({"subfleet": record[0]}).encode())
            name = out.put("Message", [dictionary], reply.SerializeToString(deterministic=True))
            reply.content.SetInParent()
            children = [[dictionary, [record]]]
        m.message_id = name
        pushed = self._call(
            "push-messages",
            fleet_pb2.PushMessagesRequest(
                node=self.node, messages_list=[reply], message_object_trees=[tree(name, children)],
                clientapp_runtime_list=[0.01],
            ),
            fleet_pb2.PushMessagesResponse,
        )  # fmt: skip
        wanted = list(pushed.objects_to_push)
        if behaviour == "unfinished":
            wanted = wanted[: len(wanted) // 2]
        for name in wanted:
            content = out.all[name] + b"x" if behaviour == "hash" else out.all[name]
            self._call(
                "push-object",
                message_pb2.PushObjectRequest(
                    node=self.node, run_id=metadata.run_id, object_id=name, object_content=content,
                    session_id=pushed.session_id,
                ),
                message_pb2.PushObjectResponse,
            )  # fmt: skip


def spoil(update: bytes, behaviour: str) -> bytes:
    """An update as a bad node sends it. The layout: magic, draw, row, examples (4 bytes each), loss, accuracy (8), the
    length (8) and the bytes of the update."""
    head = 40
    if behaviour == "garbage":
        return bytes(range(256)) * 16
    if behaviour == "nan":
        return update[:head] + struct.pack("<f", float("nan")) * ((len(update) - head) // 4)
    if behaviour == "shape":
        return update[:32] + struct.pack("<Q", len(update) - head - 4) + update[head:-4]
    if behaviour == "examples":
        return update[:12] + struct.pack("<I", 4_000_000_000) + update[16:]
    if behaviour == "row":
        return update[:8] + struct.pack("<I", 10**6) + update[12:]
    return update
