#!/usr/bin/env python3
"""Start tools under their policies from Python: a client of accessc serve (docs/hosts.md).

    with Server("/path/to/workspace") as server:
        done = server.run("grep", ["main", "src/a"])
        print(done.returncode, done.stdout)
        if server.can("edit", "update", "src/a")["verdict"] == "allow":
            run = server.start("edit", stdout=open("out", "wb"), call={"arguments": {"path": "src/a"}})
            run.wait()

Tools get the descriptors themselves: nothing of their output passes through accessc. It needs Python 3.9 and Unix.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any, BinaryIO, Optional, Sequence, Union

NULL = subprocess.DEVNULL
PIPE = subprocess.PIPE

Stream = Union[int, BinaryIO]


class Failed(Exception):
    """An error that the server answers. reason is a word of the protocol's list."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.reason: str = error["data"]["reason"]
        self.status: int = error["data"].get("status", 0)
        self.findings = error["data"].get("findings")


class Server:
    """A connection to accessc serve. Threads may share it; each waits for its own answers."""

    def __init__(self, workspace: str = ".", accessc: str = "accessc", flags: Sequence[str] = ()) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process: Optional[subprocess.Popen[bytes]] = subprocess.Popen(
                [accessc, "serve", "-C", workspace, "--stdio", *flags], stdin=theirs.fileno(), stdout=theirs.fileno())
        self._begin(ours, "")

    @classmethod
    def connect(cls, path: str, token: str) -> Server:
        """Connect to accessc serve --socket."""
        self = cls.__new__(cls)
        self._process = None
        ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.connect(path)
        self._begin(ours, token)
        return self

    def _begin(self, ours: socket.socket, token: str) -> None:
        self._socket, self._lines = ours, ours.makefile("rb")
        self._sending, self._arrived = threading.Lock(), threading.Condition()
        self._last, self._reading = 0, False
        self._answers: dict[int, Any] = {}
        self.about = self.request("hello", {"versions": [1], **({"token": token} if token else {})})

    def request(self, method: str, params: Optional[dict[str, Any]] = None, files: Sequence[Stream] = ()) -> Any:
        """Send a request with descriptors, and return its result."""
        return self._result(self._send(method, params or {}, files))

    def _send(self, method: str, params: dict[str, Any], files: Sequence[Stream], ends: bool = False) -> int:
        """Send a request and return its id. With ends, the next id is that of the answer about the end of the tool."""
        with self._sending:
            self._last += 1
            id = self._last
            if ends:
                self._last += 1
                params = {**params, "wait": self._last}
            line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"
            sent = 0
            if files:
                sent = socket.send_fds(self._socket, [line], [f if isinstance(f, int) else f.fileno() for f in files])
            if sent < len(line):
                self._socket.sendall(line[sent:])
        return id

    def _result(self, id: int) -> Any:
        """Wait for the answer of an id, and return its result."""
        answer = self._answer(id)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def _answer(self, id: int) -> Any:
        """Return the answer of an id. Of the threads that wait, one reads for all."""
        with self._arrived:
            while id not in self._answers and self._reading:
                self._arrived.wait()
            if id in self._answers:
                return self._answers.pop(id)
            self._reading = True
        try:
            while True:
                line = self._lines.readline()
                if not line:
                    raise EOFError("accessc serve has ended")
                answer = json.loads(line)
                if answer["id"] == id:
                    return answer
                with self._arrived:
                    self._answers[answer["id"]] = answer
                    self._arrived.notify_all()
        finally:
            with self._arrived:
                self._reading = False
                self._arrived.notify_all()

    def can(self, tool: str, operation: str, target: str, **more: Any) -> Any:
        """Return the answer of accessc can as a dict."""
        return self.request("can", {"tool": tool, "operation": operation, "target": target, **more})

    def decide(self, command: str, **more: Any) -> Any:
        """Return the answer of accessc decide as a dict."""
        return self.request("decide", {"command": command, **more})

    def events(self) -> Any:
        """Wait for events, and return them all. One thread at a time."""
        return self.request("events")["events"]

    def start(self, tool: str, args: Sequence[str] = (), stdin: Stream = NULL, stdout: Stream = NULL,
              stderr: Stream = NULL, **more: Any) -> Run:
        """Start a tool. Streams are files or descriptors, NULL, or PIPE, whose end is an attribute of the run.

        more is command, call, dir, env, session, events or ask.
        """
        params: dict[str, Any] = {"tool": tool, "args": list(args), **more}
        files: list[Stream] = []
        pipes: list[int] = []
        ends: dict[str, BinaryIO] = {}
        try:
            for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
                if stream == NULL:
                    continue
                if stream == PIPE:
                    read, write = os.pipe()
                    ours, stream = (write, read) if name == "stdin" else (read, write)
                    pipes.append(stream)
                    ends[name] = open(ours, "wb") if name == "stdin" else open(ours, "rb")
                params[name] = "descriptor"
                files.append(stream)
            id = self._send("start", params, files, ends=True)
            begun = self._result(id)
        except BaseException:
            for end in ends.values():
                end.close()
            raise
        finally:
            for fd in pipes:
                os.close(fd)
        return Run(self, begun["run"], begun["pid"], ends, id + 1)

    def run(self, tool: str, args: Sequence[str] = (), input: Optional[bytes] = None,
            **more: Any) -> subprocess.CompletedProcess[Optional[bytes]]:
        """Run a tool to its end, as subprocess.run with captured output does."""
        run = self.start(tool, args, PIPE if input is not None else NULL, PIPE, PIPE, **more)
        out, err = run.communicate(input)
        return subprocess.CompletedProcess([tool, *args], run.wait(), out, err)

    def close(self) -> None:
        """End the connection. Its tools end with it."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._socket.close()
        if self._process:
            self._process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Run:
    """A tool that was started."""

    def __init__(self, server: Server, id: int, pid: int, ends: dict[str, BinaryIO], end: int) -> None:
        self._server, self.id, self.pid, self._end = server, id, pid, end
        self._status: Optional[int] = None
        self._waiting = threading.Lock()
        self.stdin, self.stdout, self.stderr = (ends.get(name) for name in ("stdin", "stdout", "stderr"))

    def wait(self) -> int:
        """Return the exit status; minus the number of a signal that ended the tool, as subprocess has it."""
        with self._waiting:
            if self._status is None:
                end = self._server._result(self._end)
                self._status = 128 - end["exit"] if "signal" in end else end["exit"]
        return self._status

    def signal(self, name: str) -> None:
        """Send TERM, INT, HUP, QUIT, USR1, USR2, WINCH or KILL."""
        self._server.request("signal", {"run": self.id, "signal": name})

    def answer(self, question: int, answer: str) -> None:
        """Answer a question of an event: once, run, rule, no or never."""
        self._server.request("answer", {"run": self.id, "question": question, "answer": answer})

    def communicate(self, input: Optional[bytes] = None) -> tuple[Optional[bytes], Optional[bytes]]:
        """Write the input, and read stdout and stderr to their ends."""
        out: dict[str, bytes] = {}

        def read(name: str, end: BinaryIO) -> None:
            with end:
                out[name] = end.read()

        def write(end: BinaryIO) -> None:
            try:
                with end:
                    end.write(input or b"")
            except BrokenPipeError:
                pass  # the tool reads no more

        work = [threading.Thread(target=read, args=(name, end))
                for name, end in (("stdout", self.stdout), ("stderr", self.stderr)) if end]
        if self.stdin:
            work.append(threading.Thread(target=write, args=(self.stdin,)))
        for thread in work[1:]:
            thread.start()
        for thread in work[:1]:
            thread.run()
        for thread in work[1:]:
            thread.join()
        return out.get("stdout"), out.get("stderr")


def main(words: list[str]) -> None:
    if not words:
        sys.exit("usage: accessc_serve.py TOOL [ARG...]")
    with Server() as server:
        run = server.start(words[0], words[1:], 0, 1, 2)
        sys.exit(run.wait() % 256)


if __name__ == "__main__":
    main(sys.argv[1:])
