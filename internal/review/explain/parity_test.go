package explain_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/landlockconfig"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/ir"
)

// TestParityFits: a table is in parts that fit the terminal, and has every target once and every rule in each part.
func TestParityFits(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true"}
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(strings.Repeat("long/", 20) + "name")}, {At: ir.In("\u202egnp.exe")}}
	for _, width := range []int{60, 80, 120, 0} {
		for _, why := range []bool{false, true} {
			s := explain.Style{Width: width, ABI: 6}
			p, err := explain.NewParity(tool, registry.Every, s)
			if err != nil {
				t.Fatal(err)
			}
			text := p.Text(s, why)
			begins := map[string]int{}
			for line := range strings.Lines(text) {
				// The lines of reasons can begin with these words, too.
				for _, word := range []string{"            rule  ", "  process   "} {
					if strings.HasPrefix(line, word) {
						begins[strings.TrimSpace(word)]++
					}
				}
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
			for _, b := range registry.Every {
				if !strings.Contains(text, "  "+b.Name()) {
					t.Errorf("%d: no column %s in\n%s", width, b.Name(), text)
				}
			}
			if strings.Contains(text, "\u202e") {
				t.Error("a character that turns the line around is in the table")
			}
			if begins["rule"] == 0 || begins["rule"] != begins["process"] {
				t.Errorf("%d: %d tables, %d with the last rule\n%s", width, begins["rule"], begins["process"], text)
			}
		}
	}
}

// TestParityIsWhole: every rule has a word on every target whose ledger states all of it, and JSON the same words.
func TestParityIsWhole(t *testing.T) {
	tool := ir.NewTool("t")
	tool.Command, tool.Net = &ir.Command{Program: "true"}, []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Port: 80, Allow: true}, {Listen: true}}
	p, err := explain.NewParity(tool, registry.Every, explain.Style{ABI: 6})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.JSON().Rules {
		for _, b := range registry.Every {
			_, held := r.Held[b.Name()]
			if !held && b.Name() != "context" && !(b.Name() == "mxc" && r.Rule == "base") {
				t.Errorf("%s %s has no word on %s", r.Resource, r.Rule, b.Name())
			}
		}
	}
}

// TestParityLevels: a column whose rows are about versions of Landlock is about that of the style, also where another
// program starts the tool. It showed the rows of a kernel without Landlock.
func TestParityLevels(t *testing.T) {
	for abi, want := range map[int]string{0: "none", 5: "weaker", 6: "exact"} {
		p, err := explain.NewParity(ir.NewTool("t"), []backends.Backend{landlockconfig.Backend{}}, explain.Style{ABI: abi})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.JSON().Rules {
			if got := r.Held["landlockconfig"]; r.Resource == "process" && got != want {
				t.Errorf("signals at ABI %d: %s", abi, got)
			}
		}
	}
}
