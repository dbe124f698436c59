package hostfacts

import (
	"path/filepath"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// NotWorkspace is the finding about a directory that is never taken as workspace by
// itself.
func NotWorkspace(r *workspace.Refused) diag.Diagnostic {
	d := diag.New(diag.NotWorkspace, ir.Pos{File: filepath.ToSlash(r.Dir)}, 0)
	d.Label = "this directory " + r.Why
	d.Hint = "if tools are to have all of it: -C " + shellword.Quote(filepath.ToSlash(r.Dir)) +
		"; otherwise go to the directory that is meant"
	if r.Tools {
		d.Hint = "what it says may be a tool's: use a directory of your own"
	}
	if rel, err := filepath.Rel(r.Outer, r.Dir); r.Outer != "" && err == nil {
		d.Hint = "write members = [" + tomltext.String(filepath.ToSlash(rel)) +
			"] at the top of " + filepath.ToSlash(filepath.Join(r.Outer, "accessc.toml")) +
			" if its tools may be started here, or name it: -C " + shellword.Quote(filepath.ToSlash(r.Dir))
	}
	return d
}
