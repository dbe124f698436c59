// Package finding has the results of test/conformance and test/platforms, and the words for them: a word
// that one of them writes and the other does not know counts as a difference.
package finding

import (
	"encoding/json"
	"os"
)

// Finding is the result of one case, program or step.
type Finding struct {
	Name   string `json:"name"`
	Result Result `json:"result"`
	Note   string `json:"note,omitempty"`
}

// Result is the word for a result.
type Result string

// The results.
const (
	OK Result = "ok"
	// Foreseen is a refusal that a row of the ledger announces.
	Foreseen Result = "foreseen"
	// Absent is a program that is not installed, or a question that was not asked.
	Absent Result = "absent"
	// Differs is another answer than the expected one.
	Differs Result = "differs"
	// Failed is a case whose tool did not start or gave no answer.
	Failed Result = "failed"
)

// Results lists the results.
func Results() []Result { return []Result{OK, Foreseen, Absent, Differs, Failed} }

// Bad reports whether a result is not as it must be.
func (f Finding) Bad() bool { return f.Result != OK && f.Result != Foreseen && f.Result != Absent }

// Bad counts the findings that are not as they must be.
func Bad(all []Finding) int {
	n := 0
	for _, f := range all {
		if f.Bad() {
			n++
		}
	}
	return n
}

// Write writes findings to a file.
func Write(file string, all []Finding) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
