package external

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// Compiled is what a program has made of a tool.
type Compiled struct {
	Platform ir.Platform // 0 for any
	Files    []File      // with different names
	// Ledger states every cell of the tool once.
	Ledger   ir.Ledger
	Refusals []backends.Refusal // with any of them the rest is empty
}

// ReadCompiled reads the reply to CompileRequest. Files of the reserved names are refused.
func ReadCompiled(data []byte, t *ir.Tool, reserved []string) (*Compiled, error) {
	r, err := read(data)
	if err != nil {
		return nil, err
	}
	if r.Verdicts != nil {
		return nil, errors.New("found verdicts, which were not asked for")
	}
	out := &Compiled{}
	if r.Platform != "" {
		var known bool
		if out.Platform, known = ir.ParsePlatform(r.Platform); !known {
			return nil, fmt.Errorf("found the platform %q, expected linux, darwin or windows, or none", r.Platform)
		}
	}
	cells := view(t, out.Platform).Cells()
	if len(r.Refusals) > 0 {
		out.Refusals, err = refusals(cells, r.Refusals)
		return out, err
	}
	if err := checkFiles(r.Files, reserved); err != nil {
		return nil, err
	}
	out.Files = r.Files
	out.Ledger, err = ledger(out.Platform, cells, r.Rows)
	return out, err
}

// ReadVerdicts reads the reply to DecideRequest about so many operations.
func ReadVerdicts(data []byte, operations int) ([]Verdict, error) {
	r, err := read(data)
	switch {
	case err != nil:
		return nil, err
	case r.Platform != "" || r.Files != nil || r.Rows != nil || r.Refusals != nil:
		return nil, errors.New("found more than verdicts, which were asked for")
	case len(r.Verdicts) != operations:
		return nil, fmt.Errorf("found %d verdicts about %d operations", len(r.Verdicts), operations)
	}
	for _, v := range r.Verdicts {
		if v != Allow && v != Deny && v != Unknown {
			return nil, fmt.Errorf("found the verdict %q, expected allow, deny or unknown", v)
		}
	}
	return r.Verdicts, nil
}

// read reads a reply of this version.
func read(data []byte) (*reply, error) {
	if len(data) > MaxReply {
		return nil, fmt.Errorf("found more than %d bytes", MaxReply)
	}
	r := &reply{}
	format, version, _ := strictjson.Header(data)
	switch {
	case format != Format:
		return nil, fmt.Errorf("found the format %q, expected %s", format, Format)
	case version != Version:
		return nil, fmt.Errorf("found version %d of the format, and this accessc speaks version %d", version, Version)
	}
	return r, strictjson.Unmarshal(data, r)
}

// checkFiles refuses names that are none of one directory's on every system, and text that is not for reading.
func checkFiles(files []File, reserved []string) error {
	if len(files) == 0 || len(files) > maxFiles {
		return fmt.Errorf("found %d files, expected 1 to %d", len(files), maxFiles)
	}
	seen := slices.Clone(reserved)
	for _, f := range files {
		switch {
		case !fileName(f.Name):
			return fmt.Errorf("found the file name %q, expected letters, digits, and . _ - after the first", f.Name)
		case slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, f.Name) }):
			return fmt.Errorf("found the file name %q, which another file has", f.Name)
		case !utf8.ValidString(f.Text) || strings.ContainsFunc(f.Text, hidden):
			return fmt.Errorf("found a control character in %s", f.Name)
		}
		seen = append(seen, f.Name)
	}
	return nil
}

// fileName reports whether a name is one component of a path on every system: Windows takes a final dot away, and has
// devices for names such as "con.json" (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
func fileName(s string) bool {
	for i, c := range s {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", c)) {
			return false
		}
	}
	stem, _, _ := strings.Cut(strings.ToLower(s), ".")
	numbered := len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt"))
	device := numbered || slices.Contains([]string{"con", "prn", "aux", "nul"}, stem)
	return s != "" && len(s) <= maxName && !strings.HasSuffix(s, ".") && !device
}

// hidden reports whether a character of an artifact is not seen as what it is.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || visible.Hidden(r))
}

// reason checks a text in words.
func reason(s string) error {
	switch {
	case s == "":
		return errors.New("found no reason (why)")
	case len(s) > maxWhy:
		return fmt.Errorf("found a reason of more than %d bytes", maxWhy)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, visible.Hidden):
		return fmt.Errorf("found a control character in the reason %q", s)
	}
	return nil
}

func refusals(cells []ir.Cell, from []Refusal) ([]backends.Refusal, error) {
	var out []backends.Refusal
	for _, r := range from {
		if err := reason(r.Why); err != nil {
			return nil, err
		}
		x := backends.Refusal{Why: r.Why}
		if r.Rule != "" {
			i := slices.IndexFunc(cells, func(c ir.Cell) bool { return c.ID == r.Rule })
			if i < 0 {
				return nil, fmt.Errorf("found a refusal of the rule %q, which the policy does not have", r.Rule)
			}
			x.Rule = cells[i].Rule
		}
		out = append(out, x)
	}
	return out, nil
}

// named is a cell as a row names it.
type named struct {
	resource ir.Resource
	rule     ir.RuleID
	aspect   ir.Aspect
}

// ledger states every cell: as a row says, or that the program says nothing.
func ledger(p ir.Platform, cells []ir.Cell, rows []Row) (ir.Ledger, error) {
	const foreign = "rows[%d]: found the aspect %q of %s %q, which the policy does not have"
	said := map[named]ir.Held{}
	known := map[named]bool{}
	for _, c := range cells {
		known[named{c.Resource, c.ID, c.Aspect}] = true
	}
	for i, r := range rows {
		held, resource, err := r.held()
		if err != nil {
			return nil, fmt.Errorf("rows[%d]: %w", i, err)
		}
		for _, id := range r.Rules {
			for _, a := range r.Aspects {
				cell := named{resource, id, a}
				_, twice := said[cell]
				switch {
				case !known[cell]:
					return nil, fmt.Errorf(foreign, i, a, r.Resource, id)
				case twice:
					return nil, fmt.Errorf("rows[%d]: found the aspect %q of %s %q twice", i, a, r.Resource, id)
				}
				said[cell] = held
			}
		}
	}
	b := ir.NewLedger(p)
	for _, c := range cells {
		held, stated := said[named{c.Resource, c.ID, c.Aspect}]
		if !stated {
			held = ir.Because(ir.Unenforced, "", causeUnstated)
		}
		b.Add(c, ir.Levels{}, held)
	}
	return b.Ledger(), nil
}

// held is what a row says of its cells. No supervisor of accessc's is there where another program starts the tool.
func (r Row) held() (ir.Held, ir.Resource, error) {
	resource := slices.IndexFunc(ir.Resources[:], func(x ir.Resource) bool { return x.String() == r.Resource })
	is, known := ir.ParseEnforcement(r.Is)
	switch {
	case resource < 0:
		return ir.Held{}, 0, fmt.Errorf("found the resource %q", r.Resource)
	case !known || is == ir.Supervised:
		const words = "exact, stricter, weaker, advisory, none or assumption"
		return ir.Held{}, 0, fmt.Errorf("found %q, expected %s", r.Is, words)
	case r.Gap != "" && (is.Held() || !ir.Gap(r.Gap).Known()):
		return ir.Held{}, 0, fmt.Errorf("found the gap %q of what is %s", r.Gap, r.Is)
	case is == ir.Exact && r.Why == "":
		return backends.Exact, ir.Resources[resource], nil
	}
	if err := reason(r.Why); err != nil {
		return ir.Held{}, 0, err
	}
	why := []ir.Cause{{ID: causeStated, Place: r.Why}}
	return ir.Held{Is: is, Gap: ir.Gap(r.Gap), Causes: why}, ir.Resources[resource], nil
}
