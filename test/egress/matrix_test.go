//go:build linux

package egress_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
)

// A denial is a line of the report.
type denial struct {
	Operation string
	Target    string
	Reason    string
	Grant     *string
}

// denials reads a report.
func denials(t *testing.T, path string) (out []denial) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("report: %v", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var d denial
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Errorf("report: %v: %s", err, lines.Text())
		}
		out = append(out, d)
	}
	return out
}

// rulesFor grants each client its host.
func rulesFor(list []client) (out string) {
	done := map[string]bool{}
	for _, c := range list {
		rule := fmt.Sprintf("[[tools.t.access.net]]\nhost = %q\nallow = true\n", c.label+".example.test")
		if c.stream != 0 {
			rule += fmt.Sprintf("scheme = \"tcp\"\nport = %d\n", c.stream)
		}
		if !done[rule] {
			out += rule
		}
		done[rule] = true
	}
	return out
}

// externalRules grant the files of externals.
func externalRules() (out string) {
	for name := range externals() {
		out += fmt.Sprintf("[[tools.t.access.fs]]\npath = %q\nexternal = true\nread = true\nexecute = true\n", name)
	}
	return out
}

// A cell is one run of a client.
type cell struct {
	c         *client
	host      string
	variables bool // whether the client is told of the proxy
}

// result is the outcome of a cell.
type result struct {
	own    string // the client's output
	all    string // with accessc's
	err    error
	report []denial
}

// play runs a cell.
func (p *place) play(t *testing.T, c cell) (r result) {
	in := "cells/" + strings.NewReplacer("/", "-", " ", "_", ",", "").Replace(t.Name())
	ctx := await.Context(t)
	script := "{ " + c.c.run + "\n} >own 2>&1"
	if c.variables {
		script = variables + script
	}
	report := strings.ReplaceAll(in, "/", "-") + ".jsonl"
	cmd := p.exec(ctx, in, report, "sh", "-c", script, "sh", c.host, p.ws)
	cmd.Env = append(cmd.Env, "TMPDIR="+p.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p.must(cmd.Start())
	if c.variables {
		p.write(in+"/port", fmt.Sprintln(proxyPort(t, cmd.Process.Pid)))
	}
	err := cmd.Wait()
	own, _ := os.ReadFile(filepath.Join(p.ws, in, "own"))
	r = result{own: string(own), all: out.String(), err: err}
	r.report = denials(t, filepath.Join(p.dir, report))
	return r
}

// granted judges a run to a granted host.
func (r *result) granted(t *testing.T, c *client) {
	if r.err != nil || !strings.Contains(r.own, c.want) {
		t.Errorf("did not reach its host: %v\n%s\n%s\n%+v", r.err, r.own, r.all, r.report)
	}
}

// denied judges a run to another host, and says where the refusal is named.
func (r *result) denied(t *testing.T, c cell) string {
	// Some clients succeed at showing a refusal.
	if r.err == nil && !strings.Contains(r.own, "accessc: ") || strings.Contains(r.own, c.c.want) {
		t.Errorf("was not refused: %v\n%s\n%s", r.err, r.own, r.all)
		return "NOT REFUSED"
	}
	named, proposed := false, false
	for _, d := range r.report {
		if strings.Contains(d.Target, c.host) {
			named = true
			proposed = proposed || d.Grant != nil && strings.Contains(*d.Grant, fmt.Sprintf("host = %q", c.host))
		}
	}
	// exec explains refusals to those whose tool failed.
	shown := r.err == nil || strings.Contains(r.all, c.host) || strings.Contains(r.all, "--report FILE lists every one")
	if !named || !proposed || !shown {
		t.Errorf("the refusal is not named (in the report %v, with a rule %v, on standard error %v):\n%s\n%s\n%+v",
			named, proposed, shown, r.own, r.all, r.report)
		return "not named"
	}
	if strings.Contains(r.own, "accessc: ") && strings.Contains(r.own, c.host) {
		return "client, report"
	}
	return "report"
}

// TestMatrix runs every client under rules for its host, with and without the variables of a
// proxy: it reaches this host and no other, and the refusal says which host that was and which
// rule would grant it. An everyday run takes one user of each client, with or without variables,
// in turns.
func TestMatrix(t *testing.T) {
	w := need(t)
	before, arrived := w.window(t), len(w.arrivals(0))
	for n, u := range []user{root, ordinary} {
		t.Run(string(u), func(t *testing.T) {
			p := newPlace(t, w, u, rulesFor(clients)+externalRules())
			p.programs()
			p.approve()
			p.holds(t)
			for i := range clients {
				c := &clients[i]
				t.Run(c.name, func(t *testing.T) {
					if c.slow() && !everything() {
						t.Skip("at full count")
					}
					if m := c.lacks(); m != "" {
						t.Skipf("%s is not installed", m)
					}
					t.Parallel()
					for _, told := range []bool{false, true} {
						turn := i%2 == n && told == (i/2%2 == 0 && c.stream == 0)
						if (turn || everything()) && (!told || c.stream == 0) {
							p.pair(t, c, told)
						}
					}
				})
			}
		})
	}
	before.untouched(t, arrived)
}

// everything reports whether tests run at full count.
func everything() bool { return irtest.Full() }

// users are the identities that a test starts tools with. An everyday run takes the one without privileges.
func users() []user {
	if everything() {
		return []user{root, ordinary}
	}
	return []user{ordinary}
}

// pair runs a client to its granted host and to another.
func (p *place) pair(t *testing.T, c *client, told bool) {
	name := map[bool]string{true: "variables", false: "none"}[told]
	t.Run(name+" granted", func(t *testing.T) {
		r := p.play(t, cell{c, c.label + ".example.test", told})
		r.granted(t, c)
	})
	t.Run(name+" denied", func(t *testing.T) {
		d := cell{c, c.label + ".denied.test", told}
		r := p.play(t, d)
		says := r.denied(t, d)
		if told && c.shows && says == "report" {
			t.Errorf("the client does not say why: %s", r.own)
		}
		t.Log("named by ", says)
	})
}

// approve approves the files of externals.
func (p *place) approve() {
	for name := range externals() {
		cmd := p.command(p.Context(), "", accessc(p.TB, p.w), "approve", "-C", p.ws, "--yes", name)
		if out, err := cmd.CombinedOutput(); err != nil {
			p.Errorf("approve: %v\n%s", err, out)
		}
	}
}

// untouched fails if a host below denied.test was asked for or reached since.
func (b *window) untouched(t *testing.T, arrived int) {
	for name, n := range b.w.names.questions() {
		if n > b.names[name] && strings.HasSuffix(name, "denied.test") {
			t.Errorf("the name server was asked for %s", name)
		}
	}
	for _, a := range b.w.arrivals(arrived) {
		if strings.Contains(a.host+a.sni, "denied.test") {
			t.Errorf("reached a denied host: %+v", a)
		}
		for _, l := range labels {
			for _, d := range addresses(l + ".denied.test") {
				if a.to.Addr() == d {
					t.Errorf("reached the address of a denied host: %+v", a)
				}
			}
		}
	}
}
