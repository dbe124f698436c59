// Package check is the checker of certificates: it shows that the artifacts of a build mean what their policies say,
// without trusting the compiler that wrote them.
//
// It reads the policies and ledgers of a manifest, the emitted texts and the certificate beside them. An evaluator of
// its own answers questions about a policy, and a model of its own answers them about each text. The certificate lists
// a representative of each class of questions on which both are constant, with both answers, and for each difference
// the row of the ledger that states it. The checker finds out by itself which classes there must be, answers every
// question anew, and refuses what is missing, joined, changed or unexplained.
//
// It uses the standard library and no package of accessc, so that whoever reads this directory and cmd/accessc-check
// has read all of it. What it cannot know it takes from the certificate as assumptions, and prints: the lists of the
// base and of protected paths, and what each system does with its text.
package check
