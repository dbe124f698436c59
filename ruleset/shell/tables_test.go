package shell

import (
	"strings"
	"testing"
)

// TestTables: each program stands in one table, each option once in its row, and every row says
// why it is there.
func TestTables(t *testing.T) {
	where := map[string]string{}
	add := func(name, table string) {
		if other := where[name]; other != "" && !(other == "shells" && table == "interpreters") {
			t.Errorf("%s stands in %s and in %s", name, other, table)
		}
		where[name] = table
	}
	for name := range shells {
		add(name, "shells")
	}
	for name := range interpreters {
		add(name, "interpreters")
	}
	for name, why := range starters() {
		add(name, "starters")
		if why == "" {
			t.Errorf("%s has no reason", name)
		}
	}
	for _, r := range append(append(append([]row{git}, wrappers...), writers...), builders...) {
		for _, name := range strings.Fields(r.names) {
			add(name, "rows")
		}
		if r.why == "" {
			t.Errorf("%s has no reason", r.names)
		}
		once(t, r.names, r.options)
		for names, options := range r.sub {
			once(t, r.names+" "+names, options)
		}
	}
}

// once checks that a table lists no option twice.
func once(t *testing.T, names, options string) {
	seen := map[string]bool{}
	for _, o := range strings.Fields(options) {
		if o == "--" {
			clear(seen) // options of another program
			continue
		}
		name := strings.TrimRight(o, "=?><@!%^")
		if seen[name] {
			t.Errorf("%s: %s stands twice", names, name)
		}
		seen[name] = true
	}
}
