package ir

// CaseOf names the case that shows on a real system whether an aspect of a resource is
// held as a ledger says (the command cases runs them).
func CaseOf(r Resource, a Aspect) string { return r.String() + "-" + string(a) }

// Unrun reports whether nobody has run the loader on a platform yet, so that what the
// ledger says of it rests on documents, on measurements of others and on models.
func (p Platform) Unrun() bool { return p == Darwin || p == Windows }
