package oserr_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/accessc/accessc/internal/text/oserr"
)

func TestReason(t *testing.T) {
	other := errors.New("other")
	for _, err := range []error{
		&fs.PathError{Op: "open", Path: "f", Err: fs.ErrExist}, &os.LinkError{Op: "link", Old: "f", New: "g", Err: fs.ErrExist},
		fmt.Errorf("the layer: %w", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrExist}), fs.ErrExist,
	} {
		if got := oserr.Reason(err); got != fs.ErrExist {
			t.Errorf("%v: got %v", err, got)
		}
	}
	if oserr.Reason(other) != other || oserr.Reason(nil) != nil {
		t.Error("an error without a path has changed")
	}
}
