"""Apache Kafka and Ackord: started on a directory of their own, asked for their process, stopped."""
import pathlib
import random
import shlex
import shutil
import socket
import subprocess
import time

from compare import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEER = ROOT / "tests" / "peers" / "kafka"
BUILD = ROOT / "build" / "release"
KAFKA_HEAP = ["-Xms256m", "-Xmx1g"]  # as tests/peers/kafka/start gives it
START_LIMIT_S = 120
STOP_LIMIT_S = 60


class BrokerError(Exception):
    pass


def free_port():
    """A port that is free, and so is the next (Kafka's controller); below those of outgoing connections."""
    while True:
        port = random.randrange(20000, 30000, 2)
        try:
            for one in (port, port + 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", one))
            return port
        except OSError:
            continue


class Broker:
    """One broker on `directory`, made by start(), removed by stop(); `settings` are NAME=VALUE. Subclasses say how."""

    name = ""

    def __init__(self, directory, settings):
        self.directory = pathlib.Path(directory)
        self.settings = settings
        self.port = free_port()
        self.pid = None

    @property
    def bootstrap(self):
        return "127.0.0.1:%d" % self.port

    def start(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        self._start()

    def stop(self):
        self._stop()
        self.pid = None
        shutil.rmtree(self.directory, ignore_errors=True)

    def cpu_s(self):
        return machine.cpu_s(self.pid)

    def rss_bytes(self):
        return machine.rss_bytes(self.pid)


class Kafka(Broker):
    name = "kafka"

    def _start(self):
        done = subprocess.run([PEER / "start", self.directory, str(self.port), *self.settings], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise BrokerError(done.stdout)
        self.pid = int((self.directory / "pid").read_text(encoding="utf-8"))

    def _stop(self):
        subprocess.run([PEER / "stop", self.directory], check=False)

    def startup_command(self, lib):
        """For `ackord-bench startup`: how to make {directory} ready, and how to start on it."""
        prepare = "%s {directory} {port} %s" % (shlex.quote(str(PEER / "format")), shlex.join(self.settings))
        command = ["java", *KAFKA_HEAP, "-Dlog4j2.configurationFile={directory}/log4j2.properties",
                   "-cp", "%s/*" % lib, "kafka.Kafka", "{directory}/server.properties"]
        return ["--prepare", prepare], command


class Ackord(Broker):
    name = "ackord"

    def __init__(self, directory, settings):
        super().__init__(directory, settings)
        self._process = None

    def _start(self):
        with open(self.directory / "log", "wb") as log:
            self._process = subprocess.Popen(self._command(self.port, self.directory / "data"),
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self._process.pid
        deadline = time.monotonic() + START_LIMIT_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self.directory / "log").read_text(encoding="utf-8", errors="replace")
                raise BrokerError("Ackord does not start:\n" + said)
            time.sleep(0.02)

    def _stop(self):
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def _command(self, port, data):
        words = [str(BUILD / "ackord"), "--set", "listeners=PLAINTEXT://127.0.0.1:%s" % port, "--set",
                 "log.dirs=%s" % data]
        for setting in self.settings:
            words += ["--set", setting]
        return words

    def startup_command(self, lib):
        del lib  # Kafka's
        return [], self._command("{port}", "{directory}")
