package certify

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/proof/check"
)

// Build is what a certificate is about.
type Build struct {
	Manifest []byte // the text
	// Tools are the confined tools of the manifest by name.
	Tools map[string]*ir.Tool
	// Read returns the text of an artifact.
	Read func(tool, file string) ([]byte, error)
}

// Certificate certifies a build. The error names the first difference between an artifact and its policy that no row of
// the ledger states.
func Certificate(b Build) ([]byte, error) {
	m, err := check.ReadManifest(b.Manifest)
	if err != nil {
		return nil, err
	}
	w := &writer{
		out: check.Certificate{
			Format: check.Format, Version: check.Version, Form: m.Form, Policy: m.Policy, Manifest: m.Hash,
			Assumptions: check.Assumptions{
				Models: map[string]string{}, Bases: []check.Base{}, Protected: []check.ProtectedPath{},
				Unread: []string{},
			},
			Verdicts: []string{}, Answers: [][]int{}, Rows: []check.Reason{}, Reasons: [][]int{}, Parts: []check.Part{},
			Texts: []check.Claim{}, Targets: []string{},
		},
		lines: map[string]int{}, known: map[string][]int{},
	}
	w.reader = check.NewReader(&w.out.Assumptions)
	for i := range m.Tools {
		t := &m.Tools[i]
		tool := b.Tools[t.Name]
		if tool == nil {
			return nil, fmt.Errorf("the policy of %s is not known", t.Name)
		}
		for _, file := range slices.Sorted(maps.Keys(t.Artifacts)) {
			if err := w.artifact(t, tool, file, b.Read); err != nil {
				return nil, fmt.Errorf("%s/%s: %w", t.Name, file, err)
			}
		}
	}
	return backends.JSON(w.out)
}

// writer writes a certificate. Lines are those of its tables by what they say.
type writer struct {
	out    check.Certificate
	lines  map[string]int
	reader *check.Reader
	known  map[string][]int // the parts of subjects by what they have alike
}

// line is the number of a line in a table, which is added if it is new.
func line[T any](w *writer, table *[]T, key string, value T) int {
	i, known := w.lines[key]
	if !known {
		i = len(*table)
		*table = append(*table, value)
		w.lines[key] = i
	}
	return i
}

// assume writes down the lists that a policy means by their names.
func (w *writer) assume(t *ir.Tool, p ir.Platform) {
	a := &w.out.Assumptions
	key := fmt.Sprintf("base %v %v", t.Base, p)
	if _, known := w.lines[key]; !known && t.Base != ir.BaseNone {
		b := check.Base{Name: t.Base.String(), Version: ir.BaseVersion, Platform: p.String()}
		for _, r := range ir.BaseRules(t.Base, p) {
			b.Places = append(b.Places, check.BasePath{Path: r.At.String(), Caps: words(r.Caps)})
		}
		line(w, &a.Bases, key, b)
	}
	if t.Protects && a.ProtectedVersion == 0 {
		a.ProtectedVersion = ir.ProtectedVersion
		for _, l := range ir.ProtectedPaths() {
			a.Protected = append(a.Protected, check.ProtectedPath{Path: l.Path, Open: l.Open, Pattern: l.Pattern})
		}
	}
}

// Unknown are assumptions that are not the lists of this version.
func Unknown(a *check.Assumptions) (out []string) {
	w := &writer{lines: map[string]int{}}
	for _, b := range a.Bases {
		name, _ := ir.ParseBase(b.Name)
		p, _ := ir.ParsePlatform(b.Platform)
		if w.assume(&ir.Tool{Base: name}, p); !slices.ContainsFunc(w.out.Assumptions.Bases, func(o check.Base) bool {
			return reflect.DeepEqual(o, b)
		}) {
			out = append(out, fmt.Sprintf("the certificate assumes another base %s on %s than this version has", b.Name,
				b.Platform))
		}
	}
	if w.assume(&ir.Tool{Base: ir.BaseNone, Protects: true}, ir.Linux); a.ProtectedVersion != 0 &&
		!reflect.DeepEqual(a.Protected, w.out.Assumptions.Protected) {
		out = append(out, "the certificate assumes other protected paths than this version has")
	}
	return out
}

func words(c ir.CapSet) []string {
	out := []string{}
	for _, c := range c.List() {
		out = append(out, c.String())
	}
	return out
}

// artifact certifies one artifact.
func (w *writer) artifact(
	t *check.Tool, tool *ir.Tool, file string, read func(tool, file string) ([]byte, error),
) error {
	a := &w.out.Assumptions
	platform, assumes, ok := check.Modelled(file)
	if !ok {
		if !slices.Contains(a.Unread, file) {
			a.Unread = append(a.Unread, file)
		}
		return nil
	}
	a.Models[file] = assumes
	p, _ := ir.ParsePlatform(platform)
	w.assume(tool, p)
	text, err := read(t.Name, file)
	if err != nil {
		return err
	}
	s, err := w.reader.Subject(t, file, text)
	if err != nil {
		return err
	}
	claim := check.Claim{Tool: t.Name, File: file, Hash: t.Artifacts[file], Levels: s.Text.Levels(), Parts: []int{}}
	like := s.Like()
	if known, ok := w.known[like]; ok && like != "" {
		claim.Parts = known
		w.out.Texts = append(w.out.Texts, claim)
		return nil
	}
	if unmet, idle := s.Unmet(); len(unmet)+len(idle) > 0 {
		r := append(unmet, idle...)[0]
		return fmt.Errorf("its needs are not those of the ledger: %v of %v is %s", r.Aspects, r.Rules, r.Is)
	}
	questions, err := s.Targets()
	if err != nil {
		return err
	}
	d := newDecider(ir.NewView(tool, p, ir.Facts{}))
	for _, part := range parts(questions) {
		n, err := w.part(s, d, part)
		if err != nil {
			return err
		}
		claim.Parts = append(claim.Parts, n)
	}
	w.out.Texts = append(w.out.Texts, claim)
	w.known[like] = claim.Parts
	return nil
}

// parts divides questions so that tools have parts alike: by kind, and places by what they count from.
func parts(questions []check.Question) [][]check.Question {
	by := map[string][]check.Question{}
	for _, q := range questions {
		key := string(q.Kind)
		if q.Kind == check.Files {
			switch {
			case strings.HasPrefix(q.Target, "/"):
				key += "/"
			case strings.HasPrefix(q.Target, "${home}"), strings.HasPrefix(q.Target, "${tmp}"):
				key += "own"
			}
		}
		by[key] = append(by[key], q)
	}
	var out [][]check.Question
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key])
	}
	return out
}

// part answers questions, makes classes of those that are answered alike, and returns the number of the part.
func (w *writer) part(s *check.Subject, d *decider, questions []check.Question) (int, error) {
	part := check.Part{Kind: questions[0].Kind, Classes: []check.Class{}}
	classes := map[string]int{}
	for _, q := range questions {
		policy, err := d.answer(q)
		if err != nil {
			return 0, err
		}
		answers := s.Text.Answer(q)
		reasons, err := s.Explain(q, policy, answers, d.rule)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", q.Key(), err)
		}
		head := [3]int{w.verdict(q.Kind, policy), w.answers(q.Kind, answers), w.reasons(reasons)}
		key := fmt.Sprint(head)
		i, known := classes[key]
		if !known {
			i = len(part.Classes)
			classes[key] = i
			part.Classes = append(part.Classes, head[:])
		}
		target := strings.TrimPrefix(q.Key(), string(q.Kind)+" ")
		part.Classes[i] = append(part.Classes[i], line(w, &w.out.Targets, "target "+target, target))
	}
	return line(w, &w.out.Parts, fmt.Sprint("part ", part), part), nil
}

func (w *writer) verdict(k check.Kind, v check.Verdict) int {
	return line(w, &w.out.Verdicts, "verdict "+v.Text(k), v.Text(k))
}

func (w *writer) answers(k check.Kind, list []check.Verdict) int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = w.verdict(k, v)
	}
	return line(w, &w.out.Answers, fmt.Sprint("answers ", out), out)
}

func (w *writer) reasons(list []check.Reason) int {
	if len(list) == 0 {
		return -1
	}
	out := make([]int, len(list))
	for i, r := range list {
		out[i] = line(w, &w.out.Rows, fmt.Sprint("row ", r), r)
	}
	return line(w, &w.out.Reasons, fmt.Sprint("reasons ", out), out)
}

// decider asks a policy by ir.View.Decide.
type decider struct {
	view *ir.View
	ids  map[ir.Rule]string // of the rules on files

	onFiles []acts
}

func newDecider(v *ir.View) *decider {
	d := &decider{v, map[ir.Rule]string{}, onFiles()}
	for _, e := range v.Entries() {
		d.ids[e.Rule] = string(e.ID.Stated())
	}
	return d
}

// acts are the acts that an operation on a place stands for.
type acts struct {
	acts check.Verdict
	op   func(ir.Place) ir.Operation
}

// onFiles are the operations that stand for all acts on places.
func onFiles() []acts {
	return []acts{
		{check.Read | check.List, access(ir.Read, ir.NameAny)},
		{check.Create | check.Fill | check.Fifo | check.Socket, access(ir.Create, ir.NameFile)},
		{check.Mkdir, access(ir.Create, ir.NameDir)},
		{check.Symlink, access(ir.Create, ir.NameLink)},
		{check.Write | check.Truncate | check.Metadata, access(ir.Update, ir.NameAny)},
		{check.Dial, func(on ir.Place) ir.Operation { return ir.Dial{On: on} }},
		{check.Delete, access(ir.Delete, ir.NameFile)},
		{check.Rmdir, access(ir.Delete, ir.NameDir)},
		{check.Execute, func(on ir.Place) ir.Operation { return ir.Start{On: on} }},
	}
}

func access(c ir.Capability, kind ir.NameKind) func(ir.Place) ir.Operation {
	return func(on ir.Place) ir.Operation { return ir.Access{Cap: c, On: on, Name: kind} }
}

// answer is the policy's verdict.
func (d *decider) answer(q check.Question) (check.Verdict, error) {
	if q.Kind != check.Files && q.Kind != check.Moves {
		return d.other(q)
	}
	at, err := irjson.ParseLocation(q.Target)
	if err != nil {
		return 0, err
	}
	var out check.Verdict
	if q.Kind == check.Moves {
		to, err := irjson.ParseLocation(q.To)
		src, dst := ir.Direct(at), ir.Direct(to)
		for act, op := range map[check.Verdict]ir.Operation{
			check.RenameFile:  ir.Rename{Src: src, Dst: dst, SrcKind: ir.File, DstKind: ir.Absent},
			check.RenameDir:   ir.Rename{Src: src, Dst: dst, SrcKind: ir.Dir, DstKind: ir.Absent},
			check.ReplaceFile: ir.Rename{Src: src, Dst: dst, SrcKind: ir.File, DstKind: ir.File},
			check.Link:        ir.Link{Src: src, Dst: dst},
		} {
			if d.view.Decide(op).Allowed() {
				out |= act
			}
		}
		return out, err
	}
	for _, o := range d.onFiles {
		if d.view.Decide(o.op(ir.Direct(at))).Allowed() {
			out |= o.acts
		}
	}
	return out | out<<check.Late, nil
}

// rule is the rule that decides about acts at a place, as ledgers call it.
func (d *decider) rule(place string, acts check.Verdict) string {
	at, err := irjson.ParseLocation(place)
	if err != nil {
		return ""
	}
	for _, o := range d.onFiles {
		if o.acts&acts == 0 {
			continue
		}
		op := o.op(ir.Direct(at))
		if a, ok := op.(ir.Access); ok {
			a.Name = ir.NameDir
			op = a
		} else if _, ok := op.(ir.Start); ok {
			op = ir.Access{Cap: ir.Execute, On: ir.Direct(at)}
		}
		if r := d.view.Decide(op).Rule; r != nil {
			return d.ids[r]
		}
		break
	}
	return string(ir.DefaultRule)
}

// other is the policy's verdict about what is no place.
func (d *decider) other(q check.Question) (check.Verdict, error) {
	is := false
	switch q.Kind {
	case check.Variables:
		is = d.view.Decide(ir.Forward{Name: q.Target}).Allowed()
	case check.Hosts:
		op, err := target(q.Target)
		if err != nil {
			return 0, err
		}
		is = d.view.Decide(op).Allowed()
	case check.Limits:
		for _, l := range d.view.Tool.Limits {
			if l.Kind.String() == q.Target {
				return check.Verdict(l.Value), nil
			}
		}
	case check.Programs:
		// That a program is listed is asked, its arguments are not.
		is = d.view.Tool.Commands == nil
		for _, r := range d.view.Programs() {
			is = is || r.Program == q.Target && r.Origin.Layer != ir.LayerImplied
		}
	case check.Files, check.Moves, check.Names:
	}
	if is {
		return check.Permit, nil
	}
	return 0, nil
}

// target reads a connection, "connect SCHEME HOST PORT /PATH", or a listener, "listen HOST PORT".
func target(text string) (ir.Operation, error) {
	f := strings.Fields(text)
	if len(f) != 3 && len(f) != 5 {
		return nil, fmt.Errorf("the target %q is none", text)
	}
	host := ir.Host{Kind: ir.HostName, Name: f[len(f)/2]}
	if a, err := netip.ParseAddr(strings.Trim(host.Name, "[]")); err == nil {
		host = ir.Host{Kind: ir.HostAddr, Addr: a}
	}
	if f[0] == "listen" {
		port, err := strconv.ParseUint(f[2], 10, 16)
		return ir.Listen{Host: host, Port: uint16(port)}, err
	}
	port, err := strconv.ParseUint(f[3], 10, 16)
	to := ir.Endpoint{Scheme: f[1], Host: host, Port: uint16(port)}
	if f[4] != "/" {
		to.Path = strings.Split(f[4][1:], "/")
	}
	return ir.Connect{To: to}, err
}
