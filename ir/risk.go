package ir

import (
	"net/netip"
	"slices"
	"strings"
)

// Risk is a rough class of a tool's permissions, for sorting a review.
type Risk uint8

// The risks. A tool has the highest class of all its effective grants: a rule that another rule overrides does not
// count.
//
//   - high: it reaches the network or is reached from it, writes outside of the workspace, or
//     gets a variable that decides how programs load code;
//   - medium: it writes or executes in the workspace, reads outside of it, listens at a loopback
//     address, or is granted something that is sensitive by name;
//   - low: it reads the workspace, or less.
//
// The base, the private home and the temporary directory belong to every tool and do not count.
const (
	RiskLow Risk = iota + 1
	RiskMedium
	RiskHigh
)

// ParseRisk reads the word for a risk; 0 stands for no such word.
func ParseRisk(word string) Risk {
	for r := RiskLow; r <= RiskHigh; r++ {
		if r.String() == word {
			return r
		}
	}
	return 0
}

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

// RiskOf returns the risk of a tool: of its effective grants, or what a layer wrote if that is higher.
func RiskOf(t *Tool) Risk { return NewView(t, Linux, Facts{}).Risk() }

// Risk returns the risk of the view's tool.
func (v *View) Risk() Risk { return max(v.Tool.LeastRisk, v.Granted()) }

// Granted returns the risk of the effective grants of the view's tool.
func (v *View) Granted() Risk {
	if v.reachesNetwork() || v.getsLoader() {
		return RiskHigh
	}
	risk := v.riskOfListening()
	for _, root := range v.Roots() {
		if root.Kind != Workspace && root.Kind != External {
			continue
		}
		v.Regions(root).Walk(func(r *Region) { risk = max(risk, v.riskAt(r)) })
	}
	return risk
}

// riskAt is the risk of a region.
func (v *View) riskAt(r *Region) Risk {
	caps := r.Caps
	for _, e := range r.ByName {
		caps |= e.Rule.Caps
	}
	if v.Tool.Commands != nil && len(v.Tool.Commands.Rules) == 0 {
		caps = caps.Without(Execute)
	}
	switch {
	case r.At.Root.Kind == External && caps&Write != 0:
		return RiskHigh
	case r.At.Root.Kind == External && caps != 0, caps&(Write|Caps(Execute)) != 0, caps != 0 && v.Tool.sensitive(r):
		return RiskMedium
	default:
		return RiskLow
	}
}

// reachesNetwork reports whether some rule allows a target that no other rule takes back.
func (v *View) reachesNetwork() bool {
	return slices.ContainsFunc(v.Tool.Net, func(r NetRule) bool {
		if !r.Allow {
			return false
		}
		schemes := []string{r.Scheme}
		if r.Scheme == "" {
			schemes = []string{"https", "http", "wss", "ws", "ftp"}
		}
		host := r.Host
		switch host.Kind {
		case HostSuffix:
			host = Host{Kind: HostName, Name: "risk." + host.Name}
		case HostAny:
			host = Host{Kind: HostName, Name: "risk.invalid"}
		case HostName, HostAddr:
		}
		return slices.ContainsFunc(schemes, func(scheme string) bool {
			to := Endpoint{Scheme: scheme, Host: host, Port: r.Port, Path: r.Path}
			if to.Port == 0 {
				to.Port = DefaultPort(scheme)
			}
			return slices.ContainsFunc(append([]string{""}, r.Methods...), func(method string) bool {
				return v.Decide(Connect{To: to, Method: method}).Allowed()
			})
		})
	})
}

// riskOfListening is high where connections come from other hosts.
func (v *View) riskOfListening() Risk {
	risk := RiskLow
	for i := range v.Tool.Net {
		r := &v.Tool.Net[i]
		op := Listen{r.Host, r.Port}
		if r.Host.Kind == HostAny {
			op.Host = Host{Kind: HostAddr, Addr: netip.IPv6Unspecified()}
		}
		switch {
		case !r.Listen || !r.Allow || !v.Decide(op).Allowed():
		case r.Host.Kind == HostName, r.Host.Kind == HostAddr && r.Host.Addr.Unmap().IsLoopback():
			risk = max(risk, RiskMedium)
		default:
			risk = RiskHigh
		}
	}
	return risk
}

// getsLoader reports whether a variable that decides how programs load code is forwarded.
func (v *View) getsLoader() bool {
	return slices.ContainsFunc(v.Tool.Env, func(r EnvRule) bool {
		return r.Read && r.Value == "" && !r.Prefix && LoaderVariable(r.Name) &&
			v.Decide(Forward{Name: r.Name}).Allowed()
	})
}

// sensitive reports whether a region is sensitive by name, or names in it that a rule grants.
func (t *Tool) sensitive(r *Region) bool {
	return r.At.Root.Kind == Workspace && slices.ContainsFunc(t.Sensitive, func(p SensitivePattern) bool {
		return p.Covers(r.At.Path) || r.namesExposed(p).Rule != nil
	})
}

// Exposed lists the sensitive patterns that some grant reaches, as a pattern
// matches paths that need not exist. Patterns in the user's home are reached by
// external rules only, which name their targets elsewhere.
func Exposed(t *Tool) []string { return NewView(t, Linux, Facts{}).Exposed() }

// Exposed lists the paths that the view's tool exposes.
func (v *View) Exposed() []string {
	var out []string
	for _, e := range Exposures(v) {
		out = append(out, e.Pattern)
	}
	return out
}

// Exposure is a sensitive pattern and the regions that grant something on paths that
// it covers. Their governing rules are never nil.
type Exposure struct {
	Pattern string    // as listed
	By      []*Region // regions in the order of their paths
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
			switch by := r.namesExposed(p); {
			case !r.Named && r.At.Path != "" && len(r.ByName) == 0:
			case r.Governing.Rule != nil && r.exposes(p):
				e.By = append(e.By, r)
			case by.Rule != nil:
				named := *r
				named.Governing = by
				e.By = append(e.By, &named)
			}
		})
		if e.By != nil {
			out = append(out, e)
		}
	}
	return out
}

// exposes reports whether a region grants something on a path that p covers: its own
// path, or a path below it for a pattern that matches in any directory.
func (r *Region) exposes(p SensitivePattern) bool {
	if r.Caps == 0 || r.Link || !r.Named && r.At.Path != "" {
		return false
	}
	name, anywhere := strings.CutPrefix(p.Pattern, "**/")
	switch {
	case p.Covers(r.At.Path):
		return true
	case !anywhere || r.Guarded():
		return false
	}
	return slices.ContainsFunc(r.namesLike(name), func(name string) bool { return r.lastAbout(name).Rule == nil })
}

// namesExposed is the rule by name of the region that grants something on names that p covers, empty without
// such a rule.
func (r *Region) namesExposed(p SensitivePattern) (by Entry) {
	name, anywhere := strings.CutPrefix(p.Pattern, "**/")
	if !anywhere || !slices.ContainsFunc(r.ByName, func(e Entry) bool { return e.Rule.Caps != 0 }) {
		return by
	}
	for _, name := range r.namesLike(name) {
		if e := r.lastAbout(name); e.Rule != nil && e.Rule.Caps != 0 {
			return e
		}
	}
	return by
}

// namesLike are examples of all names of a pattern that the rules by name of a region tell apart. A pattern of several
// components is its own example.
func (r *Region) namesLike(pattern string) []string {
	pattern = strings.TrimSuffix(pattern, "/")
	if len(r.ByName) == 0 || BadName(pattern) != "" {
		return []string{pattern}
	}
	lists := [][]string{{pattern}}
	for _, e := range r.ByName {
		lists = append(lists, e.Rule.Names)
	}
	names, told := NameClasses(lists, nil)
	if !told {
		return []string{pattern}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !MatchName(pattern, name) })
}

// lastAbout is the rule by name that decides about a name directly in the region.
func (r *Region) lastAbout(name string) Entry {
	for _, e := range slices.Backward(r.ByName) {
		if MatchNames(e.Rule.Names, name) {
			return e
		}
	}
	return Entry{}
}
