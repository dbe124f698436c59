//go:build linux

package attacks_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
)

// asked has the scenes whose questions were answered: the answers are the same for every user and means.
var asked sync.Map

// A question is one that accessc can reads from its standard input.
type question struct {
	Operation   string   `json:"operation"`
	Target      string   `json:"target"`
	Destination string   `json:"destination,omitempty"`
	Arguments   []string `json:"arguments,omitempty"`
	System      bool     `json:"system"`
}

// questionOf takes a question apart that is written as accessc can takes it.
func questionOf(text string) question {
	words := strings.Fields(text)
	q := question{Operation: words[0], Target: words[1], System: true}
	switch rest := words[2:]; {
	case q.Operation == "run":
		q.Arguments = rest
	case len(rest) == 1:
		q.Destination = rest[0]
	}
	return q
}

// ask puts questions to accessc can, and demands that it denies those of the first list and allows those of the second.
func (d *disk) ask(t *testing.T, denied, allowed []string) {
	t.Helper()
	var lines bytes.Buffer
	all := slices.Concat(denied, allowed)
	for _, q := range all {
		if err := json.NewEncoder(&lines).Encode(questionOf(q)); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		return
	}
	cmd := d.command(t.Context(), "can", "-C", d.ws, "--stdin", "t")
	cmd.Stdin = &lines
	out, err := cmd.CombinedOutput()
	answers := slices.Collect(strings.Lines(string(out)))
	if err != nil || len(answers) != len(all) {
		t.Fatalf("can: %v\n%s", err, out)
	}
	for i, line := range answers {
		want := "deny"
		if i >= len(denied) {
			want = "allow"
		}
		var answer struct{ Verdict string }
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Verdict != want {
			t.Fatalf("can %s: want %s, got %v\n%s", all[i], want, err, line)
		}
	}
}
