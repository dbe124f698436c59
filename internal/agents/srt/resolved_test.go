package srt

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/ir"
)

// TestResolved: with the first host that is granted, addresses of this host and its networks are denied to all names.
func TestResolved(t *testing.T) {
	for _, hosts := range [][]string{nil, {"a.example"}, {"a.example", "b.example"}} {
		tool := ir.NewTool("t")
		tool.Net = nil
		for _, h := range hosts {
			tool.Net = append(tool.Net, ir.NetRule{Host: ir.Host{Kind: ir.HostName, Name: h}, Port: 443,
				Allow: true, Opaque: true})
		}
		out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Network Network `json:"network"`
		}
		if err := json.Unmarshal(out.Data, &s); err != nil {
			t.Fatal(err)
		}
		if want := len(s.Network.Allowed) > 0; want != (len(hosts) > 0) || want &&
			!slices.Equal(s.Network.Resolved, writer.Internal) {
			t.Errorf("%q: allowed %q, resolved %q", hosts, s.Network.Allowed, s.Network.Resolved)
		}
	}
}
