package ir

// Decide answers whether op may happen, by which rule, and why. It is the only evaluator: nothing else in this
// repository decides.
func (v *View) Decide(op Operation) Verdict {
	switch op := op.(type) {
	case Access:
		return v.named(op)
	case Copy:
		return v.copy(op)
	case Rename:
		return v.rename(op.Src, op.Dst, op.SrcKind, op.DstKind)
	case Exchange:
		if there := v.rename(op.A, op.B, op.AKind, op.BKind); !there.Allowed() {
			return there
		}
		return v.rename(op.B, op.A, op.BKind, op.AKind)
	case Link:
		return v.link(op)
	case Dial:
		return v.access(Update, op.On)
	case Start:
		return v.start(op)
	case Connect:
		out := v.net.decide(op.To, op.Method)
		if op.Own && out.Reason == ReasonDefault {
			return v.net.listen(Listen{op.To.Host, op.To.Port})
		}
		return out
	case Listen:
		return v.net.listen(op)
	case Forward:
		return v.env.decide(op.Name)
	case Run:
		return v.run(op)
	default:
		return refuse(ReasonNone)
	}
}

// access decides a capability on a place.
func (v *View) access(c Capability, on Place) Verdict {
	if on.Fault != ReasonNone {
		return refuse(on.Fault)
	}
	if on.Asked && !v.reaches(on) {
		return Verdict{Reason: ReasonEscape, Need: c, At: on.At}
	}
	r := v.spot(on.At)
	out := Verdict{Reason: ReasonDefault, Need: c, At: on.At}
	if ref := r.decider(v.refs, c); ref >= 0 {
		out.Reason, out.Rule = ReasonRule, v.rules[v.refs[ref].entry].Rule
	}
	if (c == Create || c == Delete) && on.At.Path == "" && v.tree(on.At.Root) != nil {
		out.Reason = ReasonRoot
		return out
	}
	if !r.caps.Has(c) {
		return out
	}
	if n := v.guarded(c, on.At); n != nil {
		out.Reason, out.Rule = ReasonRule, n.rule
		return out
	}
	out.Effect = Allow
	return out
}

// named decides an access, taking the kind of the created or removed name into account.
func (v *View) named(op Access) Verdict {
	out := v.access(op.Cap, op.On)
	if out.Allowed() && (op.Cap == Create || op.Cap == Delete) {
		return v.leads(op, out)
	}
	return out
}

// leads refuses creations and removals that would make a rule's path lead elsewhere. At a name
// that leads to a rule's path only a directory may be created or removed; at the path itself
// anything but a symbolic link may be created.
func (v *View) leads(op Access, granted Verdict) Verdict {
	r, rest := v.tree(op.On.At.Root).find(op.On.At.Path)
	if rest != "" || !r.pinned {
		return granted
	}
	refused := op.Name == NameFile || op.Name == NameLink
	switch {
	case r.rule >= 0 && v.refs[r.rule].pin:
		refused = true // the symlink of an external rule
	case r.program, (r.rule >= 0 || r.base) && !r.anchor:
		refused = op.Cap == Create && op.Name == NameLink
	}
	if !refused {
		return granted
	}
	granted.Effect, granted.Reason, granted.Pin = Deny, ReasonLeads, v.pinOf(r)
	return granted
}

// spot is the state at a place, nowhere where its root has no rules.
func (v *View) spot(at Location) spot {
	z := v.tree(at.Root)
	if z == nil {
		return nowhere
	}
	r, rest := z.find(at.Path)
	if len(r.byName) == 0 {
		return r.spot
	}
	return r.spot.names(v.refs, r.byName, rest)
}

func (v *View) tree(r Root) *region {
	if r.Kind == External {
		return v.external[r.Name]
	}
	return v.zones[r.Kind]
}

// reaches reports whether a tool that was asked for the lexical path of on may
// follow it to where it leads: anywhere in the workspace, or below the target of
// the external rule that wins for the lexical path.
// See decision D41.
func (v *View) reaches(on Place) bool {
	switch on.At.Root.Kind {
	case Workspace:
		return true
	case External:
		if named := (Root{External, on.Lexical}); named.Direct() {
			return v.direct(named.Name) == on.At.Root.Name
		}
		w := v.spot(In(on.Lexical))
		if w.win < 0 {
			return false
		}
		r := v.rules[v.refs[w.win].entry].Rule
		return r.External && r.At.Root == on.At.Root
	case System, Home, Temp:
		return false
	default:
		return false
	}
}

// direct returns the path of the external rule that wins for a path outside of the workspace,
// empty if there is none.
func (v *View) direct(path string) string {
	best := ""
	for name := range v.external {
		if (Root{External, name}).Direct() && Within(path, name) && len(name) > len(best) {
			best = name
		}
	}
	return best
}

// all decides several capabilities on a place and returns the first refusal,
// or the last grant.
func (v *View) all(on Place, cs ...Capability) Verdict {
	var out Verdict
	for _, c := range cs {
		if out = v.access(c, on); !out.Allowed() {
			return out
		}
	}
	return out
}

func (v *View) copy(op Copy) Verdict {
	if src := v.access(Read, op.Src); !src.Allowed() {
		return src
	}
	if op.DstKind == Absent {
		return v.named(Access{Create, op.Dst, NameFile})
	}
	return v.all(op.Dst, op.DstKind.copied()...)
}

func (v *View) rename(src, dst Place, srcKind, dstKind NodeKind) Verdict {
	if s := v.access(Delete, src); !s.Allowed() {
		return s
	}
	d := v.all(dst, dstKind.replaced()...)
	if !d.Allowed() {
		return d
	}
	for _, w := range append([]*View{v}, v.beside...) {
		if p := w.pinned(src.At); !p.Allowed() {
			return p
		}
		if p := w.pinned(dst.At); !p.Allowed() {
			return p
		}
	}
	if srcKind == File {
		return v.noGain(src, dst, File, d)
	}
	if n := v.brings(src.At, dst.At); n != nil {
		d.Effect, d.Reason, d.Need, d.Rule = Deny, ReasonNoGain, Create, n.rule
		return d
	}
	return v.noGain(src, dst, Dir, d)
}

func (v *View) link(op Link) Verdict {
	if s := v.all(op.Src, Read, Update); !s.Allowed() {
		return s
	}
	d := v.access(Create, op.Dst)
	if !d.Allowed() {
		return d
	}
	if p := v.pinned(op.Dst.At); !p.Allowed() {
		return p
	}
	return v.noGain(op.Src, op.Dst, File, d)
}

// pinned refuses when l is a root, a rule's path or an ancestor of a rule's path.
// See decision D3.
func (v *View) pinned(l Location) Verdict {
	if l.Path == "" {
		return Verdict{Reason: ReasonRoot, At: l}
	}
	r, rest := v.tree(l.Root).find(l.Path)
	if rest != "" || !r.pinned {
		return Verdict{Effect: Allow}
	}
	out := Verdict{Reason: ReasonPinned, At: l, Pin: v.pinOf(r)}
	if r.win >= 0 {
		out.Rule = v.rules[v.refs[r.win].entry].Rule
	}
	return out
}

// pinOf returns the first rule at or below r, in path order, for which r is
// pinned; nil when another root is bound there.
func (v *View) pinOf(r *region) *FSRule {
	switch {
	case r.rule >= 0:
		return v.rules[v.refs[r.rule].entry].Rule
	case r.base:
		return v.rules[v.refs[r.byName[len(r.byName)-1].ref].entry].Rule
	}
	for _, c := range r.children.list {
		if c.pinned {
			if p := v.pinOf(c.region); p != nil {
				return p
			}
		}
	}
	return nil
}

// noGain refuses a move that would escalate, after which more is permitted than before. Both places are
// unpinned by now, so each lies in one region with everything below it, but for the names that rules are about.
// Where programs are listed, their files are pinned, and no other file can become startable by moving it.
// See decision D3.
func (v *View) noGain(src, dst Place, kind NodeKind, granted Verdict) Verdict {
	matters := All
	if kind == File {
		matters = FileCaps
	}
	if v.commands.set != nil {
		matters = matters.Without(Execute)
	}
	for i := -1; i < len(v.beside); i++ {
		w := v
		if i >= 0 {
			w = v.beside[i]
		}
		gain := w.gain(src.At, dst.At, kind) & matters
		if gain == 0 {
			continue
		}
		granted.Effect, granted.Reason, granted.Need = Deny, ReasonNoGain, gain.List()[0]
		if by := w.gainedBy(src.At, dst.At, kind, granted.Need); by != nil {
			granted.Rule = by
		}
		return granted
	}
	return granted
}

// caps are the capabilities at a place, none where no root has it.
func (v *View) caps(at Location) CapSet { return v.spot(at).caps }

func (v *View) start(op Start) Verdict {
	file := v.access(Execute, op.On)
	if !file.Allowed() {
		return file
	}
	if c := v.commands.listed(op.On.At); !c.Allowed() {
		return c
	}
	if op.Interpreter == nil {
		return file
	}
	if r := v.access(Read, op.On); !r.Allowed() {
		return r
	}
	if i := v.start(Start{On: *op.Interpreter}); !i.Allowed() {
		return i
	}
	return file
}

// run decides whether the tool may start a program with these arguments. The filesystem rules
// must also let it execute the file.
func (v *View) run(op Run) Verdict {
	fault := ReasonNone
	if op.File != nil {
		fault = op.File.Fault
	}
	if fault != ReasonNone && fault != ReasonMissing {
		return refuse(fault)
	}
	c := v.commands.decide(op)
	switch {
	case !c.Allowed() || op.File == nil:
		return c
	case fault == ReasonMissing:
		return Verdict{Reason: fault, Rule: c.Rule}
	}
	if f := v.access(Execute, *op.File); !f.Allowed() {
		return f
	}
	return c
}
