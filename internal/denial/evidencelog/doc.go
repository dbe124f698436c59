// Package evidencelog writes and reads the evidence log of runs: a file of JSON lines to which many runs append. A
// line has the SHA-256 of the line before it in the file, whichever run that is of, and its number in its own run. A
// run has a first line, with everything that its operations are judged by, a line for every judged operation that is
// carried out or refused, and a last line with their numbers.
//
// A counter in the user's state directory knows size and last line of the file: what is cut from the end is missed.
// It is the lock of the file as well, since a tool that may read the file could hold a lock on that.
//
// A refused operation is in the file before the tool learns of it. A granted operation is there within a second, or
// once there are 64 KiB of them; with Required before the tool has what it asked for. The file is synchronised
// (fdatasync(2)) at the end of a run. Lines that do not fit are counted, in the log itself as soon as it can be
// written to, and in the last line of their run.
//
// Not in it: values of variables, contents, credentials, queries of requests. Not every call is judged: Begin.Seen says
// which are.
//
// The process that supervises a tool writes, before the tool starts it opens the file. Package evidencecheck reads.
package evidencelog
