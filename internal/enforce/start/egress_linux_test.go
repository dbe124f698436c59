package start

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// standIn writes a program that takes the place of accessc as the proxy of a run.
func standIn(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a proxy")
	if err := testbuild.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestStartByToken: the proxy gets the policy and the caller's own way out, and nothing else of
// its caller; it is no child, and ends with the hold.
func TestStartByToken(t *testing.T) {
	dir := t.TempDir()
	file := standIn(t, `PATH=/usr/bin:/bin
{ echo "$@"; env; cat <&4; echo; ls -l /proc/$$/fd; ps -o ppid= -p $$; } >`+dir+`/seen
echo '{"port":40001,"token":"TOKEN"}' >&3
cat <&3 >/dev/null
echo over >`+dir+`/ended
`)
	policy := `{"x":"` + strings.Repeat("long", 1<<16) + `"}`
	end, err := startByToken(file, &proxied{setup: wire.Setup{Policy: []byte(policy)}}, []string{"HTTPS_PROXY=http://out:1", "SECRET=1", "HOME=/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	seen, _ := os.ReadFile(dir + "/seen")
	for _, want := range []string{"__egress\n", "HTTPS_PROXY=http://out:1\n", `{"policy":` + policy + "}\n"} {
		if !strings.Contains(string(seen), want) {
			t.Errorf("the proxy does not see %.80q", want)
		}
	}
	for _, not := range []string{"SECRET", "HOME=", " 5 -> "} {
		if strings.Contains(string(seen), not) {
			t.Errorf("the proxy sees %q", not)
		}
	}
	if parent := strings.Fields(string(seen)); parent[len(parent)-1] == strconv.Itoa(os.Getpid()) {
		t.Error("the proxy is a child of its starter")
	}
	env := (&proxied{system: ir.Darwin}).environ([]string{"NO_PROXY=*", "X=y"}, end.url)
	for _, want := range []string{"http_proxy=http://accessc:TOKEN@127.0.0.1:40001", "HTTPS_PROXY=http://accessc:TOKEN@127.0.0.1:40001", "NO_PROXY=localhost,127.0.0.1,::1", "X=y"} {
		if end.port != 40001 || !slices.Contains(env, want) {
			t.Errorf("no %s in %q at %d", want, env, end.port)
		}
	}
	if _, err := os.Stat(dir + "/ended"); err == nil {
		t.Error("the proxy ended by itself")
	}
	_ = end.hold.Close()
	await.Until(t, "the proxy ends with the hold", func() bool { _, err := os.Stat(dir + "/ended"); return err == nil })
}

// TestStartByTokenFails: without a proxy that serves there is no start, and the reason is said.
func TestStartByTokenFails(t *testing.T) {
	for text, want := range map[string]string{
		"exit 1": "does not answer: EOF", "echo nonsense >&3": "invalid character", "{ cat <&4; echo; } >&3": "does not serve",
		`echo '{"error":"no addresses"}' >&3`: "does not serve: no addresses", `echo '{"port":1}' >&3`: "does not serve",
		`echo '{"port":1,"token":"x"' >&3`: "unexpected end",
	} {
		if end, err := startByToken(standIn(t, text+"\n"), &proxied{setup: wire.Setup{Policy: []byte("{}")}}, nil); err == nil || !strings.Contains(err.Error(), want) || end.hold != nil {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	long := []byte(`"` + strings.Repeat("long", 1<<16) + `"`)
	if _, err := startByToken(filepath.Join(t.TempDir(), "nothing"), &proxied{setup: wire.Setup{Policy: long}}, nil); err == nil || !strings.Contains(err.Error(), io.EOF.Error()) {
		t.Errorf("without a program: %v", err)
	}
}

// TestProxyOfProfile: the hosts that a resolved profile grants are reached through the proxy that
// its start leaves behind, by the variables of the tool, until the hold is closed.
func TestProxyOfProfile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	defer server.Close()
	tool, at := harmless("true"), netip.MustParseAddrPort(server.Listener.Addr().String())
	tool.Source.Kind = ir.SourceLocal
	tool.Net = []ir.NetRule{{
		Host: ir.Host{Kind: ir.HostAddr, Addr: at.Addr()}, Port: at.Port(), Scheme: "http", Path: []string{"open"}, Allow: true,
	}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := newPlace(t).spec(t, tool, backends.Resolved)
	end, err := startByToken(standIn(t, "exec '"+self+"' proxy-by-token\n"), &proxied{setup: wire.Setup{Policy: spec.Egress}}, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	u := end.url
	for path, want := range map[string]int{"/open/x": http.StatusOK, "/closed": http.StatusForbidden} {
		client := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return u, nil }, DisableKeepAlives: true}}
		r, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != want {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	_ = end.hold.Close()
	await.Until(t, "the proxy ends with the hold", func() bool {
		conn, err := net.Dial("tcp", u.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
}
