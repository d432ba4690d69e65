"""What moves between the SuperLink and a node for one message, in bytes."""

_CHUNK = 5 * 1024 * 1024


def _objects(payload: int) -> int:
    """Message, RecordDict, ArrayRecord and Array, and the chunks of the payload."""
    return 4 + max(1, -(-payload // _CHUNK))


def down(payload: int) -> int:
    return payload + 2000 + 1500 * _objects(payload)


def up(payload: int) -> int:
    return payload + 2000 + 1500 * _objects(payload)
