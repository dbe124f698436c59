package golden_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/golden"
)

const checksFile = "../docs/checks.md"

// section is one code's entry in docs/checks.md: a failing example, its output, and a fixed
// example.
type section struct {
	code                 diag.Code
	title                string
	failing, text, fixed block
}

// block is a fenced block and where its contents are in the document.
type block struct {
	info, body string
	start, end int
}

var (
	heading = regexp.MustCompile(`(?m)^## (ACC\d+): (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
)

func sections(t *testing.T, doc string) []section {
	var out []section
	heads := heading.FindAllStringSubmatchIndex(doc, -1)
	for i, h := range heads {
		end := len(doc)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		s := section{code: diag.Code(doc[h[2]:h[3]]), title: doc[h[4]:h[5]]}
		blocks := fence.FindAllStringSubmatchIndex(doc[h[1]:end], -1)
		if len(blocks) != 3 {
			t.Fatalf("%s has %d examples, expected failing, text and fixed", s.code, len(blocks))
		}
		for j, to := range []*block{&s.failing, &s.text, &s.fixed} {
			b := blocks[j]
			off := h[1]
			*to = block{doc[off+b[2] : off+b[3]], doc[off+b[4] : off+b[5]], off + b[4], off + b[5]}
		}
		out = append(out, s)
	}
	return out
}

// archive reads an example: a TOML block is accessc.toml, a txtar block everything.
func (b block) archive() *txtar.Archive {
	if b.info == "txtar" {
		return txtar.Parse([]byte(b.body))
	}
	return &txtar.Archive{Files: []txtar.File{{Name: "accessc.toml", Data: []byte(b.body)}}}
}

// TestChecks runs the examples of docs/checks.md: the failing one prints the text in the
// document and reports its code, the fixed one does not report it.
func TestChecks(t *testing.T) {
	data, err := os.ReadFile(checksFile)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	documented := map[diag.Code]bool{}
	all := sections(t, doc)
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		documented[s.code] = true
		if s.title != s.code.Title() {
			t.Errorf("%s is titled %q, expected %q", s.code, s.title, s.code.Title())
		}
		t.Run(string(s.code), func(t *testing.T) {
			if needsUnprivileged(s.failing.archive()) && os.Geteuid() == 0 {
				t.Skip("root reads everything")
			}
			out := golden.Lay(t, s.failing.archive()).Run(t)
			if !strings.Contains(out.Findings, "["+string(s.code)+"]") {
				t.Errorf("the failing example does not report its code:\n%s", out.Findings)
			}
			if wants := s.code.Severity() == diag.Error; out.Failed != wants {
				t.Errorf("failed: %v, expected %v", out.Failed, wants)
			}
			if *update {
				doc = doc[:s.text.start] + out.Findings + doc[s.text.end:]
			} else if d := cmp.Diff(s.text.body, out.Findings); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
			fixed := golden.Lay(t, s.fixed.archive()).Run(t)
			if strings.Contains(fixed.Findings, string(s.code)) || fixed.Failed {
				t.Errorf("the fixed example still reports:\n%s", fixed.Findings)
			}
		})
	}
	for _, c := range diag.Codes() {
		if !documented[c] {
			t.Errorf("%s (%s) is not documented", c, c.Title())
		}
	}
	if *update {
		if err := os.WriteFile(checksFile, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
