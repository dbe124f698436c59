package kubernetes

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestDeniedPort: a rule without a port is not opened where another rule denies a port of the same host, and is
// where that denies the ports of others.
func TestDeniedPort(t *testing.T) {
	for denied, opened := range map[ir.Host]bool{name("api.example.com"): false, name("other.example.com"): true} {
		tool := example()
		tool.Net = []ir.NetRule{{Host: name("api.example.com"), Scheme: "https", Allow: true}, {Host: denied,
			Port: 443}}
		_, data := compile(t, Backend{}, tool)
		if strings.Contains(string(data), `"matchName": "api.example.com"`) != opened {
			t.Errorf("%s is denied: the host is opened, or is not\n%s", denied, data)
		}
	}
}
