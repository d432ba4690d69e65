"""What moves between the SuperLink and a node for one job, in bytes.

A message travels as objects, each in an HTTP request of its own: Message, RecordDict, ArrayRecord, Array, and the payload
in chunks. A node pulls the list of its messages, then every object, and confirms; it pushes the reply's list, then every
object. What a request and its response have around the payload was counted at the socket of `subfleet node` (a counting
proxy, tests/flower): nearly all of it is the node's signature and public key, which go up, also when a job comes down.
Asking in vain and heartbeats belong to no job and are not counted: about a kilobyte per question.
"""

from typing import Optional

_CHUNK = 5 * 1024 * 1024  # Flower's
_REQUEST = 890  # bytes up, around a payload or without one
_RESPONSE = 256  # bytes down


def _objects(payload: int) -> int:
    return 4 + max(1, -(-payload // _CHUNK))


def of_job(job: int, update: Optional[int]) -> tuple:
    """Bytes down and up for payloads of these sizes; no update: none was sent."""
    requests = 2 + _objects(job)
    if update is not None:
        requests += 1 + _objects(update)
    return job + requests * _RESPONSE, (update or 0) + requests * _REQUEST


def of_introduction() -> tuple:
    """Bytes down and up for a question and its answer, three objects each."""
    requests = 3 + 2 * 3
    return requests * _RESPONSE, requests * _REQUEST
