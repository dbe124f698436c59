// Package evidencecheck checks evidence logs (package evidencelog), and writes them in the forms of other programs.
//
// Check finds every line that was changed, cut out, put elsewhere, doubled or added, by the hash that each line has of
// the line before; a cut at the end by the counter of the log. Somebody who can write both the log and the counter can
// make a new log with right hashes, but no verdict in it that the policy does not give: each operation is judged again,
// by the terms of its run or those of an artifact, and a signature binds the end of each run to a key.
//
// It trusts nothing in a log. Commands call it.
package evidencecheck
