package fleet

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
)

// Manifest holds the facts of a manifest.
type Manifest struct {
	// Path is the path of its file: the directory that was named and the place below it.
	Path string `json:"path"`
	Hash string `json:"sha256,omitempty"` // of its bytes, empty where they cannot be read
	Form string `json:"form,omitempty"`   // portable or resolved
	// Compiled is true where its policies were compiled anew and are the policies of the artifacts and the ledger, or
	// there is a problem.
	Compiled bool      `json:"verified"`
	Tools    []Tool    `json:"tools"`
	Rulesets []Ruleset `json:"rulesets,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	// Artifacts are counted at each run.
	Artifacts Artifacts `json:"artifacts"`
}

// Artifacts counts the artifacts that a manifest lists.
type Artifacts struct {
	Match  int `json:"match"`  // have the hash
	Absent int `json:"absent"` // of tools without a directory beside the manifest
	Wrong  int `json:"wrong"`  // differ, or are not there although others of the tool are
}

// Problem is a thing that is wrong with a manifest, its artifacts or a directory.
type Problem struct {
	Class  build.Class `json:"class"`
	Tool   string      `json:"tool,omitempty"`
	Detail string      `json:"detail"`
}

// The classes besides the classes of a verified build.
const (
	// Unreadable: a manifest cannot be read, or is none that this version reads.
	Unreadable build.Class = "manifest.unreadable"
	// Changing: a manifest did not stay the same for as long as it takes to compare it with its artifacts.
	Changing build.Class = "manifest.changing"
	// NoDirectory: a directory cannot be listed, so manifests in it are not known.
	NoDirectory build.Class = "directory.unreadable"
)

// Ruleset is a ruleset of a manifest.
type Ruleset struct {
	Name   string `json:"name"`
	Policy string `json:"policy_sha256"`
}

// Tool holds the facts that a manifest states of one tool.
type Tool struct {
	Name     string `json:"name"`
	Source   string `json:"source"`
	At       string `json:"at,omitempty"` // file, line and column in the repository
	Confined bool   `json:"confined"`
	Risk     string `json:"risk,omitempty"`
	Policy   string `json:"policy_sha256,omitempty"`
	// Sensitive are the patterns that some grant reaches, also patterns of the user's home.
	Sensitive []string `json:"sensitive,omitempty"`
	// Outside are the places beside the workspace on which something is granted, except the
	// base's.
	Outside []Place `json:"outside,omitempty"`
	// Network are the rules by which some host is reached, Listens the rules by which connections are
	// accepted.
	Network []string `json:"network,omitempty"`
	Listens []string `json:"listens,omitempty"`
	// Live is true where more can be granted while the tool runs.
	Live bool `json:"live,omitempty"`
	// Accepts are the gaps that the policy accepts.
	Accepts []string `json:"accepts,omitempty"`

	// needs are the rows of the ledger that a host has to meet, in the form of the record.
	needs string `json:"-"`
}

// Place is a place with the capabilities that are granted there.
type Place struct {
	Place        string   `json:"place"`
	Capabilities []string `json:"capabilities"`
}

// factsOf describes a tool that was checked. A tool that cannot be read has only its name.
func factsOf(in build.Inspected) Tool {
	t := Tool{Name: in.Entry.Name, Source: in.Entry.Source, Confined: in.Entry.Confined, Policy: in.Hash}
	if in.Tool == nil {
		return t
	}
	if pos := in.Tool.Source.Origin.Pos; pos.File != "" {
		t.At = pos.String()
	}
	v := in.View
	if v == nil {
		return t
	}
	t.Risk, t.Live = v.Risk().String(), len(in.Tool.May)+len(in.Tool.MayNet) > 0
	t.Sensitive, t.Outside = append(v.Exposed(), exposedAtHome(v)...), outside(v)
	t.Network, t.Listens = network(v)
	for _, a := range in.Tool.Accept {
		t.Accepts = append(t.Accepts, string(a.Gap))
	}
	t.needs = needsOf(in.Entry.Ledger)
	return t
}

// outside lists the places that external rules grant something at.
func outside(v *ir.View) []Place {
	var out []Place
	for _, root := range v.Roots() {
		if root.Kind != ir.External {
			continue
		}
		v.Regions(root).WalkRoot(func(r *ir.Region) {
			if r.Named && r.Caps != 0 {
				out = append(out, Place{r.At.Short(), words(r.Caps)})
			}
		})
	}
	for _, e := range v.Entries() {
		if r := e.Rule; r.ByName() && r.Caps != 0 && r.At.Root.Kind == ir.External {
			out = append(out, Place{r.Subject(), words(r.Caps)})
		}
	}
	return out
}

func words(caps ir.CapSet) []string {
	var out []string
	for _, c := range caps.List() {
		out = append(out, c.String())
	}
	return out
}

// exposedAtHome lists the patterns of the user's home that an external rule reaches by its name.
func exposedAtHome(v *ir.View) []string {
	if !slices.ContainsFunc(v.Roots(), ir.Root.Direct) {
		return nil
	}
	var out []string
	for _, p := range v.Tool.Sensitive {
		if path := strings.TrimSuffix(p.Pattern, "/"); strings.HasPrefix(path, "~/") && !strings.Contains(path, "*") {
			q := &Question{files: ir.All, path: path}
			if q.put(v).Verdict == Yes {
				out = append(out, p.Pattern)
			}
		}
	}
	return out
}

// network lists the rules about hosts that are in effect.
func network(v *ir.View) (reaches, listens []string) {
	for i := range v.Tool.Net {
		r := &v.Tool.Net[i]
		switch {
		case !r.Allow:
		case r.Listen && v.Decide(ir.Listen{Host: listener(r.Host), Port: r.Port}).Allowed():
			listens = append(listens, r.Subject())
		case !r.Listen && reached(v, someHost(r.Host), r.Scheme, r.Port).Allowed():
			reaches = append(reaches, r.Subject())
		}
	}
	return reaches, listens
}

// listener is the address that a rule about listening is about; every address is every address of both families
// at once.
func listener(h ir.Host) ir.Host {
	if h.Kind == ir.HostAny {
		return ir.Host{Kind: ir.HostAddr, Addr: netip.IPv6Unspecified()}
	}
	return h
}

// needsOf is the form of a ledger in the record: the needs that a host has to meet, each once.
func needsOf(rows []backends.Row) string {
	var out []string
	for _, r := range rows {
		is, _ := ir.ParseEnforcement(r.Is)
		if is == ir.Supervised || !is.Held() {
			out = append(out, need{r.Platform, r.From, r.To, r.Is, r.Gap}.String())
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "\n")
}
