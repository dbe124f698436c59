package start

import (
	"os"

	"github.com/accessc/accessc/internal/enforce/supervisor"
)

// Start applies the sandbox to this process and becomes the tool, or starts it under
// the supervision of this process and ends as the tool does. It returns only when the
// tool did not start; the error is an *Error.
func Start(req Request) error { return req.Advised(begin(req)) }

func begin(req Request) error {
	asked := ""
	if req.Ask != nil {
		asked = "--ask"
	}
	terms, err := settleHere(&req, asked)
	if err != nil {
		return err
	}
	if err := checkDescriptors(0, 1, 2); err != nil {
		return err
	}
	s := newStarting(&run{settled: terms, req: &req, site: ownSite(), launch: req.Spec.Launch})
	defer s.remains.release()
	if s.supervised {
		s.id.Mark = supervisor.NewMark()
	}
	if err := req.carry(&s.launch); err != nil {
		return err
	}
	if err = s.prepare(); err == nil {
		if err = os.Chdir(req.place(s.spec.Workspace)); err != nil {
			err = failed("the working directory: %w", err)
		}
	}
	if err != nil {
		s.supervision.egress.end()
		s.originals.drop()
		s.remains.discard()
		return s.records.notRecorded(err)
	}
	if !s.supervised {
		s.refusals.unwatched()
	}
	if s.stays() {
		err := s.supervise()
		s.originals.drop()
		s.remains.discard()
		return s.records.notRecorded(err)
	}
	// Everything from here on concerns this thread alone; execve(2) ends the others.
	keepThread()
	err = s.become()
	s.remains.discard()
	return err
}
