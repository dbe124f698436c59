package main

import (
	"encoding/json"
	"os"
)

// finding is the result of one case or program.
type finding struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	Note   string `json:"note,omitempty"`
}

// The results.
const (
	ok = "ok"
	// foreseen is a refusal that a row of the ledger announces.
	foreseen = "known"
	differs  = "differs"
	// failed is a case whose tool did not start or gave no answer.
	failed = "failed"
	// absent is a program that is not installed.
	absent = "absent"
)

// keep writes findings to a file, if there is one.
func keep(file string, all []finding) error {
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// worse counts the findings that are not as they must be.
func worse(all []finding) int {
	n := 0
	for _, f := range all {
		if f.Result == differs || f.Result == failed {
			n++
		}
	}
	return n
}
