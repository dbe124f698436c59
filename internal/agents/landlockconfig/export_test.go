package landlockconfig

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// A policy is the same after the way to a configuration of landlockconfig and back, if every deeper rule grants
// more and no move could; any other policy is no wider.
func TestLandlockConfigExport(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	dirs := []string{"", "src", "src/a", "a", "Docs"}
	var same, other atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		caps, exact := map[string]ir.CapSet{}, r.IntN(2) == 0
		for _, dir := range dirs {
			caps[dir] = ir.CapSet(r.Uint64()) & ir.All
			if exact {
				all := []ir.Capability{ir.Read, ir.Execute, ir.Update, ir.Create, ir.Delete}
				n := 5
				switch dir {
				case "":
					n = r.IntN(3)
				case "src":
					n = 2 + 3*r.IntN(2)
				}
				caps[dir] = ir.Caps(all[:n]...)
			}
		}
		port := suite.Pick[uint16](r, 22, 8443)
		tool := ir.NewTool("agent")
		tool.Base, tool.Home, tool.Protects = ir.BaseNone, ir.HomeReal, false
		for _, dir := range dirs {
			tool.FS = append(tool.FS, ir.FSRule{Written: dir, At: ir.In(dir), Caps: caps[dir]})
		}
		tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Port: port, Allow: true}, {Host: ir.Host{Kind: ir.HostAny}, Port: port, Listen: true, Allow: true}}
		tool.Accept = []ir.Acceptance{{Gap: ir.GapNetHost}}
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{Workspace: w.Dir}}})
		if err != nil || out.Data == nil {
			return fmt.Errorf("%v %v", err, out.Refusals)
		}
		res, err := w.Run("landlock", string(out.Data), importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", out.Data, err)
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		before, after := ir.NewView(tool, ir.Linux, ir.Facts{}), ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		var ops []ir.Operation
		for _, dir := range dirs {
			for _, capability := range ir.Capabilities {
				ops = append(ops, ir.Access{Cap: capability, On: ir.Direct(ir.In(strings.TrimPrefix(dir+"/zz", "/")))})
			}
		}
		for _, p := range []uint16{22, 80, 8443} {
			host := ir.Host{Kind: ir.HostName, Name: "a.example"}
			ops = append(ops, ir.Connect{To: ir.Endpoint{Host: host, Port: p, Scheme: "https"}}, ir.Listen{Host: ir.Host{Kind: ir.HostAny}, Port: p})
		}
		for _, op := range ops {
			was, is := before.Decide(op).Allowed(), after.Decide(op).Allowed()
			if is && !was || exact && was != is {
				return fmt.Errorf("%s\n%s\n%+v: %t, and after the way back %t", out.Data, res.Text, op, was, is)
			}
			if was == is {
				same.Add(1)
			} else {
				other.Add(1)
			}
		}
		if !slices.ContainsFunc(res.Entries, func(e *importer.Entry) bool { return e.Key == "netPort[0].port[0]" }) {
			return fmt.Errorf("no port in %+v", res.Entries)
		}
		return nil
	})
	if same.Load() == 0 || other.Load() == 0 {
		t.Errorf("%d answers are the same, %d are not", same.Load(), other.Load())
	}
}
