package egress

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/egress/clients"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// fetchers are the commands by which clients ask for something below a URL.
var fetchers = map[string]func(dir, url string) []string{
	"curl": func(_, u string) []string { return []string{"curl", "-sS", u} },
	"git":  func(_, u string) []string { return []string{"git", "ls-remote", u + "/x"} },
	"npm": func(dir, u string) []string {
		return []string{"npm", "ping", "--registry", u, "--fetch-retries", "0", "--cache", dir, "--userconfig", filepath.Join(dir, "none"), "--no-update-notifier"}
	},
	"pip": func(dir, u string) []string {
		trusted := "none"
		if name, ok := strings.CutPrefix(u, "http://"); ok {
			trusted = name
		}
		return []string{
			"env", "PIP_CONFIG_FILE=" + os.DevNull, "pip", "--disable-pip-version-check", "--retries", "0", "download", "--no-deps", "-d", dir,
			"--index-url", u + "/simple", "--trusted-host", trusted, "x",
		}
	},
	"requests": func(_, u string) []string {
		return []string{"python3", "-c", "import requests, sys; requests.get(sys.argv[1])", u}
	},
	"python": func(_, u string) []string {
		return []string{"python3", "-c", "import sys, urllib.request as r; r.urlopen(sys.argv[1])", u}
	},
	"go": func(dir, u string) []string {
		return []string{"env", "GOPROXY=" + u, "GOSUMDB=off", "GOENV=off", "GOTOOLCHAIN=local", "GOINSECURE=*", "GOMODCACHE=" + dir, "go", "mod", "download", "x.example/m@v1.0.0"}
	},
	"cargo": func(dir, u string) []string {
		return []string{"env", "CARGO_REGISTRIES_X_INDEX=sparse+" + u + "/", "CARGO_NET_RETRY=0", "cargo", "search", "--registry", "x", "name"}
	},
	"node": func(_, u string) []string {
		return []string{"node", "-e", `const [u] = process.argv.slice(1); require(new URL(u).protocol.slice(0, -1)).get(u, r => r.resume())`, u}
	},
	"java": func(dir, u string) []string { return []string{"java", "-cp", dir, "Fetch", u} },
}

// A fetching is a server that counts requests, and a proxy that leads every name to it.
type fetching struct {
	trust       clients.Setup // in a directory with a space
	name        string        // a host that the proxy alone knows
	java        string        // the directory of the Java client, empty before it was compiled
	plain, tls  *httptest.Server
	proxy       *httptest.Server
	got, passed atomic.Int32
}

func newFetching(t *testing.T) *fetching {
	a, err := NewAuthority([]ir.Host{parsed(t, "localhost"), parsed(t, "inspected.example")})
	if err != nil {
		t.Fatal(err)
	}
	f := &fetching{name: "inspected.example"}
	count := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.got.Add(1)
		w.WriteHeader(http.StatusNotFound)
	})
	f.plain, f.tls = httptest.NewServer(count), httptest.NewUnstartedServer(count)
	f.tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.tls.TLS = &tls.Config{}
	for _, name := range []string{"localhost", f.name} { // the first for Java, which does not name it
		c, err := a.certificate(parsed(t, name))
		if err != nil {
			t.Fatal(err)
		}
		f.tls.TLS.Certificates = append(f.tls.TLS.Certificates, *c)
	}
	f.tls.StartTLS()
	f.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.passed.Add(1)
		if r.Method != http.MethodConnect {
			count(w, r)
			return
		}
		to := f.plain // Node opens a tunnel for http as well
		if strings.HasSuffix(r.Host, ":443") {
			to = f.tls
		}
		upstream, err := net.Dial("tcp", to.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer upstream.Close()
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(upstream, buffered) }()
		_, _ = io.Copy(conn, upstream)
	}))
	t.Cleanup(func() { f.plain.Close(); f.proxy.Close(); f.tls.Close() })
	dir := filepath.Join(t.TempDir(), "with space")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f.trust = clients.Setup{PEM: filepath.Join(dir, clients.PEMFile), PKCS12: filepath.Join(dir, clients.PKCS12File)}
	b := HostBundle(nil)
	b.Add(a.PEM())
	if err := b.Write(dir); err != nil {
		t.Fatal(err)
	}
	if b.Write(dir) == nil {
		t.Error("the files of another run are written over")
	}
	return f
}

// run has a client ask for a URL with variables, and reports whether the request arrived.
func (f *fetching) run(t *testing.T, client, u string, env []string) bool {
	t.Helper()
	dir := t.TempDir()
	classes := dir
	if client == "java" {
		if f.java == "" {
			f.java = filepath.Dir(f.trust.PEM)
			if text, err := exec.Command("javac", "-d", f.java, "testdata/Fetch.java").CombinedOutput(); err != nil {
				t.Skipf("javac: %v: %s", err, text)
			}
		}
		classes = f.java
	}
	args := fetchers[client](classes, u)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Dir = append(plainEnv(), env...), dir
	if client == "java" {
		cmd.Dir = "" // nothing is written
	}
	f.got.Store(0)
	f.passed.Store(0)
	text, err := cmd.CombinedOutput()
	t.Logf("%s %s: %v: %.600s", client, u, err, text)
	return f.got.Load() > 0
}

// only are the variables of a row, and of its client's other rows those that fit.
func only(all []string, row *clients.Variable, fits func(*clients.Variable) bool) (out []string) {
	for _, v := range clients.Table {
		if v.Client != row.Client || v.Name != row.Name && !fits(&v) {
			continue
		}
		for _, e := range all {
			if strings.HasPrefix(e, v.Name+"=") {
				out = append(out, e)
			}
		}
	}
	return out
}

// TestClients: by the variables of each row, the client finds the proxy, passes it by, or trusts
// the run's authority. Those that take long to start do so at full count.
func TestClients(t *testing.T) {
	t.Parallel()
	f := newFetching(t)
	proxy, _ := url.Parse(f.proxy.URL)
	_, port, _ := net.SplitHostPort(f.tls.Listener.Addr().String())
	setup := f.trust
	setup.Proxy = proxy
	on := map[string]ir.Platform{"linux": ir.Linux, "darwin": ir.Darwin, "windows": ir.Windows}[runtime.GOOS]
	none := func(string) string { return "" }
	for _, row := range clients.Table {
		t.Run(row.Client+" "+row.Name, func(t *testing.T) {
			if !irtest.Full() && slices.Contains([]string{"java", "npm", "pip", "requests"}, row.Client) {
				t.Skip("its start takes long: at full count")
			}
			available(t, &row, on)
			all := clients.Environ(setup, on, none)
			direct := "https://localhost:" + port
			//exhaustive:ignore
			switch row.Kind {
			case clients.Bundle, clients.JavaBundle:
				trust := clients.Environ(f.trust, on, none)
				if !f.run(t, row.Client, direct, only(trust, &row, func(*clients.Variable) bool { return false })) {
					t.Error("the client does not trust the run's authority")
				}
				if f.run(t, row.Client, direct, nil) {
					t.Error("the client trusts it without the variable")
				}
			case clients.Direct:
				if !f.run(t, row.Client, direct, only(all, &row, func(*clients.Variable) bool { return true })) || f.passed.Load() > 0 {
					t.Error("the client asks the proxy for this host")
				}
			default:
				scheme := "https"
				if strings.HasPrefix(strings.ToLower(row.Name), "http_") {
					scheme = "http"
				}
				fits := func(v *clients.Variable) bool {
					return v.Kind == clients.Bundle || v.Kind == clients.Switch || row.Kind == clients.Switch
				}
				if !f.run(t, row.Client, scheme+"://"+f.name, only(all, &row, fits)) || f.passed.Load() == 0 {
					t.Error("the client does not use the proxy")
				}
			}
		})
	}
}

// available skips rows whose client this host lacks.
func available(t *testing.T, row *clients.Variable, on ir.Platform) {
	t.Helper()
	program := map[string]string{"requests": "python3", "python": "python3"}[row.Client]
	if program == "" {
		program = row.Client
	}
	need(t, program)
	switch {
	case row.Only != 0 && row.Only != on:
		t.Skip("not on this system")
	case row.Client == "cargo" && exec.Command("cargo", "--version").Run() != nil:
		t.Skip("rustup has no toolchain for this user")
	case row.Client == "requests" && exec.Command("python3", "-c", "import requests").Run() != nil:
		t.Skip("python3 has no requests")
	case row.Client == "node" && row.Kind < clients.Bundle:
		if text, _ := exec.Command("node", "--help").Output(); !strings.Contains(string(text), "--use-env-proxy") {
			t.Skip("this version of node reads no variables about proxies")
		}
	}
}
