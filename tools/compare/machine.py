"""The machine that is measured on: what it is, and what its disk takes to make an append durable."""
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import time

APPEND_BYTES = 4096
APPENDS = 300


def fdatasync_ms(directory):
    """The median of an append of 4 KiB followed by fdatasync, in a new file of `directory`."""
    path = pathlib.Path(directory) / "fdatasync"
    took = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(APPENDS):
            begin = time.perf_counter()
            file.write(b"x" * APPEND_BYTES)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - begin) * 1000)
    path.unlink()
    return statistics.median(took)


def cpu_s(pid):
    """What a process has used of the CPU, all its threads that ever were, to the nanosecond."""
    # /proc/PID/stat counts in hundredths of a second; this is clock_getcpuclockid(3) of the same process.
    return time.clock_gettime((~pid << 3) | 2)


def children_cpu_s():
    """What the processes that this one has started and seen end have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rss_bytes(pid):
    return 1024 * field(pathlib.Path("/proc/%d/status" % pid), "VmRSS")


def field(path, name):
    """The first number of the line `name: …` of a file below /proc."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(name + ":"):
            return int(line.split(":")[1].split()[0])
    raise ValueError("%s has no %s" % (path, name))


def description(directory):
    """Plain strings by name, for the page."""
    cpu = [line.split(":", 1)[1].strip()
           for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
           if line.startswith("model name")]
    memory = field(pathlib.Path("/proc/meminfo"), "MemTotal") / 1024 / 1024
    system = [line.split("=", 1)[1].strip('"')
              for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
              if line.startswith("PRETTY_NAME=")]
    return {
        "CPU": "%d × %s" % (os.cpu_count(), cpu[0] if cpu else platform.machine()),
        "memory": "%.0f GiB" % memory,
        "system": "%s, Linux %s" % (system[0] if system else "unknown", platform.release()),
        "file system": first_line(["findmnt", "-n", "-o", "FSTYPE", "-T", str(directory)]),
        "load average before the run": "%.2f" % os.getloadavg()[0],
    }


def first_line(command):
    """What a command that ends well says first, on either of its outputs."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout else "unknown"
