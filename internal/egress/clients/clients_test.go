package clients_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/egress/clients"
	"github.com/accessc/accessc/ir"
)

// TestEnviron: a setup sets the variables of its kinds, and Java's options stay beside the tool's.
func TestEnviron(t *testing.T) {
	none := func(string) string { return "" }
	proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:8", User: url.UserPassword("u", "p")}
	for _, test := range []struct {
		name       string
		setup      clients.Setup
		on         ir.Platform
		have       func(string) string
		has, lacks []string
	}{
		{"nothing", clients.Setup{}, ir.Linux, none, nil, []string{"="}},
		{
			"trust", clients.Setup{PEM: "/p m", PKCS12: "/s t"}, ir.Linux, none,
			[]string{"CURL_CA_BUNDLE=/p m", "SSL_CERT_FILE=/p m", `JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore="/s t" -Djavax.net.ssl.trustStoreType=PKCS12`},
			[]string{"proxy", "PROXY"},
		},
		{
			"proxy", clients.Setup{Proxy: proxy}, ir.Darwin, func(name string) string { return "-X" + name },
			[]string{
				"http_proxy=http://u:p@127.0.0.1:8", "HTTPS_PROXY=http://u:p@127.0.0.1:8", "NODE_USE_ENV_PROXY=1",
				"JAVA_TOOL_OPTIONS=-XJAVA_TOOL_OPTIONS -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=8 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8",
			},
			[]string{"CERT", "CA", "trust"},
		},
		{"a quote", clients.Setup{PKCS12: `/"s`}, ir.Linux, none, []string{`JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore='/"s' -Djavax.net.ssl.trustStoreType=PKCS12`}, nil},
	} {
		got := clients.Environ(test.setup, test.on, test.have)
		for _, entry := range test.has {
			if !slices.Contains(got, entry) {
				t.Errorf("%s: no %s in %q", test.name, entry, got)
			}
		}
		for _, part := range test.lacks {
			if slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, part) }) {
				t.Errorf("%s: %s in %q", test.name, part, got)
			}
		}
		if !slices.IsSorted(got) {
			t.Errorf("%s: %q is not sorted", test.name, got)
		}
	}
}

// TestTable: every row has a source, and a variable has one kind but for Java's, which has two.
func TestTable(t *testing.T) {
	kinds := map[string]clients.Kind{}
	for _, v := range clients.Table {
		if u, err := url.Parse(v.Source); err != nil || u.Scheme != "https" || v.Client == "" {
			t.Errorf("%+v", v)
		}
		if k := kinds[v.Name]; k != 0 && k != v.Kind && v.Name != "JAVA_TOOL_OPTIONS" {
			t.Errorf("%s has two kinds", v.Name)
		}
		kinds[v.Name] = v.Kind
	}
}
