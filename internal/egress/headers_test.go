package egress

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestOverridingHeaders: where a rule is about paths or methods, a request with a header by which some server
// takes another one is refused.
func TestOverridingHeaders(t *testing.T) {
	host := ir.Host{Kind: ir.HostName, Name: "example.com"}
	rules := []ir.NetRule{{Host: host, Scheme: "https", Path: []string{"v1"}, Methods: []string{"GET"}, Allow: true}}
	p := &Proxy{config: Config{Policy: ir.NewView(&ir.Tool{Name: "t", Net: rules}, ir.Linux, ir.Facts{})}}
	to := ir.Endpoint{Scheme: "https", Host: host, Port: 443, Path: []string{"v1"}}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/v1"}, Header: http.Header{"X-Other": {"/v2"}}}
	if _, why := p.acceptable(to, r); why != "" {
		t.Fatalf("another header: %s", why)
	}
	for _, name := range []string{
		"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Method", "X-Forwarded-Method",
		"X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Forwarded-Uri", "X-Forwarded-Path",
	} {
		r.Header = http.Header{name: {"/v2"}}
		if _, why := p.acceptable(to, r); why != whyOverride {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestOneUpgrade: a request that wishes for a second protocol keeps no wish at all.
func TestOneUpgrade(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   bool
	}{{[]string{"websocket"}, true}, {[]string{"WebSocket"}, true}, {[]string{"websocket", "h2c"}, false},
		{[]string{"websocket, h2c"}, false}, {[]string{"h2c"}, false}, {nil, false}} {
		if got := webSocket(http.Header{"Upgrade": tt.values}); got != tt.want {
			t.Errorf("%q: %v", tt.values, got)
		}
	}
}
