package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/ir"
)

// TestSchemaIsNamed: what init writes begins with the address of the schema, by which editors find it.
func TestSchemaIsNamed(t *testing.T) {
	var s struct {
		ID string `json:"$id"`
	}
	if err := json.Unmarshal([]byte(schema), &s); err != nil || s.ID == "" {
		t.Fatal(err, s)
	}
	found := survey.Text([]survey.Found{{File: "x", Tools: []survey.Tool{{Name: "x", Command: "x"}}}}, ir.Linux)
	for _, text := range []string{starter, found} {
		if line, _, _ := strings.Cut(text, "\n"); line != "#:schema "+s.ID {
			t.Errorf("the first line is %q", line)
		}
	}
}
