// Package fleet looks at the builds of many repositories at once: the manifests below some directories, the
// access that their tools have, the hosts that cannot hold their rules, and the changes since another time.
//
// Repositories are foreign: a manifest is read whole or not at all, up to a size, by a strict reader, from below
// the directory that was named, and everything that cannot be read is a problem in the result. Every manifest and every
// artifact is read and hashed each time. The facts that follow only from a manifest's bytes are kept in a record by
// the hash of the bytes, so that an unchanged manifest is not parsed again; the record is the user's own, and a damaged
// record is none.
//
// It decides nothing itself: a question is put to ir.View.Decide of each policy. It does not compile policies
// anew unless it is asked to, so that by default a ledger is taken as a manifest has it.
package fleet
