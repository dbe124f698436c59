package mounts

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Kind is the kind of a mount.
type Kind uint8

// The kinds.
const (
	// Lead is an empty directory that leads to the places of other mounts. It can be passed, and
	// neither listed nor changed.
	Lead Kind = iota + 1
	// Bind shows the place itself.
	Bind
	// Hide covers the place with an empty directory or file of its kind that cannot be opened. A directory
	// with further mounts in it can be passed, as a Lead.
	Hide
	// Device shows a device of the host.
	Device
	// Devices is a directory with the harmless devices, the controlling terminal, pseudo-terminals that
	// are made in it and the links to the standard descriptors.
	Devices
	// Memory is an empty directory in memory that ends with the tool.
	Memory
	// Processes is a /proc of the tool's own processes.
	Processes
	// Link is a symbolic link.
	Link
)

var kindNames = [...]string{"none", "lead", "bind", "hide", "device", "devices", "memory", "processes", "link"}

// String returns the word for k.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}

// Mount is one mount of a plan.
type Mount struct {
	Kind Kind // of the mount
	// Place is where it is: absolute, or with a symbol for its root.
	Place string
	// Mode is the mode of a Bind, a Device or a Memory, and Closed for the others.
	Mode Mode
	// NoExec is true where nothing that the mount shows may be started.
	NoExec bool
	// Node is the kind of the file at the place of a Bind or Hide, Unknown where it may be missing.
	Node ir.NodeKind
	// To is the target of a Link.
	To string
	// Pin is true where the mount gives the same access as the mount around it, and only keeps the name.
	Pin bool
	// Leads is true where further mounts are in a Hide.
	Leads bool
}

// Plan is the mounts of a tool. They are in the order in which they are made: each directory comes
// before the places in it.
type Plan struct {
	Mounts []Mount // in order

	view   *ir.View
	target backends.Target
	tops   []*ir.Region
	laid   map[*ir.Region]laid
}

// laid is how a region is laid out.
type laid struct {
	// want is the access that its capabilities take, around the access that the mount around it gives
	// if the directory above is there.
	want, around access
	// gone are the accesses that can govern the place while there is nothing at it; nil where the region
	// is there.
	gone []access
	node ir.NodeKind
	// linked is true where the place is a symbolic link.
	linked bool
	// own is true where the region has a mount of its own if it is there.
	own bool
	// covered is true in a place that has a cover.
	covered bool
	// by is the kind of the mount that shows the region.
	by Kind
}

// access is the access that a mount gives.
type access struct {
	mode   Mode
	noExec bool
}

func accessOf(c ir.CapSet) access {
	return access{modeOf(c), modeOf(c) != Closed && !c.Has(ir.Execute)}
}

// New lays out a tool's policy for a target.
func New(t *ir.Tool, target backends.Target) *Plan {
	facts := ir.Facts{}
	if target.Form == backends.Resolved {
		facts = target.Facts
	}
	p := &Plan{view: ir.NewView(t, ir.Linux, facts), target: target, laid: map[*ir.Region]laid{}}
	for _, r := range p.view.Tree() {
		if r.Above == nil {
			p.tops = append(p.tops, r)
			p.lay(r, laid{node: ir.Dir})
		}
	}
	p.special()
	slices.SortStableFunc(p.Mounts, func(a, b Mount) int { return byComponent(a.Place, b.Place) })
	p.links()
	p.lead()
	return p
}

// View returns the policy as the plan has it.
func (p *Plan) View() *ir.View { return p.view }

// byComponent orders places so that every directory comes before the places in it.
func byComponent(a, b string) int {
	return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

// lay lays out a region and everything below it; dir is how the directory above is laid out.
func (p *Plan) lay(r *ir.Region, dir laid) {
	at := laid{want: accessOf(r.Caps), around: dir.shows(), by: Bind,
		covered: dir.covered || dir.own && dir.want.mode == Closed}
	at.node, at.linked = p.node(r, dir.node)
	if at.node == ir.Absent || at.node == ir.Unknown {
		at.gone = slices.Clone(dir.gone)
		if dir.node == ir.Dir || dir.node == ir.Unknown {
			at.gone = append(at.gone, at.around)
		}
	}
	switch {
	case r.Link || r.Through:
		// A symlink is no place to mount at; the places that it leads to have regions.
		at.by = Link
	case specialPlace(r):
		at.by = p.specialKind(r)
	case at.node == ir.Absent:
	case at.want.mode == Closed && at.around.mode == Closed && r.IsRoot() && r.At.Root.Kind == ir.Workspace:
		// The tool starts in it.
		p.Mounts = append(p.Mounts, Mount{Kind: Lead, Place: p.target.Place(r.At), Leads: true})
	case at.want != at.around, at.around.mode == ReadWrite && r.Pinned:
		at.own = true
		m := p.mount(r, at)
		if p.Mounts = append(p.Mounts, m); m.Kind == Device {
			at.by = Device
		}
	}
	p.laid[r] = at
	for _, b := range r.Below {
		p.lay(b, at)
	}
}

// shows is the access that a region gives to the places in it, if it is there.
func (l laid) shows() access {
	if l.own {
		return l.want
	}
	return l.around
}

func (p *Plan) mount(r *ir.Region, at laid) Mount {
	m := Mount{Kind: Bind, Place: p.target.Place(r.At), Mode: at.want.mode, NoExec: at.want.noExec, Node: at.node}
	switch {
	case at.want.mode == Closed:
		m.Kind = Hide
	case strings.HasPrefix(m.Place, "/"+devices+"/"):
		m.Kind = Device
	default:
		m.Pin = at.want == at.around
	}
	return m
}

// node is the kind of the file at a region, which is absent where a symbolic link is. The directories of a run are
// made for it, with those around them.
func (p *Plan) node(r *ir.Region, dir ir.NodeKind) (kind ir.NodeKind, linked bool) {
	switch {
	case r.IsRoot() && r.At.Root.Kind != ir.External:
		return ir.Dir, false
	case dir == ir.Absent || dir == ir.File:
		return ir.Absent, false
	case p.target.Node == nil:
		return ir.Unknown, false
	}
	place := p.target.Place(r.At)
	kind, to := p.target.Node(place)
	if to != place {
		// Nothing can be mounted on a symbolic link, and the target of the link has rules of its own.
		return ir.Absent, true
	}
	return kind, false
}

// within returns the mount that a place lies in or is at, nil for none.
func (p *Plan) within(place string) *Mount {
	var best *Mount
	for i := range p.Mounts {
		if m := &p.Mounts[i]; inside(place, m.Place) && (best == nil || len(m.Place) >= len(best.Place)) {
			best = m
		}
	}
	return best
}

// inside reports whether a place is a directory or lies in it. A symbol is no directory of the root.
func inside(place, dir string) bool {
	return place == dir || dir != "" && dir != "/" && ir.Within(place, dir) ||
		dir == "/" && strings.HasPrefix(place, "/")
}

// links makes the names of the base that are symbolic links on the host, where nothing shows them.
func (p *Plan) links() {
	if p.target.Node == nil {
		return
	}
	add := func(place, to string) {
		shown, there := p.within(to), p.within(place)
		if shown != nil && shown.Mode != Closed &&
			(there == nil || (there.Kind == Hide || there.Kind == Lead) && there.Place != place) {
			p.insert(Mount{Kind: Link, Place: place, To: to})
		}
	}
	for _, e := range ir.BaseEntries(p.view.Tool.Base, ir.Linux) {
		if specialPath(strings.TrimPrefix(e.Path, "/")) {
			continue
		}
		if kind, to := p.target.Node(e.Path); kind != ir.Absent && to != e.Path {
			add(e.Path, to)
		}
	}
	for _, top := range p.tops {
		top.Walk(func(r *ir.Region) {
			if r.Link && !r.IsRoot() && r.Governing.Rule != nil && r.Governing.Rule.External {
				add(p.target.Place(r.At), p.target.Place(r.Governing.Rule.At))
			}
		})
	}
}

// insert adds a mount in its place of the order.
func (p *Plan) insert(m Mount) {
	i, _ := slices.BinarySearchFunc(p.Mounts, m, func(a, b Mount) int { return byComponent(a.Place, b.Place) })
	p.Mounts = slices.Insert(p.Mounts, i, m)
}

// lead makes the directories that lead to mounts and are in none.
func (p *Plan) lead() {
	kinds, at := map[string]Kind{}, map[string]int{}
	for i, m := range p.Mounts {
		kinds[m.Place], at[m.Place] = m.Kind, i
	}
	var leads []Mount
	for _, m := range p.Mounts {
		for i := 1; i < len(m.Place); i++ {
			if m.Place[i] != '/' {
				continue
			}
			dir := m.Place[:i]
			in, kind := dir, kinds[dir]
			for kind == 0 && in != "" {
				in = Around(in)
				kind = kinds[in]
			}
			switch {
			case kind == Hide && in == dir:
				p.Mounts[at[dir]].Leads = true
			case kind == 0 || kind == Hide || kind == Lead && in != dir:
				leads, kinds[dir] = append(leads, Mount{Kind: Lead, Place: dir, Leads: true}), Lead
			}
		}
	}
	p.Mounts = append(p.Mounts, leads...)
	slices.SortStableFunc(p.Mounts, func(a, b Mount) int { return byComponent(a.Place, b.Place) })
}

// Around is the directory around a place: / for a place in it, and empty for / and for a symbol.
func Around(place string) string {
	i := strings.LastIndexByte(place, '/')
	if i == 0 && len(place) > 1 {
		return "/"
	}
	return place[:max(i, 0)]
}
