// Package artifact is the room of a build's output: the output directory with its manifest (build),
// statements about it (attest), who may sign them (signers), and the results from machines of other systems (evidence).
// Package evidencecheck checks the evidence logs of runs, which package evidencelog of the room denial writes.
//
// Commands and the rooms above call it. It starts nothing and decides nothing about operations. A file in an output
// directory is trusted only by the hash in its manifest, and a manifest only by its signature where one is asked for.
package artifact
