package golden_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/golden"
)

const (
	checksFile = "../docs/checks.md"
	fixedFile  = "fixed.txt"
)

// section is one code's entry in docs/checks.md: a failing example, its output, and a fixed
// example, which is in fixed.txt where the page does not need it.
type section struct {
	code                 diag.Code
	title, prose         string
	failing, text, fixed block
}

// begins are the first words of the sections about findings that are no errors.
var begins = map[diag.Severity]string{diag.Warning: "Warning. ", diag.Note: "Note. "}

// block is a fenced block and where its contents are in the document.
type block struct {
	info, body string
	start, end int
}

var (
	heading = regexp.MustCompile(`(?m)^## (ACC\d+): (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	count   = regexp.MustCompile(`(?m)\n^\d.* in \d+ files?\n\z`)
)

// repaired are the fixed examples that docs/checks.md does not have, by code.
func repaired(t *testing.T) map[diag.Code]block {
	data, err := os.ReadFile(fixedFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[diag.Code]block{}
	for _, part := range strings.Split(string(data), "\n## ")[1:] {
		code, _, _ := strings.Cut(part, ":")
		b := fence.FindStringSubmatch(part)
		if b == nil {
			t.Fatalf("%s: %s has no example", fixedFile, code)
		}
		out[diag.Code(code)] = block{info: b[1], body: b[2]}
	}
	return out
}

func sections(t *testing.T, doc string) []section {
	var out []section
	elsewhere := repaired(t)
	heads := heading.FindAllStringSubmatchIndex(doc, -1)
	for i, h := range heads {
		end := len(doc)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		s := section{code: diag.Code(doc[h[2]:h[3]]), title: doc[h[4]:h[5]], prose: strings.TrimSpace(doc[h[1]:end])}
		blocks := fence.FindAllStringSubmatchIndex(doc[h[1]:end], -1)
		fixed, isElsewhere := elsewhere[s.code]
		if want := map[bool]int{true: 2, false: 3}[isElsewhere]; len(blocks) != want {
			t.Fatalf("%s has %d examples, expected %d: failing, text and, unless %s has it, fixed",
				s.code, len(blocks), want, fixedFile)
		}
		s.fixed = fixed
		for j, b := range blocks {
			to := []*block{&s.failing, &s.text, &s.fixed}[j]
			off := h[1]
			*to = block{doc[off+b[2] : off+b[3]], doc[off+b[4] : off+b[5]], off + b[4], off + b[5]}
		}
		out = append(out, s)
	}
	return out
}

// archive reads an example: a TOML block is accessc.toml, a txtar block everything. The tool x is in a layer below.
func (b block) archive() *txtar.Archive {
	a := &txtar.Archive{Files: []txtar.File{{Name: "accessc.toml", Data: []byte(b.body)}}}
	if b.info == "txtar" {
		a = txtar.Parse([]byte(b.body))
	}
	const below = ".jp/config.toml"
	if !slices.ContainsFunc(a.Files, func(f txtar.File) bool { return f.Name == below }) {
		a.Files = append(a.Files, txtar.File{Name: below, Data: []byte("[tools.x]\nsource = \"local\"\n")})
	}
	return a
}

// shown is what a section shows of the findings: neither a first line that repeats the heading, nor the line that
// counts.
func (s section) shown(findings string) string {
	first := fmt.Sprintf("%s[%s]: %s\n", s.code.Severity(), s.code, s.code.Title())
	return count.ReplaceAllString(strings.TrimPrefix(findings, first), "")
}

// TestChecks runs the examples of docs/checks.md: the failing one prints the text in the
// document and reports its code; the fixed one does not report it.
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
		if want := begins[s.code.Severity()]; !strings.HasPrefix(s.prose, want) {
			t.Errorf("%s does not begin with %q", s.code, want)
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
			shown := s.shown(out.Findings)
			if *update {
				doc = doc[:s.text.start] + shown + doc[s.text.end:]
			} else if d := cmp.Diff(s.text.body, shown); d != "" {
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
