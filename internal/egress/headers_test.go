package egress

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestOverridingHeaders: where a rule is about paths or methods, a request with a header by which some server
// takes another one is refused.
func TestOverridingHeaders(t *testing.T) {
	host := ir.Host{Kind: ir.HostName, Name: "example.com"}
	rules := []ir.NetRule{{Host: host, Scheme: "https", Path: []string{"v1"}, Methods: []string{"GET"}, Allow: true}}
	shared := &run{config: &Config{Policy: ir.NewView(&ir.Tool{Name: "t", Net: rules}, ir.Linux, ir.Facts{})}}
	p := &requests{run: shared, judge: newJudge(shared)}
	to := ir.Endpoint{Scheme: "https", Host: host, Port: 443, Path: []string{"v1"}}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/v1"}, Header: http.Header{"X-Other": {"/v2"}}}
	if _, why := p.acceptable(to, r); why != "" {
		t.Fatalf("another header: %s", why)
	}
	for _, name := range []string{
		"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Method", "X-Forwarded-Method", "X-Method",
		"X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Forwarded-Uri", "X-Forwarded-Path", "X-Forwarded-Prefix",
		"X-Original-Path", "X-Envoy-Original-Path", "X-Accel-Redirect", "X-Replaced-Path", "X-Waws-Unencoded-Url", "X-MS-Original-URL",
		"X-Request-Uri", "X-OriginalUrl", "X-HTTP-MethodOverride", "Script-Name", "Destination",
		"X-Amz-Copy-Source", "X-Goog-Copy-Source", "X-Ms-Copy-Source", "X-Invoke-Path", "X-Matched-Path", "X-Middleware-Rewrite",
		"X-Url", "X-Path",
		"X-Verb", "X-Http-Verb", "X-Http-Action", "X-Raw-Url", "X-Raw-Path", "-Method",
	} {
		for _, spelled := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_"), strings.Replace(name, "-", "_", 1),
			strings.ReplaceAll(name, "-", "."), strings.ToLower(strings.ReplaceAll(name, "-", "_"))} {
			r.Header = http.Header{}
			r.Header.Set(spelled, "/v2")
			if _, why := p.acceptable(to, r); why != whyOverride {
				t.Errorf("%s: %q", spelled, why)
			}
		}
	}
	r.Header = http.Header{}
	for _, query := range []string{"_method=DELETE", "a=1&_METHOD=DELETE", "%5fmethod=DELETE", "a;_method=x", "X-HTTP-Method-Override=DELETE",
		"+_method=x", "%20_method=x", "%09_method=x", "%0a%0b_method=x", ".method=x", "[method=x", "%5bmethod=x", "%5Bmethod]=x",
		"_method%00=x", "_method%00%=x", "_method%00a=x", "_method[=x", "_method[]=x", "_method%5b%5d=x", "_method[a][b]=x", "_method+=x",
		"+.method[]=x", "X.HTTP.Method.Override[]=x", "x-http-verb=x", "_method",
	} {
		r.URL.RawQuery = query
		if _, why := p.acceptable(to, r); why != whyOverride {
			t.Errorf("%s: %q", query, why)
		}
	}
	r.URL.RawQuery = "method=photos.get&target=x&path=y&url=z&+method=a&method[]=b&%_methods=c&a[_method]=d"
	for _, name := range []string{
		"Access-Control-Request-Method", "X-Requested-With", "X-Request-Id", "X-Amz-Target", "Upgrade-Insecure-Requests", "X-Forwarded-For",
		"X-Forwarded-Host", "X-Real-Ip", "X-Request-Security", "Referer", "X-Goog-Upload-Url", "Method",
	} {
		r.Header = http.Header{name: {"x"}}
		if _, why := p.acceptable(to, r); why != "" {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestMalformedTargets: a target has no character but those of the standard. A blank in the query of a request in HTTP/2
// was written into the request line.
func TestMalformedTargets(t *testing.T) {
	for c := range 256 {
		for _, target := range []string{"/a?b" + string([]byte{byte(c)}) + "HTTP/1.0", "/" + string([]byte{byte(c)})} {
			r := &http.Request{RequestURI: target, URL: &url.URL{Path: "/a"}, Header: http.Header{}}
			want := c <= ' ' || c > '~' || c == '\\' && target[1] == '\\'
			if malformed(r) != want {
				t.Errorf("%q: %v", target, !want)
			}
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
