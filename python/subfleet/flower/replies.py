"""Pulling one reply, whatever its sender has done to it."""

import functools
import math
import threading
import time
from typing import Optional

import httpx
from flwr.app import Message
from flwr.common.constant import ErrorCode
from flwr.supercore.inflatable.inflatable_utils import ObjectPullError


class BadReply(Exception):
    """An answer came, and it is of no use."""


class NodeLost(Exception):
    """No answer will come."""


# Flower's own errors that mean silence; the others have the node's words.
_LOST = {ErrorCode.MESSAGE_UNAVAILABLE, ErrorCode.REPLY_MESSAGE_UNAVAILABLE, ErrorCode.NODE_UNAVAILABLE}


_limits = {"initial_backoff": 0.05, "backoff_cap": 0.5}


def limit_object_pulls(seconds: float) -> None:
    """Makes the grid give up after so many seconds on a reply whose upload was never finished, or when nobody waits for
    it any longer, and look for the rest of one every half second. Flower itself waits for three minutes, and its threads
    keep the process from ending."""
    from flwr.superlink.grid import http_grid

    _limits["max_time"] = seconds
    if hasattr(http_grid.pull_objects, "limited_by_subfleet"):  # itself, or below a decorator that has wrapped it
        return
    pull = http_grid.pull_objects

    @functools.wraps(pull)
    def limited(*args, pull_object_fn, **more):
        thread = threading.current_thread()
        closed = getattr(thread, "closed", threading.Event())

        def pull_one(name: str) -> bytes:
            if closed.is_set():
                raise ObjectPullError(name, "nobody waits for it")
            return pull_object_fn(name)

        thread.pulling_since = time.monotonic()
        try:
            return pull(*args, pull_object_fn=pull_one, **{**more, **_limits})
        finally:
            thread.pulling_since = math.inf

    limited.limited_by_subfleet = True
    http_grid.pull_objects = limited


def seconds_after_objects(thread: threading.Thread) -> float:
    """How long a thread has been after the objects of a reply that was announced; below 0: it is not."""
    return time.monotonic() - getattr(thread, "pulling_since", math.inf)


_waiting = [0]  # how many threads are in pull_reply()


def pull_reply(grid, message_id: str, closed: threading.Event, seconds: float) -> Optional[Message]:
    """The reply to a message; None if `closed` was set or the time has passed. Only this one message is asked for, so
    that what is wrong with it holds up nobody else. Raises BadReply or NodeLost."""
    _waiting[0] += 1
    threading.current_thread().closed = closed
    try:
        return _pull_reply(grid, message_id, closed, seconds)
    finally:
        _waiting[0] -= 1


def _pull_reply(grid, message_id: str, closed: threading.Event, seconds: float) -> Optional[Message]:
    start = time.monotonic()
    while True:
        waited = time.monotonic() - start
        if waited >= seconds:
            return None
        try:
            replies = list(grid.pull_messages([message_id]))
        except httpx.TransportError:  # the SuperLink is out of reach for a moment
            replies = []
        except Exception as error:
            raise BadReply(f"the reply cannot be read: {type(error).__name__}: {line(error)}") from None
        for reply in replies:
            if reply.metadata.reply_to_message_id != message_id:
                continue
            if not reply.has_error():
                return reply
            if "upload" in (reply.error.reason or ""):
                raise BadReply("its upload was not finished")
            if reply.error.code in _LOST:
                raise NodeLost(line(reply.error.reason))
            raise BadReply(f"it says: {line(reply.error.reason)}")
        # A SuperLink answers one or two hundred requests a second, and nodes need most of them: all threads together ask
        # at most fifty times a second, and each after an eighth of the time that it has waited.
        if closed.wait(min(max(waited / 8, 0.2, _waiting[0] / 50), 3.0)):
            return None


def line(text) -> str:
    """Somebody else's words, on one line."""
    return " ".join(str(text).split())[:200]
