"""A proxy between nodes and a SuperLink that counts every byte that passes, by the path of its HTTP request."""

import socket
import threading

IDLE = ("pull-messages (none)", "send-node-heartbeat")  # what belongs to no job


class CountingProxy:
    """Listens at .address and passes everything on. `counts` has, by what was asked for, [requests, bytes down, bytes
    up], as seen by whoever connects here."""

    def __init__(self, target: str):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.counts: dict = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def moved(self) -> tuple:
        """Bytes down and up, but for what is idle; and these."""
        with self.lock:
            busy = [c for what, c in self.counts.items() if what not in IDLE]
            idle = [c for what, c in self.counts.items() if what in IDLE]
        return tuple(sum(c[way] for c in some) for some in (busy, idle) for way in (1, 2))

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        """Requests and responses of one connection, which take turns."""
        try:
            with near, socket.create_connection(self.target) as far:
                while True:
                    up, head, _ = _pass_one(near, far)
                    down, _, body = _pass_one(far, near)
                    what = head.split(b" ")[1].decode().rsplit("/", 1)[-1]
                    if what == "pull-messages" and body == 0:
                        what += " (none)"
                    with self.lock:
                        count = self.counts.setdefault(what, [0, 0, 0])
                        count[0] += 1
                        count[1] += down
                        count[2] += up
        except (OSError, EOFError, ValueError):
            pass


def _pass_one(source, sink) -> tuple:
    """Passes on one HTTP message; its bytes, its head and the length of its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _some(source)
    head, _, rest = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    sink.sendall(data)
    passed = len(rest)
    while passed < length:
        some = _some(source)
        passed += len(some)
        sink.sendall(some)
    return len(head) + 4 + passed, head, length


def _some(source) -> bytes:
    data = source.recv(1 << 16)
    if not data:
        raise EOFError
    return data
