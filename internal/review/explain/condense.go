package explain

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// condensed leaves the defaults out of a tool that one side lacks: it shares them with every
// tool, and the words for that are enough. Of rulesets it leaves unusual forms out. A rule on
// all hosts makes a single difference. JSON has all of it.
func condensed(cs []Change) []Change {
	out := usual(cs)
	for i := range out {
		out[i].Differences, _ = folded(out[i].Differences)
	}
	return out
}

// usual leaves out all that a reader does not need, and joins nothing.
func usual(cs []Change) []Change {
	out := slices.Clone(cs)
	for i := range out {
		out[i].Differences = slices.DeleteFunc(slices.Clone(out[i].Differences), func(d compare.Difference) bool {
			return d.Beside
		})
		if t := out[i].tool(); t != nil && out[i].Status != "" {
			out[i].Differences = own(out[i].Differences, t)
		}
	}
	return out
}

func (c Change) tool() *ir.Tool {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// own drops the differences that are the default's, and names their subjects in the first
// difference, that there is the tool.
func own(ds []compare.Difference, t *ir.Tool) []compare.Difference {
	var kept []compare.Difference
	var usual []string
	presence := slices.IndexFunc(ds, func(d compare.Difference) bool { return d.Kind == compare.Presence })
	for _, d := range ds {
		name := byDefault(d, t)
		if presence >= 0 && d.Wider != ds[presence].Wider {
			name = "" // a removed server leaves its name the default policy, which may be wider
		}
		switch {
		case name == "":
			kept = append(kept, d)
		case !slices.Contains(usual, name):
			usual = append(usual, name)
		}
	}
	switch i := slices.IndexFunc(kept, func(d compare.Difference) bool { return d.Kind == compare.Presence }); {
	case i < 0 || len(usual) == 0:
		return ds
	case len(kept) == 1:
		kept[i].Where += ", default policy"
	default:
		kept[i].Where += ", default " + strings.Join(usual, " and ")
	}
	return kept
}

// byDefault is the subject of a difference that no layer declares, empty if a layer does.
func byDefault(d compare.Difference, t *ir.Tool) string {
	rule := d.New.Rule
	if rule == nil {
		rule = d.Old.Rule
	}
	switch {
	case d.Kind != compare.Grant:
		return ""
	case d.Resource == ir.FS && !t.Declared.FS && (rule == nil || rule.Source().Layer != ir.LayerPreset):
		return "files"
	case d.Resource == ir.Env && rule != nil && rule.Source().Layer == ir.LayerDefault:
		return "variables"
	default:
		return ""
	}
}
