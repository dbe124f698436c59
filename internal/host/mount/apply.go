package mount

import (
	"bytes"
	"context"
	"fmt"

	"github.com/accessc/accessc/internal/host/approvals"
)

// Apply carries the plan out: links, grants and approvals, or nothing. An interrupted context
// undoes the steps so far.
// See decision D26.
func (p *Plan) Apply(ctx context.Context) (aside string, err error) {
	j := &journal{ctx: ctx}
	done := false
	aside, err = approvals.Update(p.Store, func(s *approvals.Store) error {
		err := p.effects(j, s)
		if done = err == nil; !done {
			err = j.rollBack(err)
		}
		return err
	})
	if err != nil && done {
		return "", j.rollBack(fmt.Errorf("approvals: %w", err))
	}
	return aside, err
}

// effects changes the disk and the store in memory.
func (p *Plan) effects(j *journal, s *approvals.Store) error {
	for i, l := range p.Links {
		at := p.places[i]
		if l.Change != Made {
			continue
		}
		if err := p.tree.makeDirs(j, at); err != nil {
			return err
		}
		if err := makeLink(j, at, l.Target); err != nil {
			return err
		}
	}
	for i, m := range p.approve {
		if err := p.tree.verify(p.places[i]); err != nil {
			return err
		}
		if err := s.Approve(m); err != nil {
			return err
		}
	}
	if !bytes.Equal(p.Old, p.New) {
		if err := p.tree.replace(j, p.local, p.New); err != nil {
			return err
		}
	}
	for i, l := range p.Links {
		if l.Change == Removed {
			if err := removeLink(j, p.places[i]); err != nil {
				return err
			}
		}
	}
	for _, name := range p.forget {
		s.Forget(name)
	}
	return nil
}
