"""Runs the parts of a check one after the other, each within its time, and keeps the report."""
import datetime
import os
import re
import signal
import subprocess
import time

from . import report


class Failed(Exception):
    """A part found something wrong; the text says what, on one line, and may go on below it."""


class TimedOut(Exception):
    """A part ran out of time."""


class Skipped(Exception):
    """A part cannot run here; the text says why."""


class Check:
    """The state that parts share, and how they start programs."""

    def __init__(self, folder, facts, minutes):
        self.folder = folder
        self.logs = os.path.join(folder, "logs")
        os.makedirs(self.logs, exist_ok=True)
        self.end = time.monotonic() + 60 * minutes
        self.part_end = self.end
        self.environment = dict(os.environ)
        self.report = {"outcome": "running", "date": now(), **facts, "parts": []}
        report.write(self.report, folder)

    def left(self):
        return self.part_end - time.monotonic()

    def run(self, command, log, cwd=None, accept=(0,), **environment):
        """Runs a program until the part's time is over; returns (status, output), and keeps the
        output in the log. A status that is not accepted fails the part, with the last lines."""
        path = os.path.join(self.logs, log + ".log")
        with open(path, "ab") as out:
            out.write(f"$ {' '.join(command)}\n".encode())
            out.flush()
            start = out.tell()
            try:
                # A group of its own, so that what it started ends with it.
                process = subprocess.Popen(command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL, start_new_session=True,
                                           env={**self.environment, **environment})
            except OSError as error:
                raise Failed(f"cannot start {command[0]}: {error.strerror}") from None
            try:
                status = process.wait(max(0.1, self.left()))
            except BaseException as error:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise TimedOut(f"stopped {os.path.basename(command[0])} at: {last_line(path)}"
                                   ) from None
                raise
        with open(path, "rb") as text:
            text.seek(start)
            printed = text.read().decode(errors="replace")
        if accept is not None and status not in accept:
            ended = f"ended with {status}" if status >= 0 else signal.Signals(-status).name
            raise Failed(f"{os.path.basename(command[0])} {ended}; logs/{log}.log\n"
                         + "\n".join(printed.splitlines()[-15:]))
        return status, printed

    def part(self, name, limit, function):
        """Runs one part; whatever happens, it is in the report afterwards."""
        entry = {"name": name, "outcome": "running", "limit": round(limit)}
        self.report["parts"].append(entry)
        start = time.monotonic()
        self.part_end = min(start + limit, self.end)
        try:
            entry["outcome"], text = self.outcome_of(function)
        except BaseException:  # Ctrl-C, or whoever started the check ends it
            entry["outcome"] = self.report["outcome"] = "stopped"
            report.write(self.report, self.folder)
            raise
        summary, _, detail = text.partition("\n")
        entry["seconds"] = round(time.monotonic() - start, 1)
        entry["summary"] = summary
        if detail:
            entry["detail"] = detail
        report.write(self.report, self.folder)
        print(f"{entry['seconds']:7.1f} s  {name:<12} {entry['outcome']:<9} {summary}", flush=True)

    def outcome_of(self, function):
        if self.left() < 1:
            return "skipped", "no time was left"
        try:
            return "passed", function(self) or ""
        except Failed as error:
            return "failed", str(error)
        except TimedOut as error:
            return "timed out", str(error)
        except Skipped as error:
            return "skipped", str(error)
        except Exception as error:  # a mistake in a part must not cost the others
            return "failed", f"{type(error).__name__}: {error}"

    def finish(self):
        outcomes = {part["outcome"] for part in self.report["parts"]}
        self.report["outcome"] = "failed" if outcomes & {"failed", "timed out"} else "passed"
        self.report["ended"] = now()
        report.write(self.report, self.folder)
        return self.report["outcome"] == "passed"


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def last_line(path):
    with open(path, "rb") as text:
        lines = text.read().decode(errors="replace").splitlines()
    return re.sub(r"\s+", " ", lines[-1])[:120] if lines else ""
