// Package mxc compiles a policy into a configuration for MXC, Microsoft's containers for
// processes (contract 1.0.0 of github.com/microsoft/mxc), for hosts that start tools through it
// instead of by accessc exec.
//
// The invariant is that the configuration opens nothing that the policy denies, except as
// stated in the artifact's ledger. MXC knows three kinds of places: read and write, read, denied; the deepest place
// decides (measured with release 1.0.1 on Linux). So a place is written to only where the policy grants create, update
// and delete alike, and a rule that cannot be told from a wider rule becomes the narrower rule.
//
// The ledger is in the configuration's own comment, which MXC ignores: it is about MXC on any
// system, and not about a system as the ledgers of the other backends are. Environment values are the
// user's and no part of an artifact. Not enforced by these means: starting readable files,
// moves, sockets, arguments, and limits other than the limit of time.
// See decision D263.
package mxc
