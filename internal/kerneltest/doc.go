// Package kerneltest asks the running kernel what a policy's own tests ask the policy: it
// starts this program under the policy, as exec would start the tool, and has it try one
// operation.
//
// Nothing of the user's is touched. Each question gets a stage, a temporary directory in
// the place of the workspace, the private home and the targets of external rules, in which
// stand the paths that the rules and the question name, with what stands there for real.
// Outside of it only reading, opening and starting are tried; what starts is ended by the
// kernel before its first instruction.
//
// Not shown by it: what a program's arguments do, which the kernel does not look at, and
// hosts by name; there the answer is the one for an address that is nobody's.
package kerneltest
