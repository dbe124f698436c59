// Package kerneltest puts a policy's own tests to the running kernel: it starts this program
// under the policy, as exec would start the tool, and has it try one operation.
//
// The user's files are not touched. Each question gets a stage, a temporary directory in the
// place of the workspace, the private home and the targets of external rules. The stage
// contains the paths that the rules and the question name, with nodes of the same kinds as the
// real ones. Outside of it only reading, opening and starting are tried; the kernel ends a
// started program before its first instruction.
//
// A trial does not cover the effect of a program's arguments, which the kernel does not look
// at, and the parts of a request that the egress proxy reads in the stream. Connections to hosts
// by name are tried up to the proxy, which looks up no name and reaches no host.
package kerneltest
