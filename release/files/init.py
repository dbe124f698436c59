"""accessc for Python: where its programs are, and a client that starts tools under their policies (accessc serve)."""

import os
import sysconfig
from typing import Sequence

from . import serve
from .serve import NULL, PIPE, Failed, Run

__all__ = ["Failed", "NULL", "PIPE", "Run", "Server", "program"]


def program(name: str = "accessc") -> str:
    """Return the path of a program that was installed with this package, else its name, for the PATH."""
    file = name + (sysconfig.get_config_var("EXE") or "")
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        path = os.path.join(sysconfig.get_path("scripts", scheme), file)
        if os.access(path, os.X_OK):
            return path
    return name


class Server(serve.Server):
    """A connection to accessc serve of this package."""

    def __init__(self, workspace: str = ".", accessc: str = "", flags: Sequence[str] = ()) -> None:
        super().__init__(workspace, accessc or program(), flags)
