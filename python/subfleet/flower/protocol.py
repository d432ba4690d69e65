"""What Subfleet's messages look like inside Flower's: one Array of bytes each, so that a message has the fewest
objects. Whoever reads one believes nothing of it."""

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict

PROTOCOL = 1
RECORD = "subfleet"


class Malformed(ValueError):
    """A message that is not one of Subfleet's; the text says in one line what is wrong with it."""


class _Payload:
    """One kind of message: the name of its Array, which has the bytes of one C++ message."""

    def __init__(self, name: str):
        self.name = name
        self.stype = f"subfleet.{name}/{PROTOCOL}"

    def pack(self, data: bytes) -> RecordDict:
        return RecordDict({RECORD: ArrayRecord({self.name: Array("uint8", (len(data),), self.stype, data)})})

    def unpack(self, message: Message) -> bytes:
        record = message.content.get(RECORD)
        if not isinstance(record, ArrayRecord) or list(record) != [self.name]:
            raise Malformed(f"a message without the record '{RECORD}' of one Array '{self.name}'")
        array = record[self.name]
        if array.stype != self.stype:
            raise Malformed(f"an Array of the type '{str(array.stype)[:40]}'; '{self.stype}' is wanted")
        if not isinstance(array.data, bytes):
            raise Malformed("an Array without bytes")
        return array.data


JOB = _Payload("job")
UPDATE = _Payload("update")


def question() -> RecordDict:
    """Who are you? Sent to every node that turns up."""
    return RecordDict({RECORD: ConfigRecord({"protocol": PROTOCOL})})


def introduction(*, version: str, clients: list, classes: int, input: tuple, examples: list) -> RecordDict:
    """The answer. No clients: one, and any number will do."""
    return RecordDict(
        {
            RECORD: ConfigRecord(
                {
                    "protocol": PROTOCOL,
                    "version": version,
                    "clients": list(clients),
                    "classes": classes,
                    "input": list(input),
                    "examples": list(examples),
                }
            )
        }
    )


def read_introduction(message: Message) -> ConfigRecord:
    """An introduction whose fields have the right types; what they say has to be looked at."""
    record = message.content.get(RECORD)
    if not isinstance(record, ConfigRecord):
        raise Malformed(f"an introduction without the record '{RECORD}'")
    if record.get("protocol") != PROTOCOL:
        raise Malformed(f"it speaks protocol {str(record.get('protocol'))[:20]}; {PROTOCOL} is spoken here")

    def whole(value):
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0

    for name, length in (("clients", None), ("input", 3), ("examples", None)):
        value = record.get(name)
        if not isinstance(value, list) or not all(map(whole, value)) or length not in (None, len(value)):
            raise Malformed(f"an introduction in which '{name}' is not a list of numbers")
    if not whole(record.get("classes")):
        raise Malformed("an introduction in which 'classes' is not a number")
    return record
