#!/usr/bin/env python3
"""Ask accessc what a tool may do, from Python: one process for all questions.

    with Policy("edit") as policy:
        if policy.may("read", "src/main.c"):
            ...
        policy.check("update", ".env")   # raises Denied, which says why

As a program it answers its arguments:

    accessc.py edit read src/main.c update .env
"""

import json
import subprocess
import sys


class Denied(PermissionError):
    """The policy does not allow it. answer is all that accessc says."""

    def __init__(self, answer):
        super().__init__(f"{answer['operation']} {answer['target']}: {answer['detail']}")
        self.answer = answer


class Policy:
    """The policy of one tool. The answers are those of accessc can."""

    def __init__(self, tool, workspace=".", accessc="accessc"):
        self._process = subprocess.Popen(
            [accessc, "can", "-C", workspace, "--stdin", tool],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, operation, target, **more):
        """Return the answer as a dict; more is destination, arguments, system."""
        question = {"operation": operation, "target": target, **more}
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # It has ended; there is no answer to read.
        line = self._process.stdout.readline()
        if not line:  # It said on stderr why.
            raise RuntimeError(f"accessc ended with status {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def may(self, operation, target, **more):
        return self.ask(operation, target, **more)["verdict"] == "allow"

    def check(self, operation, target, **more):
        answer = self.ask(operation, target, **more)
        if answer["verdict"] != "allow":
            raise Denied(answer)

    def close(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main(tool, *words):
    with Policy(tool) as policy:
        for operation, target in zip(words[::2], words[1::2]):
            try:
                policy.check(operation, target)
                print("yes ", operation, target)
            except Denied as denied:
                print("no  ", denied)


if __name__ == "__main__":
    main(*sys.argv[1:])
