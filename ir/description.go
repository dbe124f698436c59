package ir

// Description is an operation taken apart, for reports on it and its verdict.
type Description struct {
	// Verb is the word for the operation, Subject its target as a rule on it would name it.
	Verb, Subject string
	Resource      Resource // whose rules decide
	// Places are the paths that the operation names, a source before its destination.
	Places []Place
	// Needs are the capabilities that suffice on each of the Places; the needs of a Start suffice for a script as well.
	// Pins and escalation can refuse an operation that has them.
	Needs []CapSet
	// aspect is the requirement that every verdict rests on; empty where it depends.
	aspect Aspect
}

// Describe takes an operation apart; the description of no operation is empty.
func Describe(op Operation) Description {
	if op == nil {
		return Description{}
	}
	return op.describe()
}

// Requirement is the aspect of the resource that a verdict on the operation rests on.
func (d Description) Requirement(v Verdict) Aspect {
	switch {
	case d.Resource == Commands && v.Reason == ReasonArgs:
		return AspectArgs
	case d.aspect != "":
		return d.aspect
	case v.Reason == ReasonPinned || v.Reason == ReasonNoGain:
		return AspectMove
	case v.Need == 0:
		return AspectRead
	default:
		return AspectOf(v.Need)
	}
}

// one describes an operation on one place.
func one(verb string, on Place, needs ...Capability) Description {
	return Description{Verb: verb, Subject: on.At.Short(), Resource: FS, Places: []Place{on},
		Needs: []CapSet{Caps(needs...)}}
}

// two describes an operation on a source and a destination.
func two(verb string, src Place, taken CapSet, dst Place, put CapSet) Description {
	return Description{Verb: verb, Subject: src.At.Short(), Resource: FS, Places: []Place{src, dst},
		Needs: []CapSet{taken, put}}
}

func (op Access) describe() Description {
	if op.Cap == Create && op.Name == NameLink {
		return one("symlink", op.On, Create)
	}
	return one(op.Cap.String(), op.On, op.Cap)
}

func (op Start) describe() Description { return one("execute", op.On, Read, Execute) }

func (op Dial) describe() Description {
	d := one("connect", op.On, Update)
	d.aspect = AspectSocket
	return d
}

func (op Copy) describe() Description {
	return two("copy", op.Src, Caps(Read), op.Dst, Caps(op.DstKind.copied()...))
}

func (op Rename) describe() Description {
	return two("rename", op.Src, Caps(Delete), op.Dst, Caps(op.DstKind.replaced()...))
}

func (op Exchange) describe() Description {
	return two("exchange", op.A, Caps(op.AKind.replaced()...).With(Delete), op.B,
		Caps(op.BKind.replaced()...).With(Delete))
}

func (op Link) describe() Description {
	return two("link", op.Src, Caps(Read, Update), op.Dst, Caps(Create))
}

func (op Listen) describe() Description {
	return Description{Verb: "listen", Subject: op.Host.String() + ":" + utoa(op.Port), Resource: Net,
		aspect: AspectListen}
}

func (op Connect) describe() Description {
	r := NetRule{Host: op.To.Host, Scheme: op.To.Scheme, Port: op.To.Port, Path: op.To.Path}
	if r.Port == DefaultPort(r.Scheme) {
		r.Port = 0
	}
	if op.Method != "" {
		r.Methods = []string{op.Method}
	}
	return Description{Verb: "connect", Subject: r.Subject(), Resource: Net, aspect: AspectConnect}
}

func (op Forward) describe() Description {
	return Description{Verb: "env", Subject: op.Name, Resource: Env, aspect: AspectForward}
}

func (op Run) describe() Description {
	d := Description{Verb: "run", Subject: op.Program, Resource: Commands, aspect: AspectProgram}
	if op.File != nil {
		d.Places, d.Needs = []Place{*op.File}, []CapSet{Caps(Execute)}
	}
	return d
}

// copied lists the capabilities with which contents are copied to a place, given the kind of
// node that is there.
func (k NodeKind) copied() []Capability {
	if k == Absent || k == File {
		return k.replaced()
	}
	return []Capability{Create, Update}
}

// replaced lists the capabilities with which a name is put at a place, given the kind of node
// that is there.
func (k NodeKind) replaced() []Capability {
	switch k {
	case Absent:
		return []Capability{Create}
	case File:
		return []Capability{Update}
	case Dir:
		return []Capability{Delete, Create}
	case Unknown:
		return []Capability{Delete, Create, Update}
	default:
		return []Capability{Delete, Create, Update}
	}
}
