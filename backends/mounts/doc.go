// Package mounts lays a policy out as mounts, for the backends whose systems confine files only by mounts: the places
// that a tool may reach are bound into an empty tree, and the others are left out or covered.
//
// New makes a Plan, an ordered list of mounts that names no program: a backend writes each of
// them in the words of its own. Plan.Ledger states how a program with some Means holds every cell
// of the policy. Both are pure. The kinds of the files at the places with rules come from
// backends.Target.Node; where it is nil, as in a portable artifact, a place may be missing, and the
// ledger says how that is held as well.
//
// The invariant is that a plan opens nothing that the policy denies, except as the ledger states.
// A mount is read-only, read-write or not there. So one of create, update and delete gives all three,
// and reading; files that may be read may be started, unless the program can mount without
// execution; and there is no mount at a place that does not exist yet. A place with
// other capabilities than the place around it has a mount of its own, across which the kernel moves and
// links nothing (EXDEV), and whose name it does not move (EBUSY; rename(2)): that holds pins and
// the gain by moving. A mount goes with the name that another process removes or replaces outside
// (path_resolution in Documentation/filesystems, detach_mounts in fs/namespace.c).
// See decision D256.
package mounts
