package registry

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// TestSchemes: a rule that allows a scheme for which the proxy takes no connection is stricter on each system that has
// a proxy, and the ledger says so. On Linux such a rule was stated as supervised, which is exact.
func TestSchemes(t *testing.T) {
	schemes := map[string]bool{
		"http": true, "https": true, ir.Stream: true, "ftp": false, "ws": false, "gopher": false,
	}
	for scheme, carried := range schemes {
		tool := ir.NewTool("t")
		host := ir.Host{Kind: ir.HostName, Name: "example.com"}
		tool.Net = []ir.NetRule{{Host: host, Scheme: scheme, Port: 99, Allow: true}}
		for platform, why := range map[ir.Platform]ir.CauseID{ir.Linux: "landlock.scheme", ir.Darwin: "seatbelt.scheme"} {
			i := slices.IndexFunc(All, func(b backends.Backend) bool { return b.Platform() == platform })
			out, err := All[i].Compile(tool, backends.Target{Form: backends.Portable})
			if err != nil {
				t.Fatal(err)
			}
			seen := false
			for _, r := range out.Ledger.On(platform, levels[platform].To) {
				if r.Resource != ir.Net || !slices.Contains(r.Rules, "net[0]") {
					continue
				}
				seen = true
				said := slices.ContainsFunc(r.Causes, func(c ir.Cause) bool { return c.ID == why })
				if said == carried || !carried && (r.Is != ir.Stricter || r.Gap != "") {
					t.Errorf("%s on %s: %s, %v", scheme, platform, r.Is, r.Causes)
				}
			}
			if !seen {
				t.Errorf("%s has no row on %s", scheme, platform)
			}
		}
	}
}
