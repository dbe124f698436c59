//go:build linux

package egress_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// portClosed has no server.
const portClosed = 9

// TestNames: a tool learns of a granted name's state what it would learn without accessc, but for
// addresses that a name does not grant.
func TestNames(t *testing.T) {
	w := need(t)
	if has("cc") != "" {
		t.Skip("no C compiler")
	}
	cases := []struct {
		host string
		port int
		says string
		same bool // as without accessc
	}{
		{"echo.example.test", portEcho, "echo word", true},
		{"only4.example.test", portEcho, "echo word", true},
		{"only6.example.test", portEcho, "echo word", true},
		{"slow.example.test", portEcho, "echo word", true},
		{"echo.example.test", portClosed, "Connection refused", true},
		{"missing.example.test", portEcho, "Name or service not known", true},
		{"broken.example.test", portEcho, "Temporary failure in name resolution", true},
		{"loop.example.test", portEcho, "Permission denied", false},
		{"mapped.example.test", portEcho, "Permission denied", false},
		{"private.example.test", portEcho, "Permission denied", false},
	}
	var list []grant
	for _, c := range cases {
		list = append(list, grant{host: c.host, scheme: ir.Stream, port: uint16(c.port)})
	}
	toml, _ := policy(t, list)
	p := newPlace(t, w, ordinary, toml)
	p.cc("plain")
	p.holds(t)
	for _, c := range cases {
		t.Run(c.host+" "+strconv.Itoa(c.port), func(t *testing.T) {
			t.Parallel()
			ctx := await.Context(t)
			args := []string{p.ws + "/plain", c.host, strconv.Itoa(c.port), "word"}
			if c.host == "slow.example.test" {
				p.slowly(t, args)
			}
			out, _ := p.exec(ctx, "", c.host+strconv.Itoa(c.port)+".jsonl", args...).CombinedOutput()
			if !strings.Contains(string(out), c.says) {
				t.Errorf("expected %q:\n%s", c.says, out)
			}
			if alone, _ := p.command(ctx, "", args...).CombinedOutput(); strings.Contains(string(alone), c.says) != c.same {
				t.Errorf("without accessc:\n%s", alone)
			}
		})
	}
}

// slowly runs a client of the slow name, which is answered after another client has been served.
func (p *place) slowly(t *testing.T, args []string) {
	answer, before := p.w.names.holdSlow(), p.w.names.questions()["slow.example.test"]
	answered := sync.OnceFunc(answer)
	defer answered()
	over := make(chan string, 1)
	go func() {
		out, _ := p.exec(await.Context(t), "", "slow.jsonl", args...).CombinedOutput()
		over <- string(out)
	}()
	await.Until(t, "the slow name is asked for", func() bool {
		return p.w.names.questions()["slow.example.test"] > before
	})
	another := []string{p.ws + "/plain", "echo.example.test", strconv.Itoa(portEcho), "word"}
	out, err := p.exec(await.Context(t), "", "meanwhile.jsonl", another...).CombinedOutput()
	if err != nil || len(over) > 0 {
		t.Errorf("meanwhile: %v\n%s", err, out)
	}
	answered()
	if out, _ := await.Receive(t, "the client of the slow name", over); !strings.Contains(out, "echo word") {
		t.Errorf("the client of the slow name:\n%s", out)
	}
}
