"""Which node has which client's data."""

import math
import threading
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from flwr.app import Message, MessageType

from . import protocol
from .replies import BadReply, NodeLost, line, pull_reply

_TIME_TO_ANSWER = 60.0  # seconds, after which a node is asked again
_LOOK_EVERY = 1.0


@dataclass
class _Node:
    clients: list = field(default_factory=list)  # the numbers that it said it has
    given: Optional[int] = None  # or, if it said none, the one that it was given
    known: bool = False  # it has introduced itself
    new: bool = True  # and nobody has counted that yet
    asked_at: float = -math.inf


class Nodes:
    """Looks for nodes in a thread of its own, asks each who it is, and knows who has a client's data. A node that says
    no client's number gets a free one, and keeps it while it is there."""

    def __init__(self, grid, *, clients: int, input: tuple, classes: int, say: Callable[[str], None]):
        self._grid, self._clients, self._input, self._classes, self._say = grid, clients, input, classes, say
        self._nodes: dict[int, _Node] = {}
        self._holders: dict[int, list] = {}  # of each client, in the order in which they came
        self._changed = threading.Condition()
        self._closed = threading.Event()
        threading.Thread(target=self._look, daemon=True, name="nodes").start()

    def __enter__(self) -> "Nodes":
        return self

    def __exit__(self, *_) -> None:
        self._closed.set()

    def node_of(self, client: int) -> Optional[int]:
        with self._changed:
            return next(iter(self._holders.get(client, ())), None)

    def is_new(self, node: int) -> bool:
        """Whether this is asked for the first time since the node came."""
        with self._changed:
            entry = self._nodes.get(node)
            new = entry is not None and entry.new
            if new:
                entry.new = False
            return new

    def wait_for(self, clients: int, seconds: float = math.inf) -> None:
        """Returns when so many clients are there, or the time has passed."""
        with self._changed:
            start, said = time.monotonic(), -math.inf
            while len(self._holders) < clients and time.monotonic() - start < seconds:
                if time.monotonic() - said >= 10:
                    self._say(f"waiting for clients: {len(self._holders)} of {clients} are here")
                    said = time.monotonic()
                self._changed.wait(1.0)

    # Everything below runs in threads.

    def _look(self) -> None:
        while not self._closed.is_set():
            try:
                online = set(self._grid.get_node_ids())
            except Exception as error:  # the SuperLink is out of reach for a moment, or for good
                self._say(f"the nodes cannot be listed: {line(error)}")
                online = None
            if online is not None:
                self._update(online)
            self._closed.wait(_LOOK_EVERY)

    def _update(self, online: set) -> None:
        now = time.monotonic()
        with self._changed:
            for gone in set(self._nodes) - online:
                self._forget(gone)
            ask = []
            for node in online:
                entry = self._nodes.setdefault(node, _Node())
                if not entry.known and now - entry.asked_at >= _TIME_TO_ANSWER:
                    entry.asked_at = now
                    ask.append(node)
        for node in ask:
            threading.Thread(target=self._ask, args=(node,), daemon=True, name=f"ask {node}").start()

    def _ask(self, node: int) -> None:
        message = Message(protocol.question(), node, MessageType.QUERY, ttl=_TIME_TO_ANSWER)
        try:
            (message_id,) = self._grid.push_messages([message])
            reply = pull_reply(self._grid, message_id, self._closed, _TIME_TO_ANSWER)
            if reply is None:
                return
            introduction = protocol.read_introduction(reply)
            self._check(introduction)
        except NodeLost:
            return
        except (BadReply, protocol.Malformed) as error:
            self._say(f"node {node} is left out: {error}")
            return
        except Exception as error:
            self._say(f"node {node} cannot be asked: {line(error)}")
            return
        with self._changed:
            entry = self._nodes.get(node)
            if entry is not None and not entry.known:
                entry.known, entry.clients = True, introduction["clients"]
                self._place(node, entry)
                self._changed.notify_all()

    def _check(self, introduction) -> None:
        if tuple(introduction["input"]) != tuple(self._input) or introduction["classes"] > self._classes:
            raise protocol.Malformed(
                f"its data are {introduction['input']} of {introduction['classes']} classes; "
                f"the model takes {list(self._input)} of {self._classes}"
            )
        beyond = [client for client in introduction["clients"] if client >= self._clients]
        if beyond:
            raise protocol.Malformed(f"it has client {beyond[0]}; the federation has {self._clients}")

    def _place(self, node: int, entry: _Node) -> None:
        for client in set(entry.clients):
            self._holders.setdefault(client, []).append(node)
        if not entry.clients:
            free = next((c for c in range(self._clients) if c not in self._holders), None)
            if free is not None:  # otherwise it stands by
                entry.given = free
                self._holders[free] = [node]

    def _forget(self, node: int) -> None:
        del self._nodes[node]
        for client in [c for c, nodes in self._holders.items() if node in nodes]:
            self._holders[client].remove(node)
            if not self._holders[client]:
                del self._holders[client]
        for other, entry in self._nodes.items():  # whoever stands by may have a number now
            if entry.known and not entry.clients and entry.given is None:
                self._place(other, entry)
        self._changed.notify_all()
