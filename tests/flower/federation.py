"""A SuperLink with nodes and with runs of the example app on it, for tests of the server's side."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import superlink

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "python" / "examples" / "flower_app"


class Federation(superlink.SuperLink):
    """`with Federation(folder) as federation:` has a SuperLink that listens at federation.address."""

    def __init__(self, folder: Path):
        super().__init__(folder, database=True)
        self.env["OMP_NUM_THREADS"] = "1"
        self.started: list = []

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.wait()
        super().__exit__()

    def program(self, name: str, command: list) -> subprocess.Popen:
        """Starts a program, a node for instance, whose output goes to NAME.log."""
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env=self.env, cwd=self.folder)
        self.started.append(process)
        return process

    def kill_serverapp(self) -> None:
        """As a power cut does."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(b"flwr-serverapp" in word for word in words) and any(str(self.port).encode() in word for word in words):
                os.kill(int(process.name), signal.SIGKILL)

    def submit(self, out: Path, settings: dict, app: Path = APP) -> int:
        """Starts a run and returns its number."""
        config = " ".join(f"{key}={json.dumps(value)}" for key, value in {"out": str(out), **settings}.items())
        said = self.flwr("run", app, "here", "--format", "json", "-c", config)
        found = re.search(r'"run-id": "?(\d+)', said)
        assert found, f"flwr run: {said}"
        return int(found.group(1))

    def status(self, run: int) -> str:
        """"running", "finished:completed"..."""
        found = re.search(r'"status": "([^"]+)"', self.flwr("list", "here", "--run-id", run, "--format", "json"))
        return found.group(1) if found else "unknown"

    def output(self, run: int) -> str:
        return self.flwr("log", run, "here", "--show")

    def wait_for(self, run: int, what: str, seconds: float, condition) -> None:
        """Waits, and says what the run has said where that is in vain."""
        try:
            superlink.wait_for(what, seconds, condition)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output(run)[-4000:]}\n{self.log()[-4000:]}") from None

    def train(self, out: Path, settings: dict, seconds: float, app: Path = APP) -> str:
        """Runs the app to its end and returns what it said."""
        run = self.submit(out, settings, app)
        # The log has the word when the ServerApp has; asking the SuperLink costs two seconds of CPU.
        ended = re.compile(rf"Finished task \d+ of run {run}\b")
        self.wait_for(run, f"the end of run {run}", seconds, lambda: ended.search(self.log()))
        status, said = self.status(run), self.output(run)
        assert status == "finished:completed", f"{status}\n{said}\n{self.log()[-3000:]}"
        return said
