package start

import (
	"io"
	"path/filepath"
	"time"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
)

// run is one start of a tool, as all of its parts know it.
type run struct {
	req    *Request
	spec   *winjob.Spec
	launch backends.Launch
	tier   int
	id     string
	dir    string // the run's directory, which holds the following one
	tmp    string
}

// context is the path of the Context.
func (r *run) context() string { return filepath.Join(r.tmp, "context.json") }

// wall is how long the tool may run, 0 for any time. It is enforced as well as can be even if
// the requirement is accepted as a gap.
func (r *run) wall() time.Duration {
	for _, l := range r.launch.Limits {
		if l.Kind == ir.LimitWallTime.String() {
			return time.Duration(l.Value) * time.Millisecond
		}
	}
	return 0
}

func (r *run) messages() io.Writer {
	if r.req.Messages == nil {
		return io.Discard
	}
	return r.req.Messages
}
