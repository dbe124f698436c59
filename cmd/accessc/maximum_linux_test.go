package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestMaximumDoors: each command is one that starts nothing, or the script about the maximum of a machine runs it. A
// new command has to be put into one of the two.
func TestMaximumDoors(t *testing.T) {
	script, err := os.ReadFile("testdata/script/maximum.txt")
	if err != nil {
		t.Fatal(err)
	}
	startsNothing := []string{
		"init", "preset", "explain", "denials", "fmt", "doctor", "parity", "approve", "approvals", "mount", "unmount", "home",
		"verify", "changes", "undo", "evidence", "fleet", "import", "decide", "lsp", "schema", "completion", "man", "help", "version",
		"grants", // answers questions of a start with exec --ask
		"adopt",  // tries a server by accessc mcp
	}
	commands := reflect.TypeFor[cli]()
	for i := range commands.NumField() {
		f := commands.Field(i)
		if _, is := f.Tag.Lookup("cmd"); !is {
			continue
		}
		name := f.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		door := strings.Contains(string(script), "accessc "+name+" ") || strings.Contains(string(script), "accessc -C . "+name+" ")
		if nothing := slices.Contains(startsNothing, name); door == nothing {
			t.Errorf("%s: the script has it: %v, it starts nothing: %v", name, door, nothing)
		}
	}
}
