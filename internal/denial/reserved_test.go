package denial

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestReserved: the text of a refusal, which a hook and a server's proxy give to a model, names no rule for
// a sensitive or protected place, as accessc denials does not. It named one.
func TestReserved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the places are those of other systems")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	home = filepath.ToSlash(home)
	tool := ir.NewTool("x")
	tool.Declared.FS, tool.Protects = true, true
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.Write.With(ir.Read)}, {At: ir.In("src"), Caps: ir.Caps(ir.Read)}, {At: ir.In("conf"), Caps: ir.Caps(ir.Create)}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	system := func(abs string) ir.Location { return roots.Locate(abs) }
	access := func(c ir.Capability, at ir.Location) ir.Operation { return ir.Access{Cap: c, On: ir.Direct(at)} }
	for _, c := range []struct {
		op  ir.Operation
		why string
	}{
		{access(ir.Update, ir.In(".git/hooks/pre-commit")), ".git/hooks/pre-commit is protected: git runs programs that it names"},
		{access(ir.Update, ir.In("accessc.toml")), "accessc.toml is protected: says what tools may do"},
		{access(ir.Read, ir.In("conf/.env")), "conf/.env is sensitive (**/.env)"},
		{access(ir.Read, system(home+"/.ssh/id_rsa")), "/.ssh/id_rsa is sensitive (~/.ssh/)"},
		{access(ir.Read, system(home)), "holds what is sensitive"},
		{access(ir.Read, system("/srv/app/.env")), "/srv/app/.env is sensitive (**/.env)"},
		{ir.Dial{On: ir.Direct(ir.In("src/sock"))}, "whatever listens at a socket"},
		{access(ir.Update, ir.In("src/a")), ""},
		{access(ir.Read, system("/srv/app/a")), ""},
	} {
		d := &Denial{By: ByPolicy, Operation: c.op, Verdict: v.Decide(c.op), View: v, Roots: roots}
		if d.Verdict.Allowed() {
			t.Errorf("%+v is permitted", c.op)
		}
		grant, proposed := d.Grant()
		if text := d.Text(); proposed != (c.why == "") || !strings.Contains(text, c.why) || strings.Contains(text, "to allow it") != proposed {
			t.Errorf("%+v: got %q and the text %s", c.op, grant, text)
		}
	}
}
