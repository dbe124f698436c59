package ir

import (
	"slices"
	"strings"
)

// Risk is a coarse class of what a tool may do, for sorting a review.
type Risk uint8

// The risks. A tool has the highest class that any of its grants is in:
//
//   - high: it reaches the network, writes outside of the workspace, or gets a
//     variable that decides how programs load code;
//   - medium: it writes or executes in the workspace, reads outside of it, or is
//     granted something that is sensitive by name;
//   - low: it reads the workspace, or less.
const (
	RiskLow Risk = iota + 1
	RiskMedium
	RiskHigh
)

// String returns the word that the manifest uses.
func (r Risk) String() string {
	switch r {
	case RiskLow:
		return "low"
	case RiskMedium:
		return "medium"
	case RiskHigh:
		return "high"
	default:
		return "none"
	}
}

// RiskOf returns the risk of a tool, from what it is granted.
func RiskOf(t *Tool) Risk {
	risk := RiskLow
	for i := range t.FS {
		r := &t.FS[i]
		switch {
		case r.External && r.Caps&Write != 0:
			return RiskHigh
		case r.External && r.Caps != 0, r.Caps&(Write|Caps(Execute)) != 0, r.Caps != 0 && t.sensitive(r.At):
			risk = RiskMedium
		}
	}
	if slices.ContainsFunc(t.Net, func(r NetRule) bool { return r.Allow }) ||
		slices.ContainsFunc(t.Env, func(r EnvRule) bool { return r.Read && !r.Prefix && LoaderVariable(r.Name) }) {
		return RiskHigh
	}
	return risk
}

// sensitive reports whether a place is sensitive by name.
func (t *Tool) sensitive(at Location) bool {
	return at.Root.Kind == Workspace &&
		slices.ContainsFunc(t.Sensitive, func(p SensitivePattern) bool { return p.Covers(at.Path) })
}

// Exposed lists the sensitive patterns that some grant reaches, as a pattern
// matches paths that need not exist. Patterns in the user's home are reached by
// external rules only, which name their targets elsewhere.
func Exposed(t *Tool) []string {
	var out []string
	for _, e := range Exposures(NewView(t, Linux, Facts{})) {
		out = append(out, e.Pattern)
	}
	return out
}

// Exposure is a sensitive pattern and the regions that grant something on paths that
// it covers. Their governing rules are never nil.
type Exposure struct {
	Pattern string
	By      []*Region
}

// Exposures lists the sensitive patterns that are reached in the workspace.
func Exposures(v *View) []Exposure {
	root := v.Regions(Root{Kind: Workspace})
	if root == nil {
		return nil
	}
	var out []Exposure
	for _, p := range v.Tool.Sensitive {
		e := Exposure{Pattern: p.Pattern}
		root.Walk(func(r *Region) {
			if (r.Named || r.At.Path == "") && r.Governing.Rule != nil && r.exposes(p) {
				e.By = append(e.By, r)
			}
		})
		if e.By != nil {
			out = append(out, e)
		}
	}
	return out
}

// exposes reports whether a region grants something on a path that p covers: its own
// path, or one below it for a pattern that matches in any directory.
func (r *Region) exposes(p SensitivePattern) bool {
	return r.Caps != 0 && !r.Link && (p.Covers(r.At.Path) || strings.HasPrefix(p.Pattern, "**/"))
}
