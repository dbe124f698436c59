package ir

// Closed is a place of a host that is no tool's: a place where the kernel shows itself, its settings, its devices, all
// processes; or accessc's own state, with the homes of other tools.
type Closed struct {
	At  Location // the place
	Why string   // it is closed
}

// close takes everything away at and below closed places, also what rules grant there by
// themselves. Places where nothing is granted anyway stay as they are.
// See decision D362.
func (v *View) close(places []Closed) {
	for _, k := range places {
		root := v.tree(k.At.Root)
		if root == nil {
			continue
		}
		ref, _ := root.ruleFor(k.At.Path)
		n, rest := root.find(k.At.Path)
		if (ref < 0 || v.refs[ref].caps == 0) && (rest != "" || !n.grants(v.refs)) && !v.grantsNames(k.At.Root, All) {
			continue
		}
		rule := &FSRule{Written: k.At.Short(), At: k.At, Origin: Origin{Layer: LayerImplied, Label: k.Why}}
		v.add(ClosedRule, rule)
		root.make(k.At.Path, &v.arena).children = children{}
		v.plant(k.At, ruleRef{entry: len(v.rules) - 1, kind: closes})
	}
}

// grants reports whether a rule on a region, or on a region below it, grants anything.
func (r *region) grants(refs []ruleRef) bool {
	if r.rule >= 0 && refs[r.rule].caps != 0 {
		return true
	}
	for _, c := range r.children.list {
		if c.grants(refs) {
			return true
		}
	}
	return false
}
