package egress_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/ir"
)

const secretValue = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// A vault is a proxy whose rule for the path /in of api.example.com has a credential, in front of a
// server that answers by a handler and remembers its requests.
type vault struct {
	client  *http.Client
	secret  credential.Secret
	mu      sync.Mutex
	got     []*http.Request
	refused []string
}

func newVault(t *testing.T, c ir.Credential, h2 bool, answer http.HandlerFunc) *vault {
	v := &vault{}
	c.Env = "TOKEN"
	inspect := func(r *ir.NetRule) { r.Inspect = true }
	rules := []ir.NetRule{
		allow("api.example.com", inspect), allow("other.example.com", inspect),
		allow("api.example.com", inspect, func(r *ir.NetRule) { r.Path, r.Credential = []string{"in"}, &c }),
		allow("api.example.com", inspect, func(r *ir.NetRule) { r.Path, r.Credential = []string{"none"}, &ir.Credential{Env: "NONE", As: "basic"} }),
	}
	w, roots := v.serve(t, rules, h2, answer)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(roots)
	v.client = &http.Client{Transport: &http.Transport{
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			name, port, _ := net.SplitHostPort(address)
			if port == "80" {
				return w.to(name, 80), nil
			}
			return w.to(name, 443), nil
		},
		TLSClientConfig: &tls.Config{RootCAs: pool}, DisableCompression: true, ForceAttemptHTTP2: h2,
	}}
	return v
}

// serve starts a server, and a proxy with rules in front of it that has a value for TOKEN. It
// returns the authority that the proxy's clients trust.
func (v *vault) serve(t *testing.T, rules []ir.NetRule, h2 bool, answer http.HandlerFunc) (*world, []byte) {
	var err error
	if v.secret, err = credential.NewSecret([]byte(secretValue)); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		v.got = append(v.got, r)
		v.mu.Unlock()
		answer(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = h2
	server.StartTLS()
	a, err := egress.NewAuthority([]ir.Host{host("*.example.com")})
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := egress.Start(egress.Config{
		Policy: ir.NewView(&ir.Tool{Name: "t", Net: rules}, ir.Linux, ir.Facts{}), Authority: a, Roots: pool(server.Certificate()), Limits: egress.DefaultLimits(),
		Secrets: egress.NewSecrets(map[string]credential.Secret{"env TOKEN": v.secret}),
		Resolve: func(context.Context, string) (egress.Found, error) {
			return egress.Found{Addrs: []netip.Addr{netip.MustParseAddr("203.0.113.1")}}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
		Refused: func(r egress.Refusal) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.refused = append(v.refused, r.Why)
		},
		Sentence: func(op ir.Operation, _ ir.Verdict) string { return fmt.Sprint("refused ", op) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Close(); server.Close() })
	return &world{TB: t, proxy: proxy}, a.PEM()
}

// TestInject: the value arrives in the part of the request that the rule names, once, whatever
// the tool has there, and at no other rule's requests.
func TestInject(t *testing.T) {
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, test := range []struct {
		name             string
		as               ir.Credential
		path, send, want string // send and want are a header, or a query after "?"
	}{
		{"bare token", ir.Credential{As: "header", Name: "authorization"}, "/in", "", "Authorization: Bearer VALUE"},
		{"stand-in with a scheme", ir.Credential{As: "header", Name: "Authorization"}, "/in", "Authorization: token STANDIN", "Authorization: token VALUE"},
		{"another value", ir.Credential{As: "header", Name: "Authorization"}, "/in", "Authorization: Bearer mine", "Authorization: Bearer VALUE"},
		{"another header", ir.Credential{As: "header", Name: "X-Api-Key"}, "/in/a", "x-api-key: STANDIN", "X-Api-Key: VALUE"},
		{"a header that the client takes away", ir.Credential{As: "header", Name: "X-Api-Key"}, "/in", "Connection: x-api-key", "X-Api-Key: VALUE"},
		{"stand-in elsewhere", ir.Credential{As: "header", Name: "X-Api-Key"}, "/in", "X-Other: STANDIN", "X-Other: STANDIN"},
		{"user", ir.Credential{As: "basic", Name: "u"}, "/in", "", "Authorization: " + basic("u:VALUE")},
		{"another user", ir.Credential{As: "basic", Name: "u"}, "/in", "Authorization: " + basic("v:STANDIN"), "Authorization: " + basic("u:VALUE")},
		{"query", ir.Credential{As: "query", Name: "key"}, "/in", "", "?key=VALUE"},
		{"query beside others", ir.Credential{As: "query", Name: "key"}, "/in", "?a=1&key=STANDIN&%6bey=2&b", "?a=1&key=VALUE&b"},
		{"query after others", ir.Credential{As: "query", Name: "key"}, "/in", "?a=%20", "?a=%20&key=VALUE"},
		{"another rule", ir.Credential{As: "header", Name: "Authorization"}, "/inside", "Authorization: Bearer STANDIN", "Authorization: Bearer STANDIN"},
		{"another rule's query", ir.Credential{As: "query", Name: "key"}, "/", "?key=STANDIN", "?key=STANDIN"},
	} {
		for _, h2 := range []bool{false, true} {
			v := newVault(t, test.as, h2, func(http.ResponseWriter, *http.Request) {})
			fill := func(s, with string) string {
				if coded, ok := strings.CutPrefix(s, "Authorization: Basic "); ok {
					plain, _ := base64.StdEncoding.DecodeString(coded)
					return "Authorization: " + basic(strings.NewReplacer("VALUE", secretValue, "STANDIN", with).Replace(string(plain)))
				}
				return strings.NewReplacer("VALUE", secretValue, "STANDIN", with).Replace(s)
			}
			send, want := fill(test.send, string(v.secret.StandIn)), fill(test.want, string(v.secret.StandIn))
			req, _ := http.NewRequest("GET", "https://api.example.com"+test.path, nil)
			if query, ok := strings.CutPrefix(send, "?"); ok {
				req.URL.RawQuery = query
			} else if name, text, ok := strings.Cut(send, ": "); ok {
				if name == "Connection" && h2 {
					continue // HTTP/2 has no such header
				}
				req.Header.Set(name, text)
			}
			res, err := v.client.Do(req)
			if err != nil || res.StatusCode != 200 || len(v.got) != 1 {
				t.Errorf("%s: %v %v", test.name, res, err)
				continue
			}
			got := v.got[0]
			if query, ok := strings.CutPrefix(want, "?"); ok {
				if got.URL.RawQuery != query {
					t.Errorf("%s: the query is %s, want %s", test.name, got.URL.RawQuery, query)
				}
			} else if name, text, _ := strings.Cut(want, ": "); !slices.Equal(got.Header[name], []string{text}) {
				t.Errorf("%s: %s is %q, want %s", test.name, name, got.Header[name], text)
			}
		}
	}
}

// TestNotInjected: requests that could give the value away are refused, and the redirects of a
// server carry it nowhere.
func TestNotInjected(t *testing.T) {
	v := newVault(t, ir.Credential{As: "header", Name: "Authorization"}, false, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{"/in/away": "https://other.example.com/", "/in/beside": "https://api.example.com/", "/in/plain": "http://api.example.com/in"}[r.URL.Path]
		if to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	})
	for _, test := range []struct{ url, upgrade, why string }{
		{"http://api.example.com/in", "", "over TLS alone"},
		{"https://api.example.com/in", "websocket", "WebSocket"},
		{"https://api.example.com/none", "", "no value"},
		{"https://api.example.com/in/plain", "", "over TLS alone"},
	} {
		v.got, v.refused = nil, nil
		req, _ := http.NewRequest("GET", test.url, nil)
		if test.upgrade != "" {
			req.Header.Set("Upgrade", test.upgrade)
			req.Header.Set("Connection", "Upgrade")
		}
		res, err := v.client.Do(req)
		if err != nil || res.StatusCode != http.StatusForbidden || !strings.Contains(strings.Join(v.refused, ""), test.why) {
			t.Errorf("%s: %v %v %q, want %s", test.url, res, err, v.refused, test.why)
		}
	}
	for _, path := range []string{"/in/away", "/in/beside"} {
		v.got = nil
		req, _ := http.NewRequest("GET", "https://api.example.com"+path, nil)
		req.Header.Set("Authorization", "Bearer "+string(v.secret.StandIn))
		if res, err := v.client.Do(req); err != nil || res.StatusCode != 200 || len(v.got) != 2 {
			t.Fatalf("%s: %v %v", path, res, err)
		}
		if v.got[0].Header.Get("Authorization") != "Bearer "+secretValue || strings.Contains(v.got[1].Header.Get("Authorization"), secretValue) {
			t.Errorf("%s: sent %q, then %q", path, v.got[0].Header, v.got[1].Header)
		}
	}
}

// TestReflected: no part of an answer shows the value.
func TestReflected(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		v := newVault(t, ir.Credential{As: "header", Name: "Authorization"}, h2, func(w http.ResponseWriter, r *http.Request) {
			shown := r.Header.Get("Authorization")
			w.Header().Set("Link", "<"+shown+">")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("Trailer", "X-Trailer, X-"+strings.TrimPrefix(shown, "Bearer "))
			w.Header().Set("Location", "https://other.example.com/?"+shown)
			w.Header().Set("Accept", r.Header.Get("Accept-Encoding")+r.Header.Get("Range"))
			w.WriteHeader(http.StatusCreated)
			for _, part := range []string{"got " + shown[:20], shown[20:] + " ", base64.StdEncoding.EncodeToString([]byte(shown))} {
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
			w.Header().Set("X-Trailer", shown)
			w.Header().Set(http.TrailerPrefix+"X-Late", shown)
		})
		req, _ := http.NewRequest("GET", "https://api.example.com/in", nil)
		req.Header.Set("Accept-Encoding", "gzip")
		req.Header.Set("Range", "bytes=0-9")
		text := dump(t, v, req)
		standIn := "Bearer " + string(v.secret.StandIn)
		// Go writes the names of fields in a case of its own.
		if strings.Contains(strings.ToLower(text), strings.ToLower(secretValue)) || !strings.HasPrefix(text, "HTTP/1.1 103") || strings.Count(text, standIn) < 5 || !strings.Contains(text, "identity") || strings.Contains(text, "bytes=") {
			t.Errorf("HTTP/2 %v: %s", h2, text)
		}
		if strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(secretValue))[4:40]) {
			t.Error("the body shows the value in base64")
		}
	}
}

// dump is all that a client gets for a request.
func dump(t *testing.T, v *vault, req *http.Request) string {
	conn, err := v.client.Transport.(*http.Transport).DialContext(context.Background(), "tcp", "api.example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(conn, &tls.Config{RootCAs: v.client.Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "api.example.com"})
	req.Close = true
	req.Header.Set("TE", "trailers")
	if err := req.Write(c); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(bufio.NewReader(c))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return string(text)
}

// TestEncodedAnswer: an answer in which the value would not be found does not arrive.
func TestEncodedAnswer(t *testing.T) {
	v := newVault(t, ir.Credential{As: "header", Name: "Authorization"}, false, func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, r.Header.Get("Authorization"))
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b.Bytes())
	})
	res, err := v.client.Get("https://api.example.com/in")
	if err != nil || res.StatusCode != http.StatusBadGateway || !strings.Contains(res.Header.Get("X-Proxy-Error"), "encodes") {
		t.Errorf("%v %v", res, err)
	}
}
