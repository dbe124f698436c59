package start

import (
	"errors"
	"time"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// Ended is how a supervised tool has ended.
type Ended struct {
	supervisor.End
	// Refused is the number of calls that were refused, probes of runtimes aside; Limit the kind of
	// the limit that ended the tool, empty for none.
	Refused int
	Limit   string
}

// Attended is a tool under the supervision of this process.
type Attended struct {
	*supervisor.Attended
	starting *starting
	log      *denial.Log
}

// Hooks are told of the course of a supervised run.
type Hooks struct {
	// Live gets every event of a run in which operations can be granted.
	Live func(live.Event)
	// Refused gets a line of JSON for every refusal, up to maxLines bytes of them. Before Wait
	// returns a last one says how many there were beyond, if any.
	Refused func(line []byte)
}

// maxLines bounds the lines about the refusals of one run, in bytes.
const maxLines = 16 << 20

// Attend starts a tool of a plan that needs a supervisor, and supervises it. No other tool of the crew has its mark.
// The error is an *Error; then the tool has not run, and nothing is left behind.
func (p *Plan) Attend(site *Site, req Request, id Identity, files [3]int, on Hooks) (*Attended, error) {
	if p.ask {
		req.Ask = &Ask{Tell: on.Live}
	}
	s, err := p.begin(site, &req, id, files)
	if err != nil {
		return nil, err
	}
	a := &Attended{starting: s, log: denial.NewLogTo(on.Refused, maxLines)}
	c, err := s.childApart()
	c.Filter = p.traps
	var spawner *supervisor.Spawner
	if err == nil {
		spawner, err = p.thread()
	}
	if err == nil {
		made := false
		a.Attended, err = site.Crew.Start(spawner, c, s.id.Mark, func() (*supervisor.Supervisor, error) {
			s.begun = time.Now()
			b, err := s.supervision.supervisor(a.log, s.records.outputs)
			made = err == nil
			return b, err
		})
		if err == nil {
			s.confinement.drop()
			return a, nil
		}
		if made {
			// The supervisor has closed them.
			s.confinement.grants.placements, s.supervision.egress = nil, nil
		}
		err = s.program.childFailed(err)
	}
	s.abandon()
	return nil, err
}

// errNothingAsked is the error of answers for a tool that asks nothing.
var errNothingAsked = errors.New("the tool was not started to ask")

// Answer answers a question of the tool, and is in force when it returns.
func (a *Attended) Answer(question int, answer live.Answer) error {
	session := a.starting.supervision.session
	if session == nil {
		return errNothingAsked
	}
	return session.Answer(question, answer)
}

// Revoke takes a grant back, by the number of its question.
func (a *Attended) Revoke(question int) error {
	session := a.starting.supervision.session
	if session == nil {
		return errNothingAsked
	}
	return session.Revoke(question)
}

// Wait waits until the tool and all that it has left running have ended, and removes what is left of the
// run. over is called at the end of the tool's process.
func (a *Attended) Wait(over func()) Ended {
	end := a.Attended.Wait(over)
	ended := time.Now()
	_ = a.log.Close()
	out := Ended{End: end, Refused: a.log.Counted()}
	used := time.Duration(end.Usage.Utime.Nano() + end.Usage.Stime.Nano())
	if l := a.starting.limits.endedBy(end.Status, ended, used); l != nil {
		out.Limit = l.Kind
	}
	a.starting.originals.end()
	a.starting.over()
	return out
}

// Close frees what the supervisor of a tool that has ended has open, and returns whether it could. The ruleset of the
// next start is made behind that: while the tool runs its calls wait for this process.
func (a *Attended) Close() bool {
	ok := a.Attended.Close()
	a.starting.confinement.lay()
	return ok
}
