package golden_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/internal/agents/registry"
)

// TestPresetsBuild: each preset compiles to the artifacts of every backend without findings, portably
// and on a host that has all its places.
func TestPresetsBuild(t *testing.T) {
	for _, name := range presets.Names() {
		p, _ := presets.Find(name)
		places := ""
		if rules := p.Rules.Get("fs"); rules != nil {
			for _, r := range rules.Array {
				at := strings.TrimPrefix(r.Table.Get("path").Text, "~")
				places += fmt.Sprintf("dir $OUTSIDE/home%s\napprove ~%s $OUTSIDE/home%s\n", at, at, at)
			}
		}
		policy := fmt.Sprintf("[tools.x]\nsource = \"local\"\naccess.extends = [\"preset:%s\"]\naccess.base = \"minimal\"\n", name)
		for _, options := range []string{"", "resolve"} {
			a := &txtar.Archive{Files: []txtar.File{
				{Name: "options", Data: []byte(options)}, {Name: "setup", Data: []byte("layers-home $OUTSIDE/home\n" + places)},
				{Name: "accessc.toml", Data: []byte(policy)},
			}}
			out := golden.Lay(t, a).Run(t)
			if out.Findings != "no findings\n" {
				t.Errorf("%s %s: %s", name, options, out.Findings)
			}
			if options == "" && len(out.Built) < len(registry.All) {
				t.Errorf("%s %s: built %d files", name, options, len(out.Built))
			}
		}
	}
}
