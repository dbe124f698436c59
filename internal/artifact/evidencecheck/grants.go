package evidencecheck

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// maxStates bounds the states of grants of a run, which a user makes by answers.
const maxStates = 10_001

// grants takes a change of what is granted. It returns why that cannot be, empty where it can. What the policy's list
// may does not cover has no effect in a view.
func (j *judge) grants(g *evidencelog.Grants) string {
	if j.live == nil {
		return "grants something, and the policy lets nothing be granted"
	}
	switch {
	case g.Change == "revoked":
		if _, counted := j.answers[g.ID]; counted && g.State == 0 {
			return "" // a call that it has permitted may be told of later
		}
		if _, ok := j.given[g.ID]; !ok {
			return fmt.Sprintf("revokes grant %d, which is not in force", g.ID)
		}
		delete(j.given, g.ID)
		j.order = slices.DeleteFunc(j.order, func(id int) bool { return id == g.ID })
		return j.state(g)
	case g.Change != "answer":
		return "is no change of grants that this accessc knows"
	}
	given, why := j.rules(g)
	if why != "" {
		return why
	}
	if g.Uses > 0 && (g.Answer == "run" || g.Answer == "rule") && g.State == 0 {
		j.answers[g.ID] = given
		return ""
	}
	switch g.Answer {
	case "no", "never", "unasked":
		return ""
	case "once":
		j.answers[g.ID] = given
		return ""
	case "run", "rule", "write":
		if _, ok := j.given[g.ID]; ok {
			return fmt.Sprintf("answers question %d again", g.ID)
		}
		j.given[g.ID] = given
		j.order = append(j.order, g.ID)
		return j.state(g)
	}
	return "is no answer that this accessc knows"
}

// state makes the view of another state.
func (j *judge) state(g *evidencelog.Grants) string {
	if g.State != len(j.states) || len(j.states) >= maxStates {
		return fmt.Sprintf("leads to state %d of the grants, and %d were before it", g.State, len(j.states))
	}
	given := j.inForce()
	j.states, j.givens = append(j.states, j.live.With(given)), append(j.givens, given)
	return ""
}

// rules are the rules that an answer gives.
func (j *judge) rules(g *evidencelog.Grants) (out ir.Given, why string) {
	for _, x := range g.Given {
		if x.Host != "" {
			a := recorded.Access{Operation: "connect", Scheme: x.Scheme, Host: x.Host, Port: x.Port}
			ops, err := a.Operations(j.facts.Bindings)
			if err != nil {
				return out, err.Error()
			}
			c, _ := ops[0].(ir.Connect)
			r := ir.NetRule{Written: x.Host, Host: c.To.Host, Port: x.Port, Scheme: x.Scheme, Allow: true}
			out.Net = append(out.Net, r)
			continue
		}
		if x.Base64 {
			text, err := base64.StdEncoding.Strict().DecodeString(x.Place)
			if err != nil {
				return out, "names a place that is not base64"
			}
			x.Place = string(text)
		}
		r := ir.FSRule{At: ir.In(x.Place)}
		for _, name := range x.Caps {
			c, ok := ir.ParseCapability(name)
			if !ok {
				return out, fmt.Sprintf("grants the unknown capability %.20q", name)
			}
			r.Caps = r.Caps.With(c)
		}
		out.FS = append(out.FS, r)
	}
	if g.Answer != "rule" {
		return out, ""
	}
	for _, r := range j.may {
		if reflect.DeepEqual(evidencelog.RuleOf(r), g.By) {
			return j.live.Whole(r).And(out), ""
		}
	}
	return out, "grants all of a rule of may that the policy does not have"
}

// payloadType is the type of a signed root.
const payloadType = "application/vnd.accessc.evidence-root+json"

// Sign signs the end of a run.
func Sign(key attest.Private) func(evidencelog.Root) (json.RawMessage, error) {
	return func(r evidencelog.Root) (json.RawMessage, error) {
		payload, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		return attest.Seal(payloadType, payload, key)
	}
}

// signed checks the signature of a run.
func (c *checker) signed(r *run, l *evidencelog.Line, bad func(Kind, string, ...any)) {
	if len(c.o.Keys) == 0 {
		return
	}
	payload, by, err := attest.Unseal(payloadType, l.Signature, c.o.Keys...)
	if err != nil {
		bad(Signature, "has a signature that is none of the keys': %v", err)
		return
	}
	var root evidencelog.Root
	if err := strictjson.Unmarshal(payload, &root); err != nil {
		bad(Signature, "has a signature of something else: %v", err)
		return
	}
	want := evidencelog.Root{Run: r.name, Policy: r.report.Policy, Serial: r.begin.Serial, Lines: l.N, End: r.end}
	if root != want {
		bad(Signature, "has the signature of another end: the run was changed after it was signed")
		return
	}
	r.report.Signed = by.ID()
}
