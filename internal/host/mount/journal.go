package mount

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/accessc/accessc/internal/text/oserr"
)

// journal records how to undo each step.
type journal struct {
	ctx  context.Context
	undo []func() error
}

var errInterrupted = errors.New("interrupted")

// in adds the place of a step's error, and removes the operation that the system names. An
// interruption has no place.
func in(name string, err error) error {
	if err == nil || errors.Is(err, errInterrupted) {
		return err
	}
	return fmt.Errorf("%s: %w", name, oserr.Reason(err))
}

// step runs do unless the run was interrupted. do leaves nothing behind when it fails; undo
// reverts it.
func (j *journal) step(do, undo func() error) error {
	if j.ctx.Err() != nil {
		return errInterrupted
	}
	if err := do(); err != nil {
		return err
	}
	j.undo = append(j.undo, undo)
	return nil
}

// rollBack undoes every step, the last first, and reports the failures.
func (j *journal) rollBack(cause error) error {
	var failed []error
	for _, undo := range slices.Backward(j.undo) {
		if err := undo(); err != nil {
			failed = append(failed, err)
		}
	}
	j.undo = nil
	if len(failed) > 0 {
		return fmt.Errorf("%w; and not everything could be taken back: %w", cause, errors.Join(failed...))
	}
	return fmt.Errorf("nothing was changed: %w", cause)
}
