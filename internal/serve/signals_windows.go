package serve

import "syscall"

// terminate is what a tool gets whose client is gone: it is killed.
const terminate = syscall.SIGKILL

// signals are those that reach a tool: Windows has none.
var signals = map[string]syscall.Signal{}
