//go:build unix

package tool

import "syscall"

// directoryFlag has an open fail for anything but a directory. A supervisor on Linux knows
// by it that a directory is to be listed.
const directoryFlag = syscall.O_DIRECTORY
