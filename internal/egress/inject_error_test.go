package egress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/ir"
)

type failing struct{ with string }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s: %w", f.with, errInternal)
}

// slow is a body that comes in parts, the later ones once everything that could go on without them has done so.
type slow struct{ parts []string }

func (s *slow) Read(b []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	for range 1000 {
		runtime.Gosched()
	}
	n := copy(b, s.parts[0])
	s.parts = s.parts[1:]
	return n, nil
}

func (s *slow) Close() error { return nil }

func (s *slow) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{ContentLength: int64(len(strings.Join(s.parts, ""))), Header: http.Header{}, Body: s}, nil
}

// TestSlowLink: an answer with a length is held until no part of a value can follow, however long that takes.
func TestSlowLink(t *testing.T) {
	defer func(least, unknown time.Duration) { leastPatience, unknownPatience = least, unknown }(leastPatience, unknownPatience)
	leastPatience, unknownPatience = 0, 0
	secret, err := credential.NewSecret([]byte("ghp_16C7e42F292c6912E7710c838347Ae178B4a"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; at < len(secret.Value); at++ {
		next := &slow{[]string{"a " + string(secret.Value[:at]), string(secret.Value[at:]) + " b"}}
		in := &injection{Credential: &ir.Credential{As: "query", Name: "key"}, secret: secret, mask: secret.Mask(), next: next}
		req, _ := http.NewRequest("GET", "https://example.com/", nil)
		res, err := in.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); string(got) != "a "+string(secret.StandIn)+" b" || err != nil {
			t.Errorf("divided at %d: %s, %v", at, got, err)
		}
	}
}

// TestPatience: the time that an answer without a length waits grows with the distance of its host.
func TestPatience(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lost, trip, known := distance(conn)
	if got := patience(&timed{Conn: conn}, false); got < leastPatience || known && got < lost+2*trip || !known && got < unknownPatience {
		t.Errorf("%v: %v, %v", got, lost, trip)
	}
	for _, proxied := range []bool{false, true} {
		if got := patience(nil, proxied); got != unknownPatience {
			t.Errorf("no connection: %v", got)
		}
	}
	if got := patience(conn, true); got < unknownPatience {
		t.Errorf("behind another proxy: %v", got)
	}
}

// TestShownByError: a server says in HTTP/2 why it ends a connection, and the error repeats it.
func TestShownByError(t *testing.T) {
	secret, err := credential.NewSecret([]byte("ghp_16C7e42F292c6912E7710c838347Ae178B4a"))
	if err != nil {
		t.Fatal(err)
	}
	in := &injection{Credential: &ir.Credential{As: "query", Name: "key"}, secret: secret, mask: secret.Mask()}
	for _, test := range []struct {
		text string
		same bool
	}{{"refused", true}, {"debug=" + string(secret.Value), false}} {
		in.next = failing{test.text}
		req, _ := http.NewRequest("GET", "https://example.com/", nil)
		_, err := in.RoundTrip(req)
		if errors.Is(err, errInternal) != test.same || strings.Contains(err.Error(), string(secret.Value)) {
			t.Error(err)
		}
		if req.URL.RawQuery != "" {
			t.Error("the tool's own request has the value")
		}
	}
}
