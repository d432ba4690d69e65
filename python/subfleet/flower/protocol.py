"""What Subfleet's messages look like inside Flower's: one Array of bytes each, so that a message has the fewest
objects. Whoever reads one believes nothing of it."""

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict

from .. import _core

PROTOCOL = 1
FORMAT = _core.MESSAGE_FORMAT  # of the bytes in the Arrays
RECORD = "subfleet"


class Malformed(ValueError):
    """A message that is not one of Subfleet's; the text says in one line what is wrong with it."""


def _check_peer(what: str, number: int, ours: int, reader: str) -> None:
    """Refuses another version of Subfleet, in a line that says who must update."""
    try:
        _core.check_peer(what, number, ours, "server" if reader == "node" else "node", reader)
    except _core.Error as error:
        raise Malformed(str(error)) from None


class _Payload:
    """One kind of message: the name of its Array, which has the bytes of one C++ message, and who reads it."""

    def __init__(self, name: str, reader: str):
        self.name, self.reader = name, reader
        self.stype = f"subfleet.{name}/{PROTOCOL}"

    def pack(self, data: bytes) -> RecordDict:
        return RecordDict({RECORD: ArrayRecord({self.name: Array("uint8", (len(data),), self.stype, data)})})

    def unpack(self, message: Message) -> bytes:
        record = message.content.get(RECORD)
        if not isinstance(record, ArrayRecord) or list(record) != [self.name]:
            raise Malformed(f"a message without the record '{RECORD}' of one Array '{self.name}'")
        array = record[self.name]
        if array.stype != self.stype:
            kind, _, number = str(array.stype).rpartition("/")
            if kind == f"subfleet.{self.name}" and number.isdecimal() and len(number) < 10:
                _check_peer("protocol", int(number), PROTOCOL, self.reader)
            raise Malformed(f"an Array of the type '{str(array.stype)[:40]}'; '{self.stype}' is wanted")
        if not isinstance(array.data, bytes):
            raise Malformed("an Array without bytes")
        return array.data


JOB = _Payload("job", "node")
UPDATE = _Payload("update", "server")


def question() -> RecordDict:
    """Who are you? Sent to every node that turns up."""
    return RecordDict({RECORD: ConfigRecord({"protocol": PROTOCOL, "format": FORMAT})})


def introduction(*, version: str, clients: list, classes: int, input: tuple, examples: list) -> RecordDict:
    """The answer. No clients: one, and any number will do."""
    return RecordDict(
        {
            RECORD: ConfigRecord(
                {
                    "protocol": PROTOCOL,
                    "format": FORMAT,
                    "version": version,
                    "clients": list(clients),
                    "classes": classes,
                    "input": list(input),
                    "examples": list(examples),
                }
            )
        }
    )


def _whole(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _read(message: Message, what: str, reader: str) -> ConfigRecord:
    record = message.content.get(RECORD)
    if not isinstance(record, ConfigRecord):
        raise Malformed(f"{what} without the record '{RECORD}'")
    # Before format 2, nobody named it.
    for key, number, ours in (("protocol", record.get("protocol"), PROTOCOL), ("format", record.get("format", 1), FORMAT)):
        if not _whole(number):
            raise Malformed(f"{what} in which '{key}' is not a number")
        _check_peer(key, number, ours, reader)
    return record


def read_question(message: Message) -> None:
    """Raises Malformed unless the server speaks as this node does."""
    _read(message, "a question", "node")


def read_introduction(message: Message) -> ConfigRecord:
    """An introduction whose fields have the right types; what they say has to be looked at."""
    record = _read(message, "an introduction", "server")
    for name, length in (("clients", None), ("input", 3), ("examples", None)):
        value = record.get(name)
        if not isinstance(value, list) or not all(map(_whole, value)) or length not in (None, len(value)):
            raise Malformed(f"an introduction in which '{name}' is not a list of numbers")
    if not _whole(record.get("classes")):
        raise Malformed("an introduction in which 'classes' is not a number")
    return record
