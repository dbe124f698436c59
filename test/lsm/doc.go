// Package lsm evaluates the specifications that backends/landlock writes as the kernel's
// security module does: which rights reach a file, and which calls the filter fails. Tests
// compare its answers with the policy, and the kernel's with both.
package lsm
