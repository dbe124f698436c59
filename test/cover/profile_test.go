package main

import (
	"strings"
	"testing"
)

// TestProfile adds up a profile in which two test binaries have the same package.
func TestProfile(t *testing.T) {
	p, err := parse(strings.NewReader(`mode: set
github.com/accessc/accessc/ir/a.go:1.1,2.2 3 1
github.com/accessc/accessc/ir/a.go:3.1,4.2 1 0
github.com/accessc/accessc/tool/b.go:1.1,2.2 2 0
mode: set
github.com/accessc/accessc/ir/a.go:1.1,2.2 3 0
github.com/accessc/accessc/ir/a.go:3.1,4.2 1 0
github.com/accessc/accessc/tool/b.go:1.1,2.2 2 1
`))
	if err != nil {
		t.Fatal(err)
	}
	var table, missed strings.Builder
	const want = ` 75.0 %      3 of     4  ir
100.0 %      2 of     2  tool
 83.3 %      5 of     6  all
`
	if total := p.table(&table); table.String() != want || total < 83 || total > 84 {
		t.Errorf("got %v and\n%s", total, &table)
	}
	p.missed(&missed, module+"/ir")
	if missed.String() != "ir/a.go:3.1,4.2\n" {
		t.Errorf("missed %q", &missed)
	}
	for _, bad := range []string{"x", "a.go:1.1,2.2 many 1"} {
		if _, err := parse(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
