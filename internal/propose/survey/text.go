package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

const head = `#:schema https://github.com/accessc/accessc/raw/main/cmd/accessc/schema.json
# What the tools of this workspace may touch. accessc explain says it in words, accessc exec runs a
# tool under it, accessc init --starter prints an example of every kind of rule.
#
# Files: the rule with the longest path wins in full. Network: what no rule or preset opens is closed.
# Presets (accessc preset list) have the rules of toolchains in your home, which need your approval.
`

// Text writes a policy with the proposed tools, empty where there are none. On a platform that does not compare
// the two ends of a move the tools accept that a directory takes closed names along.
func Text(found []Found, on ir.Platform) string {
	var b strings.Builder
	for _, f := range found {
		for _, t := range f.Tools {
			t.write(&b, f.File)
			if on == ir.Darwin {
				b.WriteString("accept = [\"fs.move\"]  # macOS: a directory that is moved into the tool's home " +
					"takes closed names along\n")
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return head + b.String()
}

func (t *Tool) write(b *strings.Builder, file string) {
	fmt.Fprintf(b, "\n# %s: %s\n[tools.%s]\nsource = \"local\"\ncommand = %s\n", file, t.About, tomltext.Key(t.Name), tomltext.String(t.Command))
	fmt.Fprintf(b, "\n[tools.%s.access]\nextends = [\n", tomltext.Key(t.Name))
	var rows [][2]string
	for _, p := range t.Presets {
		rows = append(rows, [2]string{tomltext.String("preset:"+p.Name) + ",", p.Why})
	}
	for _, p := range t.Later {
		rows = append(rows, [2]string{"# " + tomltext.String("preset:"+p.Name) + ",", p.Why})
	}
	lines(b, rows)
	b.WriteString("]\nfs = [\n")
	rows = nil
	for _, r := range t.Rules {
		rows = append(rows, [2]string{r.inline() + ",", r.Why})
	}
	for _, r := range t.ByName {
		rows = append(rows, [2]string{r.inline() + ",", r.Why})
	}
	lines(b, rows)
	b.WriteString("]\n")
	for _, n := range t.Notes {
		b.WriteString("# " + n + "\n")
	}
}

func (r *Rule) inline() string { return r.with("path = " + tomltext.String(r.Path)) }

func (r *ByName) inline() string {
	names := make([]string, len(r.Names))
	for i, n := range r.Names {
		names[i] = tomltext.String(n)
	}
	return r.with("path = "+tomltext.String(r.Path), "names = ["+strings.Join(names, ", ")+"]")
}

// with is the rule behind its first keys.
func (r *Rule) with(keys ...string) string {
	for _, k := range r.Keys {
		keys = append(keys, k+" = true")
	}
	return "{ " + strings.Join(keys, ", ") + " }"
}

// lines writes rows with their comments in one column.
func lines(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s  # %s\n", width, r[0], r[1])
	}
}

// Summary lists the files that were found, each with its proposed tools, or the reason why it has none.
func Summary(found []Found) string {
	var b strings.Builder
	width := 0
	for _, f := range found {
		width = max(width, len(f.File))
	}
	for _, f := range found {
		says := f.Why
		if len(f.Tools) > 0 {
			says = f.tools()
		}
		fmt.Fprintf(&b, "  %-*s  %s\n", width, f.File, says)
		if len(f.Tools) > 0 && f.Why != "" {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, "", f.Why)
		}
	}
	return b.String()
}

// tools names the tools of a file, the paths that they may write, and their presets.
func (f *Found) tools() string {
	var names, presets, writes []string
	add := func(to *[]string, s string) {
		if !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	for _, t := range f.Tools {
		add(&names, t.Name)
		for _, p := range t.Presets {
			add(&presets, p.Name)
		}
		for _, r := range t.Rules {
			if slices.Contains(r.Keys, "write") {
				add(&writes, r.Path)
			}
		}
	}
	out := strings.Join(names, ", ") + ": "
	switch {
	case len(writes) == 0:
		out += "read the workspace, write nothing in it"
	case slices.Contains(writes, "."):
		out += "read and write the workspace"
	default:
		out += "read the workspace, write " + strings.Join(writes, ", ")
	}
	return out + "; presets " + strings.Join(presets, ", ")
}
