package start

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// asks are the settings of grants during the run, nil where none are given.
func (s *supervision) asks() *live.Options {
	if s.req.Ask == nil {
		return nil
	}
	return &live.Options{Tool: s.spec.Tool, Write: s.req.Ask.Write, Tell: s.req.Ask.Tell, Record: s.req.Record != nil}
}

// converse has the user answer the questions of the session until the returned function is
// called.
func (s *supervision) converse() (stop func(), err error) {
	if s.session == nil {
		return func() {}, nil
	}
	done := make(chan struct{})
	var over sync.WaitGroup
	if dir := s.req.Ask.Control; dir != "" {
		// Grants are on canonical paths.
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return nil, err
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(parent, filepath.Base(dir))
		if by := s.grantOn(dir, reading()|changing(), ir.All); by != "" {
			return nil, errors.New("the policy lets the tool reach " + dir + ", from where it could answer for you: " + by)
		}
		c, err := live.Listen(dir, s.session, s.by.Ours)
		if err != nil {
			return nil, err
		}
		over.Go(func() {
			<-done
			c.Close()
		})
	}
	if s.req.Ask.Terminal {
		interrupts := make(chan os.Signal, 1)
		if !signal.Ignored(unix.SIGINT) {
			signal.Notify(interrupts, unix.SIGINT)
		}
		over.Go(func() {
			s.session.Dialog(done, interrupts, func(text string) {
				_, _ = io.WriteString(s.req.Messages, "accessc: "+visible.Message(text)+"\n")
			})
		})
	}
	return func() {
		close(done)
		over.Wait()
	}, nil
}
