package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// Tested is one assertion of a policy's own tests and the answers to it.
type Tested struct {
	Assertion ir.Assertion
	// Answer is the policy's; nil where the question cannot be asked here, for the reason Err.
	Answer *Answer
	Err    error
	// Kernel is the running kernel's; nil where it was not asked.
	Kernel *KernelAnswer
}

// KernelAnswer is the running kernel's answer to a trial.
type KernelAnswer struct {
	// Tried is false where nothing could be tried; Why is the reason.
	Tried   bool
	Allowed bool
	// Errno is the error of the system call, empty for none.
	Errno string
	Why   string
	// Accepted names the gaps that were accepted.
	Accepted []string
	// Asked is the policy's answer to the tried operation, asked as the kernel is.
	Asked *Answer
}

// Holds reports whether the policy gives the expected answer.
func (x *Tested) Holds() bool {
	return x.Answer != nil && x.Answer.Verdict.Allowed() == x.Assertion.Allow
}

// KernelFails reports whether the kernel answered otherwise than the assertion wants,
// and the ledger does not say that it would.
func (x *Tested) KernelFails(s Style) bool {
	k := x.Kernel
	return k != nil && k.Tried && k.Allowed != x.Assertion.Allow && k.declared(s) == ""
}

// declared returns the entry of the ledger that explains why the kernel answers differently
// from the policy.
func (k *KernelAnswer) declared(s Style) string {
	if k.Asked == nil || k.Asked.Verdict.Allowed() == k.Allowed {
		return ""
	}
	row, ok := k.Asked.cell(ir.Linux, s.level(ir.Linux))
	switch {
	case !ok:
		return ""
	case k.Allowed && slices.Contains(k.Accepted, string(row.Gap)):
		return row.Is.String() + ", accepted: " + registry.Why(row.Causes)
	case k.Allowed && !row.Is.Held(), !k.Allowed && row.Is == ir.Stricter:
		return row.Is.String() + ": " + registry.Why(row.Causes)
	default:
		return ""
	}
}

// Note explains the kernel's answer where it is not the expected one.
func (x *Tested) Note(s Style) string {
	k := x.Kernel
	switch {
	case k == nil || k.Tried && k.Allowed == x.Assertion.Allow:
		return ""
	case !k.Tried:
		return k.Why
	case k.declared(s) != "":
		return "the ledger says " + k.declared(s)
	case k.Asked.Verdict.Allowed() == k.Allowed:
		return "a program that does it itself: " + k.Asked.because()
	default:
		return "the policy says otherwise and the ledger says that this is held"
	}
}

func (x *Tested) failed(s Style) bool { return !x.Holds() || x.KernelFails(s) }

// TestedText lists how one tool's tests went: a line for all of them, and with answers of
// the kernel one for each.
func TestedText(tool string, xs []Tested, s Style) string {
	failed := 0
	var rows [][]string
	for i := range xs {
		x := &xs[i]
		if x.failed(s) {
			failed++
		}
		if x.Kernel != nil {
			rows = append(rows, x.row(s))
		}
	}
	state := plural.Count(len(xs), "test") + " hold"
	if len(xs) == 1 {
		state += "s"
	}
	if failed > 0 {
		state = fmt.Sprintf("%d of %s fail", failed, plural.Count(len(xs), "test"))
		if failed == 1 {
			state = "1 of " + plural.Count(len(xs), "test") + " fails"
		}
		state = s.paint(red, state)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", s.paint(bold, clean(tool)), state)
	for i, line := range table(rows) {
		if xs[i].failed(s) {
			line = s.paint(red, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func (x *Tested) row(s Style) []string {
	policy, kernel := "no", "kernel no"
	if x.Answer != nil && x.Answer.Verdict.Allowed() {
		policy = "yes"
	}
	switch {
	case !x.Kernel.Tried:
		kernel = "not tried"
	case x.Kernel.Allowed:
		kernel = "kernel yes"
	case x.Kernel.Errno != "":
		kernel += " " + x.Kernel.Errno
	}
	verdict := "  "
	if x.failed(s) {
		verdict = "! "
	}
	return []string{verdict + policy, kernel, clean(x.Assertion.Question), clean(x.Note(s))}
}

// TestedDocument is the JSON form of a run of tests.
type TestedDocument struct {
	Version int         `json:"format_version"`
	Tests   []TestedDoc `json:"tests"`
	Failed  int         `json:"failed"`
}

// TestedDoc is one assertion.
type TestedDoc struct {
	Tool     string     `json:"tool"`
	Expect   string     `json:"expect"`
	Question string     `json:"question"`
	File     string     `json:"file,omitempty"`
	Line     int        `json:"line,omitempty"`
	Column   int        `json:"column,omitempty"`
	Holds    bool       `json:"holds"`
	Error    string     `json:"error,omitempty"`
	Answer   *AnswerDoc `json:"answer,omitempty"`
	Kernel   *KernelDoc `json:"kernel,omitempty"`
}

// KernelDoc is the kernel's answer.
type KernelDoc struct {
	Tried   bool       `json:"tried"`
	Verdict string     `json:"verdict,omitempty"`
	Errno   string     `json:"errno,omitempty"`
	Holds   bool       `json:"holds"`
	Note    string     `json:"note,omitempty"`
	Asked   *AnswerDoc `json:"asked,omitempty"`
}

// Add puts the tests of one tool into a document.
func (d *TestedDocument) Add(tool string, xs []Tested, s Style) {
	for i := range xs {
		x := &xs[i]
		pos := x.Assertion.Origin.Pos
		doc := TestedDoc{
			Tool: tool, Expect: expected(x.Assertion.Allow), Question: x.Assertion.Question, File: pos.File, Line: pos.Line, Column: pos.Col,
			Holds: x.Holds(),
		}
		if x.Err != nil {
			doc.Error = x.Err.Error()
		}
		if x.Answer != nil {
			doc.Answer = x.Answer.JSON(s)
		}
		if k := x.Kernel; k != nil {
			doc.Kernel = &KernelDoc{Tried: k.Tried, Errno: k.Errno, Holds: !x.KernelFails(s), Note: x.Note(s)}
			if k.Tried {
				doc.Kernel.Verdict = expected(k.Allowed)
				doc.Kernel.Asked = k.Asked.JSON(s)
			}
		}
		if x.failed(s) {
			d.Failed++
		}
		d.Tests = append(d.Tests, doc)
	}
}

func expected(allow bool) string {
	if allow {
		return ir.Allow.String()
	}
	return ir.Deny.String()
}
