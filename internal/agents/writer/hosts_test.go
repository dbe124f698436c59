package writer

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestPortsOf: entries are for the ports at which the policy permits a connection of some scheme, and for no others.
func TestPortsOf(t *testing.T) {
	host := ir.Host{Kind: ir.HostName, Name: "a.example"}
	for _, r := range []ir.NetRule{
		{Host: host, Allow: true}, {Host: host, Port: 8080, Allow: true}, {Host: host, Scheme: "ftp", Allow: true},
		{Host: host, Scheme: "http", Allow: true}, {Host: host, Scheme: "wss", Allow: true},
		{Host: host, Scheme: ir.Stream, Port: 21, Allow: true},
	} {
		tool := ir.NewTool("x")
		tool.Net = []ir.NetRule{r}
		v := ir.NewView(tool, ir.Linux, ir.Facts{Base: []ir.FSRule{}})
		for _, port := range []uint16{20, 21, 22, 80, 443, 8080} {
			permits := slices.ContainsFunc([]string{"https", "http", "wss", "ws", "ftp", ir.Stream}, func(scheme string) bool {
				return v.Reach(ir.Endpoint{Scheme: scheme, Host: host, Port: port}).Allowed()
			})
			if has := slices.Contains(portsOf(&r), port); has != permits {
				t.Errorf("%+v: port %d: an entry %v, the policy permits %v", r, port, has, permits)
			}
		}
	}
}
