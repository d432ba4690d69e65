"""Subfleet's jobs as messages of Flower's grid."""

import queue
import threading
import time
from dataclasses import dataclass
from typing import Callable, Optional

from flwr.app import Message, MessageType

from .._core import Arrival
from . import protocol, traffic
from .nodes import Nodes
from .replies import BadReply, NodeLost, line, pull_reply, seconds_after_objects

_PUSHED_AT_ONCE = 4  # so many jobs are in memory at a time
_A_DAY = 86400.0
_UPLOAD = 3.0  # seconds that an upload may take at the end of a round and be late; later it is unfinished


@dataclass
class _Job:
    client: int
    node: Optional[int]
    job: Optional[int] = None  # bytes of the payloads that were sent and received
    update: Optional[int] = None
    thread: Optional[threading.Thread] = None


class _Round:
    """The jobs since the last finish(). Threads of a round that is over talk to nobody."""

    def __init__(self):
        self.jobs: list = []
        self.arrivals: queue.Queue = queue.Queue()
        self.closed = threading.Event()
        self.begun = 0.0


class FlowerTransport:
    """What a RemoteFleet wants of a transport, over a grid: each job has a thread that pushes it, waits for its reply
    alone and hands that on. A reply can hold up its own thread only."""

    def __init__(self, grid, *, deadline: float, say: Callable[[str], None]):
        self._grid, self._say = grid, say
        self.nodes: Optional[Nodes] = None  # before the first round
        self._seconds = deadline if deadline > 0 else _A_DAY
        self._pushing = threading.Semaphore(_PUSHED_AT_ONCE)
        self._round = _Round()

    def send(self, client: int, row: int, job: bytes) -> None:
        number = len(self._round.jobs)
        if number == 0:
            self._round.begun = time.monotonic()
        node = self.nodes.node_of(client)
        self._round.jobs.append(_Job(client, node))
        if node is None:
            self._round.arrivals.put(Arrival.lost(number, "no node has this client"))
            return
        self._pushing.acquire()
        thread = threading.Thread(
            target=self._exchange, args=(self._round, number, job), daemon=True, name=f"client {client}"
        )
        self._round.jobs[number].thread = thread
        thread.start()

    def next(self, seconds: float) -> Optional[Arrival]:
        try:
            return self._round.arrivals.get(timeout=seconds) if seconds > 0 else self._round.arrivals.get_nowait()
        except queue.Empty:
            return self._unfinished() if seconds == 0 else None

    def _unfinished(self) -> Optional[Arrival]:
        """At the deadline: a job whose answer was announced a while ago, and is not here as a whole."""
        for number, job in enumerate(self._round.jobs):
            if job.thread is not None and seconds_after_objects(job.thread) > _UPLOAD:
                job.thread = None  # it is told once
                return Arrival.refused(number, "its upload was not finished in time")
        return None

    def finish(self) -> list:
        over, self._round = self._round, _Round()
        over.closed.set()
        return [self._moved(job) for job in over.jobs]

    def _moved(self, job: _Job) -> tuple:
        if job.job is None:
            return 0, 0
        down, up = traffic.of_job(job.job, job.update)
        if self.nodes.is_new(job.node):  # its introduction counts with its first job
            introduction = traffic.of_introduction()
            down, up = down + introduction[0], up + introduction[1]
        return down, up

    def on_result(self, number: int, outcome: str, why: str) -> None:
        if outcome != "trained":
            job = self._round.jobs[number]
            self._say(f"client {job.client} of node {job.node}: {outcome}{': ' if why else ''}{why}")

    def _exchange(self, round: _Round, number: int, payload: bytes) -> None:
        try:
            arrival = self._converse(round, number, payload)
            if arrival is not None:
                round.arrivals.put(arrival)
        except NodeLost as error:
            round.arrivals.put(Arrival.lost(number, str(error)))
        except (BadReply, protocol.Malformed) as error:
            round.arrivals.put(Arrival.refused(number, str(error)))
        except Exception as error:
            round.arrivals.put(Arrival.lost(number, line(f"{type(error).__name__}: {error}")))

    def _converse(self, round: _Round, number: int, payload: bytes) -> Optional[Arrival]:
        job = round.jobs[number]
        left = self._seconds - (time.monotonic() - round.begun)
        try:
            if left <= 0:
                return None
            job.job = len(payload)
            message = Message(protocol.JOB.pack(payload), job.node, MessageType.TRAIN, ttl=left)
            (message_id,) = self._grid.push_messages([message])
        finally:
            del payload
            self._pushing.release()
        if not message_id:
            raise NodeLost("the SuperLink does not take messages for its node")
        del message
        reply = pull_reply(self._grid, message_id, round.closed, left)
        if reply is None:
            return None
        update = protocol.UPDATE.unpack(reply)
        job.update = len(update)
        return Arrival.reply(number, update)
