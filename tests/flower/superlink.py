"""A stock SuperLink for tests: started from a virtual environment that has flwr, on a free port, with or without TLS, node
keys and a database; killed, started again and cleaned up. SUBFLEET_FLWR names the environment; otherwise it is build/flwr."""
import datetime, ipaddress, os, signal, socket, subprocess, sys, time
from pathlib import Path

SKIP = 77  # how ctest is told that a test was skipped


def environment():
    """The folder of the virtual environment; ends the test as skipped where there is none."""
    folder = Path(os.environ.get("SUBFLEET_FLWR") or Path(__file__).resolve().parents[2] / "build" / "flwr").absolute()
    if not (folder / "bin" / "flower-superlink").exists():
        print(f"skipped: no flwr in '{folder}'; scripts/setup flower makes such an environment, SUBFLEET_FLWR names it")
        sys.exit(SKIP)
    return folder


def use_environment():
    """Goes on in the environment's Python, which has cryptography."""
    python = environment() / "bin" / "python"
    if Path(sys.prefix) != environment():
        os.execv(python, [str(python), *sys.argv])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds, condition):
    end = time.time() + seconds
    while time.time() < end:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for {what}")


def make_certificates(folder, name="server"):
    """A certificate authority, and a certificate for this machine that it has signed: folder/ca.pem, NAME.pem, NAME.key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def write_key(path, key):
        path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                           serialization.NoEncryption()))

    now = datetime.datetime.now(datetime.timezone.utc)
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test authority")])
    authority, server = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())

    def certificate(subject, key, extensions):
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
                   .not_valid_after(now + datetime.timedelta(days=1)))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ca.pem").write_bytes(certificate(issuer, authority, [(x509.BasicConstraints(True, None), True)]))
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    (folder / f"{name}.pem").write_bytes(certificate(subject, server, [(x509.SubjectAlternativeName(names), False)]))
    write_key(folder / f"{name}.key", server)
    return folder / "ca.pem"


def make_key(path):
    """A node's key, as ssh-keygen makes it: PATH and PATH.pub."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    key = ec.generate_private_key(ec.SECP384R1())
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH,
                                       serialization.NoEncryption()))
    Path(f"{path}.pub").write_bytes(key.public_key().public_bytes(serialization.Encoding.OpenSSH,
                                                                  serialization.PublicFormat.OpenSSH) + b"\n")
    return path


class SuperLink:
    """With `with`, so that it and what it started are gone at the end. `keys`: only registered nodes may join, over TLS."""

    def __init__(self, folder, tls=False, keys=False, database=False):
        self.folder, self.port = Path(folder), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca = make_certificates(self.folder) if tls else None
        self.bin = environment() / "bin"
        self.env = dict(os.environ, FLWR_HOME=str(self.folder), FLWR_TELEMETRY_ENABLED="0", FLWR_DISABLE_UPDATE_CHECK="1",
                        PATH=f"{self.bin}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
        secure = f'root-certificates = "{self.ca}"' if tls else "insecure = true"
        (self.folder / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{self.address}"\n{secure}\n')
        self.command = [self.bin / "flower-superlink", "--disable-runtime-dependency-installation",
                        "--port", str(self.port)]
        if tls:
            self.command += ["--ssl-ca-certfile", self.ca, "--ssl-certfile", self.folder / "server.pem",
                             "--ssl-keyfile", self.folder / "server.key"]
        else:
            self.command += ["--insecure"]
        if keys:
            self.command += ["--enable-supernode-auth"]
        if database:
            self.command += ["--database", self.folder / "state.db"]
        self.process, self.sessions = None, []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        for session in self.sessions:  # with what it has started
            try:
                os.killpg(session, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.process:
            self.process.wait()

    def start(self):
        log = (self.folder / "superlink.log").open("ab")
        begin = log.tell()
        self.process = subprocess.Popen([str(word) for word in self.command], stdout=log, stderr=subprocess.STDOUT,
                                        env=self.env, start_new_session=True)
        self.sessions.append(self.process.pid)

        def is_up():
            assert self.process.poll() is None, f"the SuperLink ended:\n{self.log()[-3000:]}"
            return "startup complete" in self.log()[begin:]
        wait_for("the SuperLink", 120, is_up)

    def kill(self):
        """As a power cut does."""
        self.process.kill()
        self.process.wait()

    def log(self):
        return (self.folder / "superlink.log").read_text(errors="replace")

    def flwr(self, *words, seconds=180):
        done = subprocess.run([str(self.bin / "flwr"), *[str(word) for word in words]], env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
        assert done.returncode == 0, f"flwr {words}: {done.stdout}\n{self.log()[-2000:]}"
        return done.stdout

    def register(self, public_key):
        return self.flwr("supernode", "register", public_key, "here")

    def run(self, app, config, seconds=180):
        """Runs an app to its end; `config` is a dict of settings of Flower's run config. Returns what it logged."""
        words = " ".join(f"{key}={str(value).lower()}" if isinstance(value, (bool, int, float)) else f'{key}="{value}"'
                         for key, value in config.items())
        said = self.flwr("run", app, "here", "-c", words, "--stream", seconds=seconds)
        assert "raised an exception" not in said, said
        return said
