// Package mxc compiles a policy into a configuration for MXC, Microsoft's containers for
// processes (contract 1.0.0 of github.com/microsoft/mxc), for hosts that start tools
// through it instead of by accessc exec.
//
// The invariant is that nothing is opened that the policy denies but what the ledger of
// the artifact says. MXC knows three kinds of places: read and write, read, denied; the
// deepest one decides (measured with release 1.0.1 on Linux). So a place is written to
// only where the policy grants create, update and delete alike, and a rule that cannot be
// told from a wider one becomes the narrower.
//
// The ledger stands in the configuration's own comment, which MXC ignores: its cells are
// about MXC on any system, and not about a system as those of the other backends are.
// Environment values are the user's and no part of an artifact. Not held by these means:
// starting what may be read, moves, sockets, arguments, and limits but that of the time.
package mxc
