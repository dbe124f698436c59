package serve

import "syscall"

// terminate kills a tool whose client is gone.
const terminate = syscall.SIGKILL

// signals are those that reach a tool: Windows has none.
var signals = map[string]syscall.Signal{}
