// Package writer has the parts that the settings of several programs are compiled with: the places of a policy as such
// programs tell them apart, the hosts, and the rows of their ledgers. The packages beside it that are named after a
// program are its users.
//
// The invariant is that settings open nothing that the policy denies, except as stated in the
// ledger. These programs know two kinds of access to files, reading and writing. So a place is
// written to only where the policy grants create, update and delete alike, and a place that cannot
// be told from one with more access is given the lesser access of the two. See decision D267.
//
// A ledger of these programs has no names to accept gaps by: accessc does not start their tools,
// so it has nothing to refuse. See decision D267.
package writer
