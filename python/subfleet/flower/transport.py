"""Subfleet's messages as messages of Flower's grid."""

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from flwr.app import Message, MessageType

from .._core import Arrival
from . import protocol, traffic
from .nodes import Nodes
from .replies import BadReply, NodeLost, line, pull_reply, seconds_after_objects

_PUSHED_AT_ONCE = 4  # messages; the next one waits in memory
_A_DAY = 86400.0
_UPLOAD = 3.0  # seconds that an upload may take at the end of a round and be late; later it is unfinished

# By the kind of a message: Flower's type, what it is packed into, and what its reply is.
_KINDS = {"train": (MessageType.TRAIN, protocol.JOB, protocol.UPDATE)}


@dataclass
class _Sent:
    """A message that is open. When it is closed, its thread talks to nobody."""

    number: int
    kind: str
    client: int
    node: Optional[int]
    closed: threading.Event = field(default_factory=threading.Event)
    down: Optional[int] = None  # bytes of the payloads that were sent and received
    up: Optional[int] = None
    thread: Optional[threading.Thread] = None


class FlowerTransport:
    """What a RemoteFleet wants of a transport, over a grid: each message has a thread that pushes it, waits for its reply
    alone and hands that on. A reply can hold up its own thread only."""

    def __init__(self, grid, *, deadline: float, say: Callable[[str], None]):
        self._grid, self._say = grid, say
        self.nodes: Optional[Nodes] = None  # before the first round
        self._seconds = deadline if deadline > 0 else _A_DAY
        self._begun = 0.0  # when the first of the open messages was sent
        self._pushing = threading.Semaphore(_PUSHED_AT_ONCE)
        self._open: dict = {}  # by number
        self._arrivals: queue.Queue = queue.Queue()

    def _left(self) -> float:
        return self._seconds - (time.monotonic() - self._begun)

    def send(self, number: int, kind: str, client: int, message: bytes) -> None:
        """Waits while too many messages are on their way, until the deadline at most; then it is not sent."""
        if not self._open:
            self._begun = time.monotonic()
        sent = self._open[number] = _Sent(number, kind, client, self.nodes.node_of(client))
        if sent.node is None:
            self._arrivals.put(Arrival.lost(number, "no node has this client"))
            return
        if not self._pushing.acquire(timeout=max(self._left(), 0)):
            return
        # In a list, which the thread empties: a thread keeps its arguments until its end.
        sent.thread = threading.Thread(target=self._exchange, args=(sent, [message]), daemon=True, name=f"client {client}")
        sent.thread.start()

    def next(self, seconds: float) -> Optional[Arrival]:
        try:
            return self._arrivals.get(timeout=seconds) if seconds > 0 else self._arrivals.get_nowait()
        except queue.Empty:
            return self._unfinished() if seconds == 0 else None

    def _unfinished(self) -> Optional[Arrival]:
        """At the deadline: a message whose reply was announced a while ago, and is not here as a whole."""
        for sent in self._open.values():
            if sent.thread is not None and seconds_after_objects(sent.thread) > _UPLOAD:
                sent.thread = None  # it is told once
                return Arrival.refused(sent.number, "its upload was not finished in time")
        return None

    def close(self, number: int) -> tuple:
        """Bytes down and up that moved for the message, of which nothing more is wanted."""
        sent = self._open.pop(number)
        sent.closed.set()
        if sent.down is None:
            return 0, 0
        down, up = traffic.of_job(sent.down, sent.up)
        if self.nodes.is_new(sent.node):  # its introduction counts with its first message
            introduction = traffic.of_introduction()
            down, up = down + introduction[0], up + introduction[1]
        return down, up

    def on_result(self, number: int, outcome: str, why: str) -> None:
        if outcome != "trained":
            sent = self._open[number]
            self._say(f"client {sent.client} of node {sent.node}: {outcome}{': ' if why else ''}{why}")

    def _exchange(self, sent: _Sent, payload: list) -> None:
        try:
            arrival = self._converse(sent, payload)
        except NodeLost as error:
            arrival = Arrival.lost(sent.number, str(error))
        except (BadReply, protocol.Malformed) as error:
            arrival = Arrival.refused(sent.number, str(error))
        except Exception as error:
            arrival = Arrival.lost(sent.number, line(f"{type(error).__name__}: {error}"))
        if arrival is not None and not sent.closed.is_set():
            self._arrivals.put(arrival)

    def _converse(self, sent: _Sent, payload: list) -> Optional[Arrival]:
        _, _, reply_kind = _KINDS[sent.kind]
        left = self._left()
        try:
            message_id = self._push(sent, payload.pop(), left) if left > 0 else None
        finally:
            self._pushing.release()
        if message_id is None:
            return None
        if not message_id:
            raise NodeLost("the SuperLink does not take messages for its node")
        reply = pull_reply(self._grid, message_id, sent.closed, left)
        if reply is None:
            return None
        update = reply_kind.unpack(reply)
        sent.up = len(update)
        return Arrival.reply(sent.number, update)

    def _push(self, sent: _Sent, payload: bytes, seconds: float) -> str:
        """The message's name; empty: it was not taken. Nothing of the payload is kept."""
        flower_type, payload_kind, _ = _KINDS[sent.kind]
        sent.down = len(payload)
        message = Message(payload_kind.pack(payload), sent.node, flower_type, ttl=seconds)
        (message_id,) = self._grid.push_messages([message])
        return message_id or ""
