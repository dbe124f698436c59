package sandbox

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/accessc/accessc/internal/enforce/start"
)

// streams are the standard descriptors of a tool.
type streams struct {
	files [3]*os.File
	// null is the null device, nil before some descriptor is that.
	null *os.File
	// theirs are files that only the tool needs once it has started, ours the ends of pipes on this
	// side.
	theirs, ours []*os.File
	copies       []func() error
	results      chan error
}

// ErrWaitDelay is the error of output that was not copied to its end within WaitDelay.
var ErrWaitDelay = errors.New("sandbox: WaitDelay expired before I/O complete")

func openStreams(r *Request) (*streams, error) {
	s := &streams{}
	err := s.input(r.Stdin)
	if err == nil {
		s.files[1], err = s.output(r.Stdout)
	}
	if err == nil {
		if same(r.Stdout, r.Stderr) {
			s.files[2] = s.files[1]
		} else {
			s.files[2], err = s.output(r.Stderr)
		}
	}
	if err != nil {
		s.started(false)
		return nil, err
	}
	return s, nil
}

// same reports whether two writers are one. Those of a type that cannot be compared are not.
func same(a, b io.Writer) (is bool) {
	defer func() { _ = recover() }()
	return a != nil && a == b
}

func (s *streams) input(in io.Reader) error {
	if f, ok := in.(*os.File); ok {
		s.files[0] = f
		return nil
	}
	if in == nil {
		f, err := s.nothing()
		s.files[0] = f
		return err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	s.files[0], s.theirs, s.ours = theirs, append(s.theirs, theirs), append(s.ours, ours)
	s.copies = append(s.copies, func() error {
		_, err := io.Copy(ours, in)
		if errors.Is(err, syscall.EPIPE) {
			err = nil // the tool need not read everything
		}
		return errors.Join(err, ours.Close())
	})
	return nil
}

// nothing is the null device, opened once for all descriptors of the tool.
func (s *streams) nothing() (_ *os.File, err error) {
	if s.null == nil {
		s.null, err = start.OpenNull(os.O_RDWR)
		s.theirs = append(s.theirs, s.null)
	}
	return s.null, err
}

func (s *streams) output(out io.Writer) (*os.File, error) {
	if f, ok := out.(*os.File); ok {
		return f, nil
	}
	if out == nil {
		return s.nothing()
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.theirs, s.ours = append(s.theirs, theirs), append(s.ours, ours)
	s.copies = append(s.copies, func() error {
		_, err := io.Copy(out, ours)
		return errors.Join(err, ours.Close())
	})
	return theirs, nil
}

// started closes the ends of the tool, and begins to copy, or ends everything where no tool has
// started.
func (s *streams) started(ok bool) {
	for _, f := range s.theirs {
		_ = f.Close()
	}
	if !ok {
		for _, f := range s.ours {
			_ = f.Close()
		}
		return
	}
	s.results = make(chan error, len(s.copies))
	for _, c := range s.copies {
		go func() { s.results <- c() }()
	}
}

// wait waits until everything is copied, after delay no longer if it is not 0.
func (s *streams) wait(delay time.Duration) (err error) {
	var late <-chan time.Time
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		late = timer.C
	}
	for range s.copies {
		select {
		case e := <-s.results:
			err = errors.Join(err, e)
		case <-late:
			// The copies end by themselves, unless a reader of the caller's does not.
			for _, f := range s.ours {
				_ = f.Close()
			}
			return errors.Join(err, ErrWaitDelay)
		}
	}
	return err
}
