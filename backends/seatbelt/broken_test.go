package seatbelt

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
)

// statements splits the text of rules into its statements, without comments.
func statements(rules string) []string {
	var out []string
	for line := range strings.Lines(rules) {
		switch {
		case strings.HasPrefix(line, "("):
			out = append(out, line)
		case strings.HasPrefix(line, " ") && len(out) > 0:
			out[len(out)-1] += line
		}
	}
	return out
}

// regrant takes operations out of every statement and puts them into every allow.
func regrant(rules string, ops ...string) string {
	var out []string
	for _, s := range statements(rules) {
		for _, op := range ops {
			s = strings.ReplaceAll(s, " "+op, "")
		}
		if strings.HasPrefix(s, "(allow") {
			s = strings.Replace(s, "(allow", "(allow "+strings.Join(ops, " "), 1)
		}
		if !strings.HasPrefix(s, "(deny\n") {
			out = append(out, s)
		}
	}
	return strings.Join(out, "")
}

// sections splits a profile into the part before the rules, the rules, and the rest.
func sections(text string) (head, rules, tail string) {
	i := strings.Index(text, "; -- rules")
	j := strings.Index(text, "; -- last")
	return text[:i], text[i:j], text[j:]
}

func mapRules(text string, f func(string) string) string {
	head, rules, tail := sections(text)
	return head + f(rules) + tail
}

// broken are plausible generators, as changes of the output of this generator. Each is wrong in a way
// that a profile does not show at a glance.
var broken = []struct {
	name  string
	wreck func(string) string
}{
	{"deep before shallow", func(text string) string {
		return mapRules(text, func(rules string) string {
			found := statements(rules)
			slices.Reverse(found)
			return strings.Join(found, "")
		})
	}},
	{"denials of rules left out", func(text string) string {
		denial := regexp.MustCompile(`(?s); fs\[\d+\][^\n]*\n(\(deny .*?\)\)\n)`)
		return mapRules(text, func(rules string) string { return denial.ReplaceAllString(rules, "") })
	}},
	{"prefix for subpath", func(text string) string { return strings.ReplaceAll(text, "(subpath ", "(prefix ") }},
	{"escapes of JSON", func(text string) string {
		quoted := regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
		return mapRules(text, func(rules string) string {
			return quoted.ReplaceAllStringFunc(rules, func(s string) string {
				plain := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(s[1 : len(s)-1])
				var out bytes.Buffer
				if err := json.NewEncoder(&out).Encode(plain); err != nil {
					return s
				}
				return strings.TrimSpace(out.String())
			})
		})
	}},
	{"no pins", func(text string) string {
		i, j := strings.Index(text, "; -- pins"), strings.Index(text, "; -- last")
		return text[:i] + text[j:]
	}},
	{"a late rule without a filter", func(text string) string { return text + "(deny file-write-data)\n" }},
	{"a family for its leaves", func(text string) string {
		return mapRules(text, func(rules string) string {
			return strings.ReplaceAll(rules, "(deny file-read-metadata file-read-xattr file-read-data", "(deny file-read*")
		})
	}},
	{"families only", func(text string) string {
		leaf := regexp.MustCompile(`file-write-(data|mode|flags|times|xattr|owner|acl|finderinfo|create|unlink)`)
		return mapRules(text, func(rules string) string { return leaf.ReplaceAllString(rules, "file-write*") })
	}},
	{"a leaf forgotten", func(text string) string { return strings.ReplaceAll(text, " file-write-flags", "") }},
	{"a denial of the head forgotten", func(text string) string {
		return strings.Replace(text, "(deny file-link (with message \"accessc t default\"))\n", "", 1)
	}},
	{"a quote not escaped", func(text string) string { return strings.ReplaceAll(text, `\"`, `"`) }},
	{"a backslash not escaped", func(text string) string { return strings.ReplaceAll(text, `\\`, `\`) }},
	{"the directory without what is below", func(text string) string {
		below := regexp.MustCompile(`\n?\s*\(subpath (?:"(?:[^"\\]|\\.)*"|\((?:[^()]|\([^()]*\))*\))\)`)
		return mapRules(text, func(rules string) string { return below.ReplaceAllString(rules, "") })
	}},
	{"create without update", func(text string) string {
		return mapRules(text, func(rules string) string {
			return strings.ReplaceAll(rules, "(deny file-write* file-write-create file-write-data", "(deny file-write* file-write-data")
		})
	}},
	{"times forgotten", func(text string) string { return strings.ReplaceAll(text, " file-write*", "") }},
	{"the family denied behind its leaves", func(text string) string {
		return mapRules(text, func(rules string) string {
			found := statements(rules)
			for i := range len(found) - 1 {
				if strings.HasPrefix(found[i], "(deny file-write*\n") {
					found[i], found[i+1] = found[i+1], found[i]
				}
			}
			return strings.Join(found, "")
		})
	}},
	{"the family wherever update is granted", func(text string) string {
		first := regexp.MustCompile(`(?s)\(deny file-write\*\n.*?\)\)\n\(allow`)
		return mapRules(text, func(rules string) string { return first.ReplaceAllString(rules, "(allow file-write*") })
	}},
	{"set-ID bits with the family", func(text string) string {
		return mapRules(text, func(rules string) string { return strings.ReplaceAll(rules, " file-write-setugid", "") })
	}},
	{"a dash outside of ASCII in a comment", func(text string) string {
		return strings.Replace(text, "; -- pins:", "; -- pins –", 1)
	}},
	{"escapes of Unicode in paths", func(text string) string {
		return regexp.MustCompile(`[^\x00-\x7f]`).ReplaceAllStringFunc(text, func(s string) string {
			return strings.Trim(strconv.QuoteToASCII(s), `"`)
		})
	}},
	{"a link wherever something is granted", func(text string) string {
		return mapRules(text, func(rules string) string { return regrant(rules, opLink) })
	}},
	{"cloning a directory goes unseen", func(text string) string {
		return regexp.MustCompile(`(?s)\(deny file-clone\n.*?\)\)\n`).ReplaceAllString(text, "")
	}},
	{"a denial that names another rule", func(text string) string {
		return mapRules(text, func(rules string) string { return strings.ReplaceAll(rules, " fs[1]\"", " fs[0]\"") })
	}},
	{"a denial that names none", func(text string) string {
		unnamed := regexp.MustCompile(`\n  \(with message "[^"]*"\)`)
		return mapRules(text, func(rules string) string { return unnamed.ReplaceAllString(rules, "") })
	}},
	{"a program starts wherever something is granted", func(text string) string {
		return mapRules(text, func(rules string) string { return regrant(rules, opExec, opInterpreter) })
	}},
}

// TestBrokenGenerators tests the comparison of the property test: it must notice each of the
// wrong generators, and must find nothing in the same policies with the right generator.
func TestBrokenGenerators(t *testing.T) {
	gen := rapid.Custom(func(rt *rapid.T) scenario { return drawScenario(rt, 60) })
	const most = 400
	caught := make([]int, len(broken))
	for seed := range most {
		s := gen.Example(seed)
		out, err := Backend{}.Compile(s.tool, s.target(backends.Resolved))
		if err != nil || out.Data == nil {
			t.Fatalf("not compiled: %v %v", err, out.Refusals)
		}
		if err := noticed(&s, string(out.Data), out); err != nil {
			t.Fatalf("in the right profile: %v\n%s", err, s.String())
		}
		for i := range broken {
			if wrecked := broken[i].wreck(string(out.Data)); caught[i] == 0 && wrecked != string(out.Data) && noticed(&s, wrecked, out) != nil {
				caught[i] = seed + 1
			}
		}
		if !slices.Contains(caught, 0) {
			break
		}
	}
	for i, n := range caught {
		if n == 0 {
			t.Errorf("%s: not noticed in %d policies", broken[i].name, most)
			continue
		}
		t.Logf("%s: noticed at policy %d", broken[i].name, n)
	}
}

func noticed(s *scenario, text string, out backends.Output) error {
	j, err := newJudge(s, backends.Resolved, text, out.Ledger)
	if err != nil {
		return err
	}
	if err := j.compare(); err != nil {
		return err
	}
	return j.trees()
}
