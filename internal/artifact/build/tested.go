package build

import (
	"slices"

	"github.com/accessc/accessc/internal/artifact/attest"
)

// The classes of problems of an attestation of tests.
const (
	// SummaryForm: it is missing, or cannot be read.
	SummaryForm Class = "summary.form"
	// SummarySignature: those who may sign have not signed it.
	SummarySignature Class = "summary.signature"
	// SummaryPolicy: it is about other policies, or not about all tests of these.
	SummaryPolicy Class = "summary.policy"
	// SummaryFailed: a test did not hold.
	SummaryFailed Class = "summary.failed"
)

// Tested compares an attestation of tests with the policies of a manifest: it has to be about each test of each
// tool, and all must have held.
func Tested(said *attest.Statement, m *Manifest) ([]Problem, error) {
	v := &verifier{}
	known := map[string]bool{}
	for i := range m.Tools {
		e := &m.Tools[i]
		t, err := e.tool()
		if err != nil {
			return nil, err
		}
		name := e.Name + "/policy"
		known[name] = true
		if got := said.Subject(name); got != e.Hash && (got != "" || len(t.Tests) > 0) {
			v.add(SummaryPolicy, e.Name, "the policy has the hash %s, tried was %s", e.Hash, orNothing(got))
			continue
		}
		for _, a := range t.Tests {
			if !slices.ContainsFunc(said.Summary.Cases, func(c attest.Case) bool {
				return c.Tool == e.Name && c.Question == a.Question && (c.Expect == "allow") == a.Allow
			}) {
				v.add(SummaryPolicy, e.Name, "%q was not tried", a.Question)
			}
		}
	}
	for _, x := range said.Subjects {
		if !known[x.Name] {
			v.add(SummaryPolicy, "", "%s was tried, and no policy of this build", x.Name)
		}
	}
	for _, c := range said.Summary.Cases {
		if !c.Holds {
			v.add(SummaryFailed, c.Tool, "%q: expected %s, the policy says %s, the kernel %s", c.Question, c.Expect,
				orNothing(c.Policy), orNothing(c.Kernel))
		}
	}
	if len(v.problems) == 0 && !said.Summary.Passed() {
		v.add(SummaryFailed, "", "the kernel was not asked anything")
	}
	return v.problems, nil
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
