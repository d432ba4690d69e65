"""A real SuperLink for tests, with runs of the example app on it. Everything lives in one folder and ends with it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "python" / "examples" / "flower_app"
BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(what: str, done, seconds: float = 60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = done()
        if result:
            return result
        time.sleep(0.05)
    raise TimeoutError(f"{what} took more than {seconds} s")


class Federation:
    """`with Federation(folder) as federation:` has a SuperLink that listens at federation.address."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.processes: list = []
        self.superlink = None
        self.env = dict(
            os.environ,
            PATH=f"{BIN}:{os.environ['PATH']}",
            FLWR_HOME=str(self.folder / "flwr"),
            FLWR_TELEMETRY_ENABLED="0",
            FLWR_DISABLE_UPDATE_CHECK="1",
            OMP_NUM_THREADS="1",
        )
        (self.folder / "flwr").mkdir(parents=True)
        (self.folder / "flwr" / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{self.address}"\ninsecure = true\n'
        )

    def __enter__(self):
        self.start_superlink()
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, name: str, command: list) -> subprocess.Popen:
        """A program whose output goes to NAME.log."""
        log = open(self.folder / f"{name}.log", "ab")
        process = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, env=self.env, cwd=self.folder)
        self.processes.append(process)
        return process

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start_superlink(self) -> None:
        before = self.log("superlink").count("startup complete")
        self.superlink = self.start(
            "superlink",
            [BIN / "flower-superlink", "--insecure", "--disable-runtime-dependency-installation",
             "--port", self.port, "--database", self.folder / "state.db"],
        )  # fmt: skip
        wait_until("the SuperLink's start", lambda: self.log("superlink").count("startup complete") > before)

    def kill_superlink(self) -> None:
        self.superlink.kill()
        self.superlink.wait()

    def serverapp(self):
        """The ServerApp's process, if there is one."""
        found = subprocess.run(["pgrep", "-f", f"flwr-serverapp.*{self.port}"], capture_output=True, text=True)
        return int(found.stdout.split()[0]) if found.stdout.split() else None

    def submit(self, out: Path, app: Path = APP, **settings) -> int:
        """Starts a run and returns its number. Names are written with __ for a dot."""
        values = {"out": str(out), **{k.replace("__", "."): v for k, v in settings.items()}}
        config = " ".join(f"{key}={json.dumps(value)}" for key, value in values.items())
        done = subprocess.run(
            [BIN / "flwr", "run", app, "here", "--format", "json", "-c", config],
            capture_output=True, text=True, env=self.env, cwd=self.folder, timeout=60,
        )  # fmt: skip
        found = re.search(r'"run-id": "?(\d+)', done.stdout)
        if not found:
            raise RuntimeError(f"flwr run: {done.stdout} {done.stderr}")
        return int(found.group(1))

    def status(self, run: int) -> str:
        done = subprocess.run(
            [BIN / "flwr", "list", "here", "--run-id", str(run), "--format", "json"],
            capture_output=True, text=True, env=self.env, cwd=self.folder, timeout=60,
        )  # fmt: skip
        found = re.search(r'"status": "([^"]+)"', done.stdout)
        return found.group(1) if found else "unknown"

    def output(self, run: int) -> str:
        done = subprocess.run(
            [BIN / "flwr", "log", str(run), "here", "--show"],
            capture_output=True, text=True, env=self.env, cwd=self.folder, timeout=60,
        )  # fmt: skip
        return done.stdout + done.stderr

    def wait_for(self, run: int, what: str, done, seconds: float) -> None:
        """wait_until(), with what the run has said where that fails."""
        try:
            wait_until(what, done, seconds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.output(run)[-4000:]}\n{self.log('superlink')[-4000:]}") from None

    def run(self, out: Path, seconds: float, **settings) -> str:
        """Runs the app to its end and returns what it said."""
        number = self.submit(out, **settings)
        self.wait_for(number, f"run {number}", lambda: self.status(number).startswith("finished"), seconds)
        status, said = self.status(number), self.output(number)
        if status != "finished:completed":
            raise RuntimeError(f"{status}\n{said}\n{self.log('superlink')[-3000:]}")
        return said
