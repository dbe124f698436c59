package egress

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// A question is whether clients that trust an authority for some hosts accept its signature
// for a host.
type question struct {
	hosts, host string
	want        bool
	port, trust string // of the server, and of the files with the authority
}

func questions() []*question {
	return []*question{
		{hosts: "example.com", host: "example.com", want: true},
		{hosts: "example.com", host: "other.example"},
		{hosts: "example.com", host: "notexample.com"},
		{hosts: "example.com", host: "127.0.0.1"},
		{hosts: "*.example.com", host: "a.example.com", want: true},
		{hosts: "*.example.com", host: "a.b.example.com", want: true},
		{hosts: "*.example.com", host: "other.example"},
		{hosts: "*.example.com", host: "127.0.0.1"},
		{hosts: "127.0.0.1", host: "127.0.0.1", want: true},
		{hosts: "127.0.0.2", host: "127.0.0.1"},
		{hosts: "[::1]", host: "127.0.0.1"},
		{hosts: "127.0.0.1", host: "example.com"},
		{hosts: "example.com 127.0.0.1", host: "127.0.0.1", want: true},
		{hosts: "example.com 127.0.0.1", host: "example.com", want: true},
		{hosts: "localhost", host: "localhost", want: true},
		{hosts: "localhost", host: "127.0.0.1", want: true},
		{hosts: "*", host: "any.example", want: true},
		{hosts: "*", host: "127.0.0.1", want: true},
	}
}

// TestVerifiers: the verifiers of common clients accept certificates for the hosts of an
// authority and for no others, even if its key signs one for another host.
func TestVerifiers(t *testing.T) {
	t.Parallel()
	asked, authorities, trust := questions(), map[string]*Authority{}, map[string]string{}
	for _, q := range asked {
		if authorities[q.hosts] == nil {
			var list []ir.Host
			for h := range strings.FieldsSeq(q.hosts) {
				list = append(list, parsed(t, h))
			}
			a, err := NewAuthority(list)
			if err != nil {
				t.Fatal(err)
			}
			authorities[q.hosts], trust[q.hosts] = a, trustFiles(t, a)
		}
		q.port, q.trust = signed(t, authorities[q.hosts], parsed(t, q.host)), trust[q.hosts]
	}
	for name, ask := range verifiers {
		t.Run(name, func(t *testing.T) {
			if !irtest.Full() && (name == "java" || name == "git") { // which has curl's verifier
				t.Skip("its start takes long: at full count")
			}
			t.Parallel()
			got := ask(t, asked)
			if len(got) != len(asked) {
				t.Fatalf("%d answers to %d questions: %q", len(got), len(asked), got)
			}
			for i, q := range asked {
				if (got[i] == "") != q.want {
					t.Errorf("an authority for %s signs for %s: accepted %v, want %v: %s",
						q.hosts, q.host, got[i] == "", q.want, got[i])
				}
			}
		})
	}
}

func parsed(t *testing.T, host string) ir.Host {
	h, err := resolve.HostPattern(host)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// trustFiles writes an authority as PEM and PKCS#12.
func trustFiles(t *testing.T, a *Authority) string {
	base := filepath.Join(t.TempDir(), "trust")
	b := Bundle{has: map[string]bool{}}
	b.Add(a.PEM())
	store, err := b.PKCS12()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{".pem": b.PEM(), ".p12": store} {
		if err := os.WriteFile(base+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// signed serves TLS with a certificate for a host, whatever the authority is for, and returns
// the port.
func signed(t *testing.T, a *Authority, h ir.Host) string {
	c, err := a.sign(h)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{*c}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if c.(*tls.Conn).Handshake() == nil {
					fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
					_, _ = c.Read(make([]byte, 1<<16))
				}
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// verifiers say for each question why a client refuses, empty if it accepts.
var verifiers = map[string]func(t *testing.T, asked []*question) []string{
	"go": func(t *testing.T, asked []*question) (out []string) {
		for _, q := range asked {
			text, err := os.ReadFile(q.trust + ".pem")
			if err != nil {
				t.Fatal(err)
			}
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(text)
			c, err := tls.Dial("tcp", "127.0.0.1:"+q.port, &tls.Config{RootCAs: roots, ServerName: q.host})
			if err != nil {
				out = append(out, err.Error())
				continue
			}
			c.Close()
			out = append(out, "")
		}
		return out
	},
	"openssl": each("verify error", func(q *question) []string {
		kind := "-verify_hostname"
		if isAddress(q) {
			kind = "-verify_ip"
		}
		return []string{
			"openssl", "s_client", "-x509_strict", "-verify_return_error", "-CAfile", q.trust + ".pem", kind, q.host,
			"-connect", "127.0.0.1:" + q.port,
		}
	}),
	"curl": each("curl: (60)", func(q *question) []string {
		return []string{
			"curl", "-sS", "--cacert", q.trust + ".pem", "--resolve", q.host + ":" + q.port + ":127.0.0.1",
			"https://" + q.host + ":" + q.port,
		}
	}),
	"git": each("certificate", func(q *question) []string {
		return []string{
			"git", "-c", "http.sslCAInfo=" + q.trust + ".pem", "-c", "http.curloptResolve=" + q.host + ":" + q.port + ":127.0.0.1",
			"ls-remote", "https://" + q.host + ":" + q.port + "/x",
		}
	}),
	"node": all("node", "-e", `
const { readFileSync: read } = require("fs"), tls = require("tls"), asked = process.argv.slice(1)
const ask = () => {
  if (asked.length == 0) return
  const [host, port, trust] = asked.shift().split("=")
  const says = text => { console.log(text); ask() }
  tls.connect({
    ca: read(trust + ".pem"), port, host: "127.0.0.1", servername: require("net").isIP(host) ? "" : host,
    checkServerIdentity: (_, c) => tls.checkServerIdentity(host, c),
  }, function() { this.destroy(); says("yes") }).on("error", e => says("no " + e))
}
ask()`),
	"python3": all("python3", "-c", `import socket, ssl, sys
for asked in sys.argv[1:]:
    host, port, trust = asked.split("=")
    c = ssl.create_default_context(cafile=trust + ".pem")
    c.verify_flags |= ssl.VERIFY_X509_STRICT
    try:
        c.wrap_socket(socket.create_connection(("127.0.0.1", int(port))), server_hostname=host).close()
        print("yes")
    except ssl.SSLError as e:
        print("no", str(e).replace("\n", " "))`),
	"java": func(t *testing.T, asked []*question) []string {
		need(t, "java")
		need(t, "javac")
		dir := t.TempDir()
		if text, err := exec.Command("javac", "-d", dir, "testdata/Verify.java").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return all("java", "-cp", dir, "Verify")(t, asked)
	},
}

// all runs a program for all questions. It prints for each of them a line that begins with yes or no.
func all(args ...string) func(*testing.T, []*question) []string {
	return func(t *testing.T, asked []*question) (out []string) {
		need(t, args[0])
		args := slices.Clone(args)
		for _, q := range asked {
			trust := q.trust
			if args[0] == "java" {
				trust += ".p12"
			}
			args = append(args, q.host+"="+q.port+"="+trust)
		}
		var errs strings.Builder
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env, cmd.Stderr = plainEnv(), &errs
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s%s", err, text, errs.String())
		}
		for line := range strings.Lines(string(text)) {
			out = append(out, strings.TrimPrefix(strings.TrimSpace(line), "yes"))
		}
		return out
	}
}

func isAddress(q *question) bool {
	_, err := netip.ParseAddr(q.host)
	return err == nil
}

// plainEnv is an environment without variables about trust or proxies.
func plainEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C"}
}

func need(t *testing.T, program string) {
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// each runs a program for each question. The program refuses if its output has the mark.
func each(mark string, args func(q *question) []string) func(*testing.T, []*question) []string {
	return func(t *testing.T, asked []*question) (out []string) {
		for _, q := range asked {
			a := args(q)
			need(t, a[0])
			cmd := exec.Command(a[0], a[1:]...)
			cmd.Env = plainEnv()
			text, err := cmd.CombinedOutput()
			switch {
			case strings.Contains(string(text), mark):
				out = append(out, string(text))
			case err == nil, a[0] == "git" && strings.Contains(string(text), "not found"):
				out = append(out, "")
			default:
				t.Fatalf("%v: %v: %s", a, err, text)
			}
		}
		return out
	}
}
