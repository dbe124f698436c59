package importer

import (
	"strings"
	"testing"
)

// TestSecrets: words that are secrets by their form, or by the option before them, are none of a
// configuration's.
func TestSecrets(t *testing.T) {
	for words, want := range map[string]bool{
		"x --password Tr0ub4dor": true, "x -p hunter2": true, "x -phunter2": true, "x --pw=abc": true, "x -u admin:Tr0": true, "x --pat abc": true,
		"x --auth dXNl": true, "x --connection-string Server=h;Pwd=x": true, "x https://hooks.slack.com/services/T0/B0/X": true, "x --db-password y": true,
		"x https://u:p@h/": true, "x --token ghp_abcdefghij": true, "x Server=h;Pwd=Tr": true,
		"x -p 8080": false, "x --port 80": false, "x --path /srv/key": false, "x -u admin": false, "x --auth --verbose": false, "npx -y @scope/server .": false,
		"x --keyboard us": false, "x --author me": false,
	} {
		if got := secrets(strings.Fields(words)); got != want {
			t.Errorf("%s: %v", words, got)
		}
	}
}
