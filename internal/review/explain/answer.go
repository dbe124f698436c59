package explain

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/gitconfig"
	"github.com/accessc/accessc/ir"
)

// Answer is a question, the verdict on it and the rules that led to it.
type Answer struct {
	View       *ir.View
	Question   resolve.Question
	Operation  ir.Operation
	Verdict    ir.Verdict
	Considered []ir.Considered
	Ledger     ir.Ledger
	// Live is the policy as it can be widened while the tool runs, nil where it cannot.
	Live *ir.Live
	// System is the same question in the form in which the kernel judges it, when the verdict
	// is only about the form of the question.
	System *Answer
}

// Text renders the answer for a terminal: the verdict and its reason in the first line, the
// rules that lost, and how some systems hold it. The causes are given with why, and where a
// system may answer otherwise.
func (a *Answer) Text(s Style, why bool, systems ...ir.Platform) string {
	var b strings.Builder
	word := s.paint(red, "no")
	if a.Verdict.Allowed() {
		word = s.paint(green, "yes")
	}
	fmt.Fprintf(&b, "%s%s%s\n", word, strings.Repeat(" ", 5-len(plainWord(a.Verdict))), clean(a.because()))
	for _, c := range a.Considered {
		if !c.Wins {
			fmt.Fprintf(&b, "     %s\n", s.paint(dim, clean(ruleText(c.Rule)+": "+c.Note)))
		}
	}
	if a.amended() {
		fmt.Fprintf(&b, "     %s\n", amendText())
	}
	if may := a.mayAsk(); may != "" {
		fmt.Fprintf(&b, "     %s\n", clean(may))
	}
	if a.System != nil {
		fmt.Fprintf(&b, "     a program that opens this path itself: %s, %s\n",
			plainWord(a.System.Verdict), clean(a.System.because()))
	}
	for _, o := range a.others() {
		fmt.Fprintf(&b, "     %s: %s, %s\n", o.Where, plainWord(o.answer.Verdict), clean(o.Detail))
	}
	for _, p := range systems {
		if held := a.heldText(s, why, p); held != "" {
			fmt.Fprintf(&b, "     %s\n", held)
		}
	}
	return s.Hang(b.String(), 5)
}

// amended reports whether a refusal is about a configuration of git's in which a supervisor lets git set variables of
// branches.
func (a *Answer) amended() bool {
	op, ok := a.Operation.(ir.Access)
	if !ok || a.Verdict.Allowed() || !ir.Write.Has(op.Cap) {
		return false
	}
	dir, _ := op.On.At.Parent()
	return (op.On.At.Base() == "config" || op.On.At.Base() == "config.lock") && a.View.Amends(dir.Child("config.lock"))
}

func amendText() string {
	return "linux: git itself may set and remove variables of branches there: " + strings.Join(gitconfig.Keys[:], ", ")
}

// OtherDoc is an answer that differs from the main answer, and the case that it is about.
type OtherDoc struct {
	Where   string `json:"where"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	answer  *Answer
}

// others are the answers that the question may mean as well: about a symbolic link, and about a connection to a process
// of the tool itself and to the addresses that localhost leads to, which the system judges.
func (a *Answer) others() []OtherDoc {
	if op, ok := a.Operation.(ir.Access); ok {
		return a.otherNames(op)
	}
	if op, ok := a.Operation.(ir.Listen); ok {
		return a.otherAddress(op)
	}
	op, ok := a.Operation.(ir.Connect)
	if !ok {
		return nil
	}
	var out []OtherDoc
	add := func(where string, op ir.Connect) {
		o := *a
		o.Operation, o.Verdict = op, a.View.Decide(op)
		if o.Verdict.Allowed() != a.Verdict.Allowed() {
			out = append(out, OtherDoc{where, o.Verdict.Effect.String(), o.because(), &o})
		}
	}
	if op.To.Host == (ir.Host{Kind: ir.HostName, Name: ir.Localhost}) {
		for _, addr := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
			at := op
			at.To.Host = ir.Host{Kind: ir.HostAddr, Addr: addr}
			add("where localhost leads to "+addr.String(), at)
		}
	}
	op.Own = true
	add("where a process of the tool itself listens", op)
	return out
}

// otherAddress is the answer about the loopback address at which the supervisor makes a listener at every address.
func (a *Answer) otherAddress(op ir.Listen) []OtherDoc {
	near, ok := a.View.Nearer(op, true)
	if !ok {
		return nil
	}
	o := *a
	o.Operation, o.Verdict = near, a.View.Decide(near)
	return []OtherDoc{{"at " + near.Host.String() + " instead, where the supervisor makes it",
		o.Verdict.Effect.String(), o.because(), &o}}
}

// otherNames are the answers about the file of a rule that a name spells elsewhere, and about a symbolic link, where
// another name may be created.
func (a *Answer) otherNames(op ir.Access) []OtherDoc {
	if spelt := a.spelt(op); spelt != nil {
		return spelt
	}
	if op.Cap != ir.Create || !a.Verdict.Allowed() {
		return nil
	}
	op.Name = ir.NameLink
	o := *a
	o.Operation, o.Verdict = op, a.View.Decide(op)
	if o.Verdict.Allowed() {
		return nil
	}
	return []OtherDoc{{"a symbolic link of this name", o.Verdict.Effect.String(), o.because(), &o}}
}

// spelt is the answer about the rule's path that a name is another spelling of, where that is another answer: macOS and
// Windows do not tell case or composed letters apart, and Windows drops dots and blanks at the end of a name and has
// streams behind a colon (learn.microsoft.com, "Naming Files, Paths, and Namespaces"). Short names (8.3) are not known.
func (a *Answer) spelt(op ir.Access) []OtherDoc {
	names := func(at string) []string {
		out := strings.Split(resolve.Fold(at), "/")
		for i, name := range out {
			if short := strings.TrimRight(name, ". "); short != "" {
				name, _, _ = strings.Cut(short, ":")
			}
			out[i] = name
		}
		return out
	}
	at := op.On.At
	asked, written := names(at.Path), strings.Split(at.Path, "/")
	for i := range a.View.Tool.FS {
		r := &a.View.Tool.FS[i]
		n := strings.Count(r.At.Path, "/") + 1
		apart := r.At.Root != at.Root || r.At.Path == "" || len(r.Names) > 0 || n > len(asked)
		if apart || ir.Within(at.Path, r.At.Path) || !slices.Equal(names(r.At.Path), asked[:n]) {
			continue
		}
		o, to := *a, op
		to.On.At.Path = strings.Join(append([]string{r.At.Path}, written[n:]...), "/")
		if o.Operation, o.Verdict = to, a.View.Decide(to); o.Verdict.Allowed() != a.Verdict.Allowed() {
			where := "where it is another spelling of " + r.At.Path + " (macOS, Windows)"
			return []OtherDoc{{where, o.Verdict.Effect.String(), o.because(), &o}}
		}
	}
	return nil
}

func plainWord(v ir.Verdict) string {
	if v.Allowed() {
		return "yes"
	}
	return "no"
}

// because is the reason of a verdict as a sentence part.
func (a *Answer) because() string {
	v := a.Verdict
	switch v.Reason {
	case ir.ReasonRule:
		return a.byRule()
	case ir.ReasonDefault:
		return "no rule matches " + a.what()
	case ir.ReasonAny:
		return "any program may be started"
	case ir.ReasonName:
		return a.otherName()
	case ir.ReasonMissing:
		return a.missing()
	case ir.ReasonAbsolute:
		return "absolute paths are not permitted as a tool's argument"
	case ir.ReasonOutside:
		return "the path leaves the workspace"
	case ir.ReasonEscape:
		return fmt.Sprintf("a symlink leads to %s, outside of the workspace, and no external rule covers it", v.At)
	case ir.ReasonLoop:
		return "the path is a symlink loop"
	case ir.ReasonPinned:
		return a.pinned()
	case ir.ReasonLeads:
		return a.leads()
	case ir.ReasonNoGain:
		if r, ok := v.Rule.(*ir.FSRule); ok && !r.Caps.Has(v.Need) {
			return fmt.Sprintf("at the new place it would gain %s, which %s withholds here", v.Need, ruleText(r))
		}
		return fmt.Sprintf("at the new place it would gain %s, by %s", v.Need, ruleText(v.Rule))
	case ir.ReasonRoot:
		return fmt.Sprintf("%s is a root: its name belongs to a directory outside", v.At.Short())
	case ir.ReasonLoader:
		return fmt.Sprintf("%s changes how programs load code and is forwarded by its exact name only", a.what())
	case ir.ReasonArgs:
		return fmt.Sprintf("%s is listed, but not with these arguments (%s)", v.Rule.Subject(), v.Rule.Source())
	case ir.ReasonCommand:
		return fmt.Sprintf("%s is not among the listed programs", a.what())
	case ir.ReasonOwn:
		return fmt.Sprintf("accessc sets %s to something of the tool's own", a.what())
	case ir.ReasonNone:
		return "it cannot be decided"
	default:
		return "it cannot be decided"
	}
}

func (a *Answer) byRule() string {
	v := a.Verdict
	switch r := v.Rule.(type) {
	case *ir.FSRule:
		if v.Allowed() {
			return fmt.Sprintf("%s is granted by %s", v.Need, ruleText(r))
		}
		return fmt.Sprintf("%s of %s is not granted by %s", v.Need, v.At.Short(), ruleText(r))
	case *ir.NetRule:
		return fmt.Sprintf("the rule on %s %s it (%s)", r.Subject(), allows(v.Allowed()), r.Origin)
	case *ir.CommandRule:
		if r.Origin.Layer == ir.LayerImplied {
			return fmt.Sprintf("%s is the tool's own program, which may be started with any arguments", r.Program)
		}
		return fmt.Sprintf("the rule on %s allows it (%s)", r.Program, r.Origin)
	case *ir.EnvRule:
		return fmt.Sprintf("the rule on %s %s it (%s)", r.Subject(), allows(v.Allowed()), r.Source())
	default:
		return "a rule decides"
	}
}

// otherName says that a program is listed by other names.
func (a *Answer) otherName() string {
	return fmt.Sprintf("%s is the program of %s (%s), and may do something else by another name", a.what(),
		a.Verdict.Rule.Subject(), a.Verdict.Rule.Source())
}

// missing describes the places where no such program was found.
func (a *Answer) missing() string {
	out := a.what() + " is not there"
	if !strings.Contains(a.what(), "/") {
		out = a.what() + " is not in the tool's PATH"
	}
	if r := a.Verdict.Rule; r != nil {
		out += fmt.Sprintf("; the rule on %s (%s) is about no file of this host", r.Subject(), r.Source())
	}
	return out
}

func allows(yes bool) string {
	if yes {
		return "allows"
	}
	return "denies"
}

// ruleText names a rule with its grant and its place.
func ruleText(r ir.Rule) string {
	if f, ok := r.(*ir.FSRule); ok {
		return fmt.Sprintf("%s  %s (%s)", f.Subject(), f.Caps, f.Origin)
	}
	if r == nil {
		return "no rule"
	}
	return fmt.Sprintf("%s (%s)", r.Subject(), r.Source())
}

func (a *Answer) pinned() string {
	return fmt.Sprintf("moving %s would carry %s", a.Verdict.At.Short(), a.pin())
}

// leads explains why a name is not made or removed.
func (a *Answer) leads() string {
	if op, ok := a.Operation.(ir.Access); ok && op.Cap == ir.Create && op.Name == ir.NameLink && a.Verdict.Pin != nil &&
		a.Verdict.Pin.At == op.On.At {
		return fmt.Sprintf("%s is where %s stands, and a symbolic link would lead that elsewhere",
			a.Verdict.At.Short(), a.pin())
	}
	return fmt.Sprintf("%s leads to %s, and only a directory is made or removed there", a.Verdict.At.Short(), a.pin())
}

// pin names the rule, or the directory of accessc, that keeps a name at its place.
func (a *Answer) pin() string {
	if a.Verdict.Pin == nil {
		return "a directory that accessc keeps for the tool"
	}
	return fmt.Sprintf("the rule on %s (%s)", a.Verdict.Pin.Subject(), a.Verdict.Pin.Origin)
}

// what is the target of the question.
func (a *Answer) what() string {
	words := slices.Clone(a.Question.Operands)
	words[0] = strings.TrimPrefix(a.Question.Method+" "+words[0], " ")
	return strings.Join(words, " and ")
}

// heldText is one line on how a platform holds the cell that decided.
func (a *Answer) heldText(s Style, why bool, p ir.Platform) string {
	row, ok := a.cell(p, s.level(p))
	if !ok {
		return ""
	}
	text := systemName(p) + " " + s.held(row.Is)
	otherwise := !row.Is.Held() || row.Is == ir.Stricter && a.Verdict.Allowed()
	if because := registry.Why(row.Causes); because != "" && (why || otherwise) {
		text += s.paint(dim, " ("+because+")")
	}
	return text
}

// cell finds the ledger's row for the requirement that decided.
func (a *Answer) cell(p ir.Platform, level int) (ir.Row, bool) {
	about := ir.Describe(a.Operation)
	rule := ir.DefaultRule
	for _, c := range a.Considered {
		if c.Wins {
			rule = c.ID.Stated()
		}
	}
	if about.Resource == ir.Commands && (rule == ir.OwnProgram || a.Verdict.Reason == ir.ReasonName) {
		rule = ir.DefaultRule // the tool's own, and another name, are held as what no rule lists
	}
	return a.Ledger.Cell(about.Resource, rule, about.Requirement(a.Verdict), p, level)
}

// AnswerDoc is the JSON form of an answer.
type AnswerDoc struct {
	Tool        string   `json:"tool"`
	Operation   string   `json:"operation"`
	Method      string   `json:"method,omitempty"`
	Target      string   `json:"target"`
	Destination string   `json:"destination,omitempty"`
	Arguments   []string `json:"arguments,omitempty"`
	Canonical   string   `json:"canonical,omitempty"`
	Verdict     string   `json:"verdict"`
	Reason      string   `json:"reason"`
	Detail      string   `json:"detail"`
	Rule        *RuleDoc `json:"rule"`
	// May is the rule by which the operation can be granted while the tool runs.
	May         *RuleDoc           `json:"may,omitempty"`
	Considered  []ConsideredDoc    `json:"considered"`
	Enforcement map[string]HeldDoc `json:"enforcement"`
	System      *AnswerDoc         `json:"system,omitempty"`
	Others      []OtherDoc         `json:"others,omitempty"`
}

// RuleDoc is a rule in JSON.
type RuleDoc struct {
	ID           string   `json:"id"`
	Subject      string   `json:"subject"`
	Capabilities []string `json:"capabilities,omitempty"`
	Layer        string   `json:"layer"`
	Label        string   `json:"label,omitempty"`
	File         string   `json:"file,omitempty"`
	Line         int      `json:"line,omitempty"`
	Column       int      `json:"column,omitempty"`
}

// ConsideredDoc is a rule that matched.
type ConsideredDoc struct {
	RuleDoc
	Wins bool   `json:"wins"`
	Note string `json:"note,omitempty"`
}

// HeldDoc is the enforcement of a requirement on a platform.
type HeldDoc struct {
	Is string `json:"is"`
	// Why is the causes in words.
	Why    string   `json:"why,omitempty"`
	Causes []string `json:"causes,omitempty"`
	Gap    string   `json:"gap,omitempty"`
}

func heldDoc(h ir.Held) HeldDoc {
	d := HeldDoc{Is: h.Is.String(), Why: registry.Why(h.Causes), Gap: string(h.Gap)}
	for _, c := range h.Causes {
		d.Causes = append(d.Causes, c.String())
	}
	return d
}

// JSON returns the machine-readable form.
func (a *Answer) JSON(s Style) *AnswerDoc {
	d := &AnswerDoc{
		Tool: a.View.Tool.Name, Operation: a.Question.Verb, Method: a.Question.Method, Target: a.Question.Operands[0],
		Arguments: a.Question.Args, Verdict: a.Verdict.Effect.String(), Reason: a.Verdict.Reason.String(),
		Detail: a.because(), Others: a.others(), Considered: []ConsideredDoc{}, Enforcement: map[string]HeldDoc{},
	}
	if len(a.Question.Operands) > 1 {
		d.Destination = a.Question.Operands[1]
	}
	if places := ir.Describe(a.Operation).Places; len(places) > 0 && places[0].At.Root.Kind != 0 {
		d.Canonical = places[0].At.String()
	}
	for _, c := range a.Considered {
		doc := ruleDoc(c.ID, c.Rule)
		if c.Wins {
			d.Rule = &doc
		}
		d.Considered = append(d.Considered, ConsideredDoc{doc, c.Wins, c.Note})
	}
	if r, id := a.may(); r != nil {
		doc := ruleDoc(id, r)
		d.May = &doc
	}
	for _, p := range ir.Platforms {
		if row, ok := a.cell(p, s.level(p)); ok {
			d.Enforcement[p.String()] = heldDoc(row.Held)
		}
	}
	if a.System != nil {
		d.System = a.System.JSON(s)
	}
	return d
}

func ruleDoc(id ir.RuleID, r ir.Rule) RuleDoc {
	o := r.Source()
	d := RuleDoc{
		ID: string(id), Subject: r.Subject(), Layer: o.Layer.String(), Label: o.Label,
		File: o.Pos.File, Line: o.Pos.Line, Column: o.Pos.Col,
	}
	if f, ok := r.(*ir.FSRule); ok {
		for _, c := range f.Caps.List() {
			d.Capabilities = append(d.Capabilities, c.String())
		}
	}
	return d
}
