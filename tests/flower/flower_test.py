"""Subfleet on a real SuperLink: the same bits as one process, whoever trains, and the bytes that rounds.jsonl says.
    flower_test.py SUBFLEET     with SUBFLEET_FLWR=a virtual environment that has flwr, and the package on PYTHONPATH"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import superlink

superlink.use_environment()
try:
    import subfleet
except ImportError as error:
    print(f"skipped: {error}; scripts/flower-test builds the package first")
    sys.exit(superlink.SKIP)

from counting_proxy import CountingProxy  # noqa: E402
from federation import Federation  # noqa: E402
from peer import Peer  # noqa: E402

BINARY = Path(sys.argv.pop(1)).absolute()
CLIENTS = 4
SETTINGS = {
    "data.writers": CLIENTS, "round.clients": CLIENTS, "run.eval_every": 1, "run.eval_samples": 100,
    "run.checkpoint_every": 1, "round.deadline": 120.0, "wire.down": "f32", "wire.up": "f32",
}  # fmt: skip


def rounds_of(folder: Path) -> list:
    return [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]


class OnASuperLink(unittest.TestCase):
    """All tests share one SuperLink: starting it costs more than they do."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="flower-test-")
        cls.folder = Path(cls.scratch.name)
        cls.federation = Federation(cls.folder / "federation")
        cls.federation.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.federation.__exit__()
        cls.scratch.cleanup()

    def setUp(self):
        self.nodes = []

    def tearDown(self):
        for stop in self.nodes:
            stop()

    def native(self, first: int, last: int, address: str):
        process = self.federation.program(
            "native", [BINARY, "node", "--superlink", address, "--insecure", "--clients", f"{first}-{last}",
                       "--set", f"data.writers={CLIENTS}"])  # fmt: skip
        self.nodes.append(lambda: (process.terminate(), process.wait(20)))

    def stock(self, client: int, address: str):
        process = self.federation.program(
            "stock", [self.federation.bin / "flower-supernode", "--insecure", "--superlink", address, "--node-config",
                      f'clients="{client}" data.writers={CLIENTS}', "--port", superlink.free_port()])  # fmt: skip
        self.nodes.append(lambda: (process.terminate(), process.wait(20)))

    def raw(self, client: int, address: str):
        runner = subfleet.JobRunner(subfleet.Config({"data.writers": CLIENTS}), clients=(client, client))
        peer = Peer(address, clients=[client], examples=runner.examples, classes=62, input=[1, 28, 28],
                    run_job=runner.run, poll=0.3)  # fmt: skip
        peer.start()
        self.nodes.append(lambda: (peer.stop(), peer.join(20)))

    def run_both(self, name: str, **changes) -> Path:
        """The same settings in one process and over the SuperLink; the models have to be the same."""
        settings = {**SETTINGS, **changes}
        here, there = self.folder / f"{name}-here", self.folder / f"{name}-there"
        assignments = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        subprocess.run([BINARY, "train", "--quiet", "--out", here, *assignments], check=True)
        said = self.federation.train(there, {**settings, "wait-for": CLIENTS}, 240)
        self.assertIn(f"{settings['run.rounds']} rounds are done", said)
        expected, got = rounds_of(here), rounds_of(there)
        for a, b in zip(expected, got, strict=True):
            for key in ("round", "trained", "train_loss", "train_accuracy_quartiles", "test_accuracy", "test_loss"):
                self.assertEqual(a[key], b[key], f"{key} of round {a['round']}")
        self.assertEqual((here / "model.safetensors").read_bytes(), (there / "model.safetensors").read_bytes())
        return there

    def test_native_nodes_have_the_bits_of_one_process_and_the_bytes_of_the_socket(self):
        proxy = CountingProxy(self.federation.address)
        self.native(0, 1, proxy.address)
        self.native(2, 3, proxy.address)
        for down, up in (("f32", "f32"), ("rot4", "rot1")):
            before = proxy.moved()
            out = self.run_both(f"native-{up}", **{
                "model.name": "emnist-cnn", "run.rounds": 2, "wire.down": down, "wire.up": up})  # fmt: skip
            moved = [now - then for now, then in zip(proxy.moved(), before)]
            counted = [sum(r[f"bytes_{way}"] for r in rounds_of(out)) for way in ("down", "up")]
            for way, at_socket, said, idle in zip(("down", "up"), moved, counted, moved[2:]):
                error = (said - at_socket) / at_socket
                print(f"{down}/{up} {way}: {at_socket} at the socket, {said} counted, {100 * error:+.2f} %; "
                      f"{idle} while there was nothing to do")  # fmt: skip
                self.assertLess(abs(error), 0.01, f"{down}/{up} {way}")
        proxy.close()

    def test_native_stock_and_raw_nodes_train_together_with_the_same_bits(self):
        self.native(0, 1, self.federation.address)
        self.stock(2, self.federation.address)
        self.raw(3, self.federation.address)
        self.run_both("mixed", **{"model.name": "emnist-mlp", "run.rounds": 2})


if __name__ == "__main__":
    if subprocess.run([BINARY, "node", "--help"], capture_output=True).returncode != 0:
        print("skipped: this build has no 'subfleet node'")
        sys.exit(superlink.SKIP)
    unittest.main(verbosity=2)
