"""A TCP proxy that counts what passes, for what rounds.jsonl says of bytes."""

import socket
import threading


class CountingProxy:
    """Listens at .address and passes everything on. `down` and `up` count bytes to and from whoever connects here."""

    def __init__(self, target: str):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.down = self.up = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self.target)
            except OSError:
                near.close()
                continue
            threading.Thread(target=self._pass, args=(near, far, "up"), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, "down"), daemon=True).start()

    def _pass(self, source, sink, way: str):
        try:
            while data := source.recv(1 << 16):
                with self.lock:
                    setattr(self, way, getattr(self, way) + len(data))
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
