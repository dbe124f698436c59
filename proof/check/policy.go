package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Policy is a tool's policy, read from a manifest, and its evaluator.
type Policy struct {
	doc       *policyDoc
	platform  string
	linux     bool
	rules     []rule              // in the order in which ties are decided
	paths     map[string]int      // by place: the last rule for the very place
	named     map[string][]int    // by place: the rules by name that count from it
	protected map[string]bool     // by place: protected, or false for open
	guards    [][]string          // patterns of protected paths in effect, by component
	writes    map[string]bool     // by root: rules by name grant writing there
	nodes     map[string]nodeKind // the places that rules are about, and those above
	matchers  map[string]pattern
	names     map[string][]string // classes of names by their patterns
	links     map[string]bool     // symlinks of the workspace that rules are written through
	spots     map[string]spot     // that walk has found
}

type rule struct {
	id    string // as in ledgers
	at    string
	names []string
	caps  caps
	fixed bool // the name may not move whatever it grants
}

// nodeKind says why a place may not move.
type nodeKind struct {
	anchor  bool // a link that a rule is written through, a listed program
	program bool // only a listed program
	pinned  bool
}

// caps is a set of capabilities: r, c, u, d, x.
type caps uint8

const (
	capRead caps = 1 << iota
	capCreate
	capUpdate
	capDelete
	capExecute
	capWrite = capCreate | capUpdate | capDelete
	capAll   = capRead | capWrite | capExecute
)

var capWords = []string{"read", "create", "update", "delete", "execute"}

// actCaps are the acts that a capability permits, by its number.
var actCaps = [...]Verdict{
	Read | List, Create | Fill | Mkdir | Symlink | Fifo | Socket, Write | Truncate | Metadata | Dial, Delete | Rmdir,
	Execute,
}

func parseCaps(words []string) (out caps, err error) {
	for _, w := range words {
		i := slices.Index(capWords, w)
		if i < 0 {
			return 0, fmt.Errorf("found the unknown capability %q", w)
		}
		out |= 1 << i
	}
	return out, nil
}

// canonical reports whether a place is spelled as policies spell it, so that no two spellings are the same place.
func canonical(place string) bool {
	in, rooted := strings.CutPrefix(place, root(place))
	if root(place) != system && in != "" {
		in, rooted = strings.CutPrefix(in, "/")
	}
	return rooted && (in == "" || !slices.ContainsFunc(strings.Split(in, "/"), func(name string) bool {
		return name == "" || name == "." || name == ".."
	}))
}

// policyDoc is a policy as manifests write it. What has no meaning for the questions is not looked at.
type policyDoc struct {
	Name        string          `json:"name"`
	Source      string          `json:"source"`
	SourceAt    json.RawMessage `json:"source_origin"`
	Run         json.RawMessage `json:"run"`
	Disabled    bool            `json:"disabled"`
	Command     json.RawMessage `json:"command"`
	Base        string          `json:"base"`
	BaseVersion int             `json:"base_version"`
	Home        string          `json:"home"`
	LateOpen    bool            `json:"late_open"`
	LeastRisk   json.RawMessage `json:"least_risk"`
	Protected   *struct {
		Version int             `json:"version"`
		More    []ProtectedPath `json:"more"`
	} `json:"protected"`
	FS struct {
		Declared bool     `json:"declared"`
		Rules    []fsRule `json:"rules"`
	} `json:"fs"`
	May    json.RawMessage `json:"may"`
	MayNet json.RawMessage `json:"may_net"`
	Net    struct {
		Declared bool      `json:"declared"`
		Rules    []netRule `json:"rules"`
	} `json:"net"`
	Env struct {
		Declared bool      `json:"declared"`
		Rules    []envRule `json:"rules"`
	} `json:"env"`
	Commands *struct {
		Rules  []commandRule   `json:"rules"`
		Origin json.RawMessage `json:"origin"`
	} `json:"commands"`
	Sensitive   json.RawMessage `json:"sensitive_paths"`
	Limits      []limit         `json:"limits"`
	Constraints json.RawMessage `json:"constraints"`
	Tests       json.RawMessage `json:"tests"`
	Accept      []acceptance    `json:"accept"`
	Removed     json.RawMessage `json:"removed"`
}

// ProtectedPath is a path that only rules of its own let a tool write, in a policy or in the assumptions.
type ProtectedPath struct {
	Root    string          `json:"root,omitempty"`
	Path    string          `json:"path"`
	Open    bool            `json:"open,omitempty"`
	Pattern bool            `json:"pattern,omitempty"`
	Why     string          `json:"why,omitempty"`
	Origin  json.RawMessage `json:"origin,omitempty"`
}

type fsRule struct {
	Written  string          `json:"written"`
	At       string          `json:"at"`
	Names    []string        `json:"names"`
	External bool            `json:"external"`
	Links    []string        `json:"links"`
	Mount    bool            `json:"mount"`
	Caps     []string        `json:"caps"`
	Origin   json.RawMessage `json:"origin"`
}

type netRule struct {
	Written    string          `json:"written"`
	Host       string          `json:"host"`
	Scheme     string          `json:"scheme"`
	Port       uint16          `json:"port"`
	Path       []string        `json:"path"`
	Methods    []string        `json:"methods"`
	Inspect    bool            `json:"inspect"`
	Opaque     bool            `json:"opaque"`
	Listen     bool            `json:"listen"`
	Credential json.RawMessage `json:"credential"`
	Allow      bool            `json:"allow"`
	Origin     json.RawMessage `json:"origin"`
}

type envRule struct {
	Name   string          `json:"name"`
	Prefix bool            `json:"prefix"`
	Read   bool            `json:"read"`
	Value  string          `json:"value"`
	Origin json.RawMessage `json:"origin"`
}

type commandRule struct {
	Program string          `json:"program"`
	File    string          `json:"file"`
	Args    json.RawMessage `json:"args"`
	AnyArgs bool            `json:"any_args"`
	Envs    json.RawMessage `json:"envs"`
	AllEnvs bool            `json:"all_envs"`
	Origin  json.RawMessage `json:"origin"`
}

type acceptance struct {
	Name   string          `json:"name"`
	Origin json.RawMessage `json:"origin"`
}

type limit struct {
	Kind   string          `json:"kind"`
	Value  uint64          `json:"value"`
	Origin json.RawMessage `json:"origin"`
}

// The roots of places.
const (
	workspace = "${workspace}"
	home      = "${home}"
	temp      = "${tmp}"
	system    = "/"
)

// root is the root of a place, parent the place above it, false for a root.
func root(place string) string {
	if end := strings.IndexByte(place, '}'); strings.HasPrefix(place, "${") && end > 0 {
		return place[:end+1]
	}
	return system
}

func parent(place string) (string, bool) {
	if place == root(place) {
		return "", false
	}
	return max(place[:max(strings.LastIndexByte(place, '/'), 0)], root(place)), true
}

func base(place string) string { return place[strings.LastIndexByte(place, '/')+1:] }

// child is a name in a place.
func child(place, name string) string { return strings.TrimSuffix(place, "/") + "/" + name }

// prefixes are a place and all above it, the root first.
func prefixes(place string) []string {
	out := []string{place}
	for above, ok := parent(place); ok; above, ok = parent(above) {
		out = append(out, above)
	}
	slices.Reverse(out)
	return out
}

// newPolicy prepares a policy for questions about a system under the assumptions for it.
func newPolicy(doc *policyDoc, a *Assumptions, platform string) (*Policy, error) {
	p := &Policy{
		doc: doc, platform: platform, linux: platform == "linux", paths: map[string]int{}, named: map[string][]int{},
		protected: map[string]bool{}, writes: map[string]bool{}, nodes: map[string]nodeKind{},
		matchers: map[string]pattern{},
		links:    map[string]bool{}, names: map[string][]string{}, spots: map[string]spot{},
	}
	list, err := a.base(doc.Base, doc.BaseVersion, platform)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		caps, err := parseCaps(b.Caps)
		if err != nil {
			return nil, err
		}
		p.add(rule{id: "base", at: b.Path, caps: caps})
	}
	if doc.Home != "real" {
		p.add(rule{id: "home", at: home, caps: capAll})
	}
	p.add(rule{id: "tmp", at: temp, caps: capAll})
	for i, r := range doc.FS.Rules {
		id := "fs[" + itoa(i) + "]"
		caps, err := parseCaps(r.Caps)
		if err != nil {
			return nil, err
		}
		p.add(rule{id, r.At, r.Names, caps, r.External && r.At != root(r.At)})
		if name, ok := strings.CutPrefix(root(r.At), "${external:"); ok && r.External && !direct(name[:len(name)-1]) {
			link := child(workspace, name[:len(name)-1])
			if _, known := p.paths[link]; len(r.Names) == 0 || !known {
				on := rule{id: id, at: link, fixed: true}
				if len(r.Names) == 0 {
					on.caps = caps
				}
				p.add(on)
			}
		}
		for _, l := range r.Links {
			p.node(l, nodeKind{anchor: true})
			p.links[l] = true
		}
	}
	if doc.Protected != nil {
		listed, err := a.protected(doc.Protected.Version)
		if err != nil {
			return nil, err
		}
		all := slices.Concat(listed, doc.Protected.More)
		if slices.ContainsFunc(all, func(l ProtectedPath) bool { return strings.Count(l.Path, "/") > 60 }) {
			return nil, errors.New("a protected path has too many parts")
		}
		p.protect(all)
	}
	if doc.Commands != nil {
		for _, c := range doc.Commands.Rules {
			if c.File != "" && root(c.File) != system && c.File != root(c.File) {
				p.node(c.File, nodeKind{anchor: true, program: !p.nodes[c.File].anchor})
			}
		}
	}
	clear(p.spots)
	p.pin()
	return p, nil
}

// direct reports whether an external rule names its place by itself, and not by a symlink.
func direct(name string) bool {
	return name == "~" || strings.HasPrefix(name, "~/") || strings.HasPrefix(name, "/") ||
		len(name) > 2 && name[1:3] == ":/"
}

func (p *Policy) add(r rule) {
	p.rules = append(p.rules, r)
	i := len(p.rules) - 1
	p.node(r.at, nodeKind{})
	if len(r.names) == 0 {
		p.paths[r.at] = i
		return
	}
	p.named[r.at] = append(p.named[r.at], i)
	p.writes[root(r.at)] = p.writes[root(r.at)] || r.caps&capWrite != 0
	for _, n := range r.names {
		p.matchers[n] = parsePattern(n)
	}
}

// node makes a place known with all above it.
func (p *Policy) node(place string, k nodeKind) {
	for _, at := range prefixes(place) {
		old := p.nodes[at]
		if at == place {
			old.anchor, old.program = old.anchor || k.anchor, k.program
		}
		p.nodes[at] = old
	}
}

// protect puts protected paths into effect where a rule around them lets the tool write.
func (p *Policy) protect(list []ProtectedPath) {
	writes := slices.ContainsFunc(p.rules, func(r rule) bool { return root(r.at) == workspace && r.caps&capWrite != 0 })
	for _, l := range list {
		at := child(workspace, l.Path)
		if l.Root != "" {
			at = child(l.Root, l.Path)
		}
		if l.Path == "" {
			at = root(at)
		}
		if l.Pattern {
			if p.linux && writes {
				parts := strings.Split(l.Path, "/")
				for _, n := range parts {
					p.matchers[n] = parsePattern(n)
				}
				p.guards = append(p.guards, parts)
			}
			continue
		}
		if _, own := p.paths[at]; own {
			continue
		}
		s := p.walk(at)
		switch {
		case l.Open && s.guarded:
			p.protected[at] = false
		case !l.Open && (p.writes[root(at)] || p.capsOf(s.path)&capWrite != 0 && !s.guarded):
			p.protected[at] = true
		default:
			continue
		}
		p.node(at, nodeKind{})
		clear(p.spots)
	}
}

func (p *Policy) capsOf(rule int) caps {
	if rule < 0 {
		return 0
	}
	return p.rules[rule].caps
}

// spot is what decides at a place.
type spot struct {
	win     int // the rule that decides, -1 for none
	byName  bool
	path    int  // the last rule for a path on the way, -1 for none
	guarded bool // by a protected path
	pattern bool // by a pattern of protected paths
	here    bool // the place has a rule of its own or is listed as protected
	around  caps // that it would have without
}

// granted are the capabilities at a spot, patterns of protected paths aside.
func (p *Policy) granted(s spot) caps {
	c := p.capsOf(s.win)
	if s.guarded {
		c &^= capWrite
	}
	return c
}

// walk goes down to a place: the rule with the most components decides, of two the last. A rule by name counts as many
// as the path that it matches. What is protected stays so until a rule for a path is written at it or below.
func (p *Policy) walk(place string) spot {
	s, known := p.spots[place]
	if !known {
		s = p.find(place)
		p.spots[place] = s
	}
	return s
}

func (p *Policy) find(place string) spot {
	s := spot{win: -1, path: -1}
	var active []int
	guards := make([]uint64, len(p.guards))
	for i, g := range p.guards {
		guards[i] = closure(g, 1)
	}
	for i, at := range prefixes(place) {
		name, hit := base(at), -1
		for j := len(active) - 1; j >= 0 && hit < 0; j-- {
			if p.matchesAny(p.rules[active[j]].names, name) {
				hit = active[j]
				s.win, s.byName = hit, true
			}
		}
		s.around = p.granted(s)
		own, ruled := p.paths[at]
		kept, listed := p.protected[at]
		s.here = ruled || listed
		switch {
		case ruled:
			s.path, s.guarded, s.pattern = own, false, false
			if hit < own {
				s.win, s.byName = own, false
			}
		case listed:
			s.guarded, s.pattern = kept, false
			if !s.byName {
				s.win = s.path
			}
		}
		for j, g := range p.guards {
			if i > 0 && guards[j] != 0 {
				guards[j] = p.guardStep(g, guards[j], name)
				s.pattern = s.pattern || !s.here && guards[j]&(1<<len(g)) != 0
			}
		}
		if more := p.named[at]; len(more) > 0 {
			active = slices.Concat(active, more)
			slices.Sort(active)
		}
	}
	if root(place) != workspace {
		s.pattern = false
	}
	return s
}

func (p *Policy) matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(t string) bool { return p.matchers[t].matches(name, !p.linux) })
}

// closure adds the positions in a pattern of a path that "**" may be left out for.
func closure(parts []string, states uint64) uint64 {
	for i, part := range parts {
		if part == "**" && states&(1<<i) != 0 {
			states |= 1 << (i + 1)
		}
	}
	return states
}

func (p *Policy) guardStep(parts []string, states uint64, name string) uint64 {
	var next uint64
	for i, part := range parts {
		switch {
		case states&(1<<i) == 0:
		case part == "**":
			next |= 1 << i
		case part == "*" || part == name || strings.ContainsAny(part, `*?[\\`) && p.matchers[part].matches(name, false):
			next |= 1 << (i + 1)
		}
	}
	return closure(parts, next)
}

// pin finds the places whose name may not move: where what is permitted changes, and all above them.
func (p *Policy) pin() {
	for at, k := range p.nodes {
		above, below := parent(at)
		pins := k.anchor || below && len(p.named[at]) > 0
		if s := p.walk(at); below && s.here {
			own, ruled := p.paths[at]
			pins = pins || p.granted(s) != s.around || ruled && p.rules[own].fixed
			if !ruled {
				plain := p.walk(above)
				was, is := p.capsOf(plain.path), p.capsOf(plain.path)
				if plain.guarded {
					was &^= capWrite
				}
				if s.guarded {
					is &^= capWrite
				}
				pins = pins || was != is
			}
		}
		if !pins {
			continue
		}
		for _, a := range prefixes(at) {
			old := p.nodes[a]
			old.pinned = true
			p.nodes[a] = old
		}
	}
}

// Files are the acts that the policy permits at a place.
func (p *Policy) Files(place string) Verdict {
	s := p.walk(place)
	c := p.granted(s)
	if s.pattern {
		c &^= capWrite
	}
	if place == root(place) {
		c &^= capCreate | capDelete
	}
	var out Verdict
	for i, acts := range actCaps {
		if c&(1<<i) != 0 {
			out |= acts
		}
	}
	listed := func(r commandRule) bool { return r.File == place }
	if c := p.doc.Commands; c != nil && !slices.ContainsFunc(c.Rules, listed) {
		out &^= Execute
	}
	if k := p.nodes[place]; k.pinned {
		own, ruled := p.paths[place]
		switch {
		case ruled && p.rules[own].fixed:
			out &^= names
		case k.program, (s.here || len(p.named[place]) > 0 && place != root(place)) && !k.anchor:
			out &^= Symlink
		default:
			out &^= Create | Fill | Symlink | Fifo | Socket | Delete
		}
	}
	return out | out<<Late
}

// link reports whether a place is a symlink by which a rule leads elsewhere: only its name can be used.
func (p *Policy) link(place string) bool {
	own, ruled := p.paths[place]
	return p.links[place] || ruled && p.rules[own].fixed && root(place) == workspace
}

// Rule is the rule that decides about an act at a place, as ledgers call it.
func (p *Policy) Rule(place string, act Verdict) string {
	s := p.walk(place)
	of := caps(0)
	for i, acts := range actCaps {
		if acts&act != 0 {
			of = 1 << i
		}
	}
	switch {
	case s.pattern && of&capWrite != 0 && p.granted(s)&of != 0,
		s.guarded && !s.byName,
		s.guarded && of&capWrite != 0 && p.capsOf(s.win)&of != 0:
		return "protected"
	case s.win < 0:
		return "default"
	}
	return p.rules[s.win].id
}

// Answer returns what the policy permits.
func (p *Policy) Answer(q Question) Verdict {
	switch q.Kind {
	case Files:
		return p.Files(q.Target)
	case Moves:
		return p.Moves(q.Target, q.To)
	case Hosts:
		if is, _ := p.reaches(parseEndpoint(q.Target)); is {
			return Permit
		}
		return 0
	case Variables, Programs, Limits, Names:
	}
	l := p.launch()
	l.folds = p.platform == "windows"
	return l.answer(q)
}
