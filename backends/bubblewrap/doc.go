// Package bubblewrap compiles a policy into the arguments of bubblewrap (bwrap(1), with --disable-userns, not
// set-user-id), for Linux hosts without Landlock.
//
// The invariant is that the arguments open nothing that the policy denies, except as the artifact's ledger
// states. Files are bound into an empty tree as package mounts lays them out. The namespaces of the tool
// are its own, and it can make no further namespaces: in a nested namespace it could take covers off
// (--disable-userns). The filter of system calls closes sockets, like the filter of a tool without rules for hosts
// under Landlock. The arguments work without a program of this project, once the symbols that only a start knows are
// replaced: ${tmp} by a directory for temporary files, ${filter} by the number of a descriptor with the filter. The
// filter is in the artifact as a list of blocks; a start without it holds less than the ledger says.
//
// Not enforced by these means: the difference between create, update and delete, starting
// readable files, rules for places that are not there at the start, programs and their arguments. The
// ledger is in the artifact and in no manifest, since it is about bubblewrap and not about the means of accessc exec by
// default.
// See decision D256.
package bubblewrap
