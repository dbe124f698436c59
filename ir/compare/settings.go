package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
)

// Setting is a value of a tool that differs and permits nothing by itself, such as the program
// that runs under the permissions. Permissions are differences, limits among them.
// See decision D371.
type Setting struct {
	// Name is the key of the configuration; of a variable's fixed value it is "env NAME".
	Name string
	// Old and New are the values that only one side has, in its order; empty for none.
	Old, New []string
	// Was and At are where they are written, zero where nothing is.
	Was, At ir.Origin
}

// Settings compares what tools have beside permissions. Of a tool that one side lacks, a nil tool, it has only what an
// added tool runs.
func Settings(old, new *ir.Tool) []Setting {
	if new == nil {
		return nil
	}
	var out []Setting
	add := func(name string, was, is []value) {
		if s, differs := setting(name, was, is); differs {
			out = append(out, s)
		}
	}
	added := old == nil
	if added {
		old = &ir.Tool{Source: new.Source, Sensitive: new.Sensitive, Tests: new.Tests}
	}
	if was, is := old.Source.Kind == ir.SourceLocal, new.Source.Kind == ir.SourceLocal; !was || !is {
		// A manifest has no more of a tool that accessc does not start; that it starts a tool no longer is a
		// difference.
		if !was && !is {
			add("source", one(old.Source.String(), ir.Origin{}), one(new.Source.String(), ir.Origin{}))
		}
		return out
	}
	add("command", command(old.Command), command(new.Command))
	add("run", one(old.Run, ir.Origin{}), one(new.Run, ir.Origin{}))
	add("late", late(old), late(new))
	if !added {
		for _, name := range fixed(old, new) {
			add("env "+name, fixedTo(old, name), fixedTo(new, name))
		}
	}
	add("risk", leastRisk(old), leastRisk(new))
	add("sensitive_paths", sensitive(old), sensitive(new))
	add("tests", tests(old), tests(new))
	return out
}

// value is the text of a setting with its place.
type value struct {
	text string
	at   ir.Origin
}

func one(text string, at ir.Origin) []value {
	if text == "" {
		return nil
	}
	return []value{{text, at}}
}

// setting leaves out what both sides have; order is no difference.
func setting(name string, was, is []value) (Setting, bool) {
	s := Setting{Name: name}
	lacks := func(all []value, v value) bool {
		return !slices.ContainsFunc(all, func(o value) bool { return o.text == v.text })
	}
	for _, v := range was {
		if lacks(is, v) {
			if s.Old == nil {
				s.Was = v.at
			}
			s.Old = append(s.Old, v.text)
		}
	}
	for _, v := range is {
		if lacks(was, v) {
			if s.New == nil {
				s.At = v.at
			}
			s.New = append(s.New, v.text)
		}
	}
	return s, s.Old != nil || s.New != nil
}

// command is spelled so that no two commands read alike.
func command(c *ir.Command) []value {
	if c == nil {
		return nil
	}
	words := make([]string, 0, len(c.Args)+1)
	for _, w := range append([]string{c.Program}, c.Args...) {
		words = append(words, shellword.Quote(w))
	}
	text := strings.Join(words, " ")
	if c.Shell {
		text = strings.Join(append([]string{"by the shell: " + c.Program}, words[1:]...), " ")
	}
	return one(text, c.Origin)
}

func leastRisk(t *ir.Tool) []value {
	if t.LeastRisk == 0 {
		return nil
	}
	return one(t.LeastRisk.String(), ir.Origin{})
}

func late(t *ir.Tool) []value {
	if !t.LateOpen {
		return nil
	}
	return one("open", ir.Origin{})
}

// fixed are the variables to which a side gives a value of its own.
func fixed(old, new *ir.Tool) []string {
	var out []string
	for _, t := range []*ir.Tool{old, new} {
		for _, r := range t.Env {
			if r.Value != "" {
				out = append(out, r.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fixedTo is the last such value, which decides.
func fixedTo(t *ir.Tool, name string) []value {
	var out []value
	for _, r := range t.Env {
		if r.Name == name && r.Value != "" {
			out = one(shellword.Quote(r.Value), r.Origin)
		}
	}
	return out
}

func sensitive(t *ir.Tool) []value {
	var out []value
	for _, p := range t.Sensitive {
		out = append(out, value{p.Pattern, p.Origin})
	}
	return out
}

func tests(t *ir.Tool) []value {
	var out []value
	for _, a := range t.Tests {
		word := "deny "
		if a.Allow {
			word = "allow "
		}
		out = append(out, value{word + a.Question, a.Origin})
	}
	return out
}
