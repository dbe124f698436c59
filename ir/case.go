package ir

// CaseOf names the test case that shows on a real system whether an aspect of a resource is
// enforced as the ledger says (the command cases runs them).
// See RATIONALE D76.
func CaseOf(r Resource, a Aspect) string { return r.String() + "-" + string(a) }

// Unrun reports whether the loader has not been run on a platform yet, so that its ledger rests
// on documents, on published measurements and on models.
func (p Platform) Unrun() bool { return p == Darwin || p == Windows }
