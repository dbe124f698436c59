//go:build linux

package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxyVariables are those by which clients learn of a proxy.
var proxyVariables = []string{
	"http_proxy", "https_proxy", "all_proxy", "no_proxy", "grpc_proxy", "ftp_proxy", "RSYNC_PROXY", "NODE_USE_ENV_PROXY",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "GRPC_PROXY", "FTP_PROXY", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "CARGO_HTTP_PROXY", "npm_config_proxy", "npm_config_https_proxy",
}

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
	variables bool // whether the client keeps the proxy's variables
}

// result is what is known about a cell afterwards.
type result struct {
	own    string // the client's output
	all    string // with accessc's
	err    error
	report []denial
}

// play runs a cell.
func (p *place) play(t *testing.T, c cell) (r result) {
	in := "cells/" + strings.NewReplacer("/", "-", " ", "_", ",", "").Replace(t.Name())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := []string{"sh", "-c", "{ " + c.c.run + "\n} >own 2>&1", "sh", c.host, p.ws}
	if !c.variables {
		unset := []string{"env"}
		for _, v := range proxyVariables {
			unset = append(unset, "-u", v)
		}
		args = append(unset, args...)
	}
	report := strings.ReplaceAll(in, "/", "-") + ".jsonl"
	cmd := p.exec(ctx, in, report, args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+p.dir)
	out, err := cmd.CombinedOutput()
	own, _ := os.ReadFile(filepath.Join(p.ws, in, "own"))
	r = result{own: string(own), all: string(out), err: err}
	r.report = denials(t, filepath.Join(p.dir, report))
	return r
}

// granted judges a run to a granted host.
func (r *result) granted(t *testing.T, c *client) bool {
	if r.err != nil || !strings.Contains(r.own, c.want) {
		t.Errorf("did not reach its host: %v\n%s\n%s\n%+v", r.err, r.own, r.all, r.report)
		return false
	}
	return true
}

// denied judges a run to another host, and says where the refusal is named.
func (r *result) denied(t *testing.T, c cell) string {
	if r.err == nil || strings.Contains(r.own, c.c.want) {
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
	if !named || !proposed || !strings.Contains(r.all, c.host) {
		t.Errorf("the refusal is not named (in the report %v, with a rule %v, on standard error %v):\n%s\n%s\n%+v",
			named, proposed, strings.Contains(r.all, c.host), r.own, r.all, r.report)
		return "not named"
	}
	if strings.Contains(r.own, "accessc") && strings.Contains(r.own, c.host) {
		return "client, report"
	}
	return "report"
}

// TestMatrix runs every client under rules for its host, with and without the variables of a
// proxy: it reaches this host and no other, and the refusal says which host that was and which
// rule would grant it.
func TestMatrix(t *testing.T) {
	w := need(t)
	var mu sync.Mutex
	table := map[string]string{}
	for _, u := range []user{root, ordinary} {
		t.Run(string(u), func(t *testing.T) {
			p := newPlace(t, w, u, rulesFor(clients)+externalRules())
			p.programs()
			p.approve()
			p.holds(t)
			for i := range clients {
				c := &clients[i]
				t.Run(c.name, func(t *testing.T) {
					if m := c.lacks(); m != "" {
						t.Skipf("%s is not installed", m)
					}
					t.Parallel()
					row := p.row(t, c)
					mu.Lock()
					defer mu.Unlock()
					table[fmt.Sprintf("%-4s  %-34s", u, c.name)] = row
				})
			}
		})
	}
	for _, u := range []user{root, ordinary} {
		for i := range clients {
			key := fmt.Sprintf("%-4s  %-34s", u, clients[i].name)
			t.Log(key, table[key])
		}
	}
	w.untouched(t)
}

// row runs the four cells of a client.
func (p *place) row(t *testing.T, c *client) (row string) {
	for _, variables := range []bool{true, false} {
		name := map[bool]string{true: "variables", false: "none"}[variables]
		t.Run(name+" granted", func(t *testing.T) {
			r := p.play(t, cell{c, c.label + ".example.test", variables})
			row += fmt.Sprintf("%-8s", map[bool]string{true: "reached", false: "FAILED"}[r.granted(t, c)])
		})
		t.Run(name+" denied", func(t *testing.T) {
			d := cell{c, c.label + ".denied.test", variables}
			r := p.play(t, d)
			says := r.denied(t, d)
			if variables && c.shows && says == "report" {
				t.Errorf("the client does not say why: %s", r.own)
			}
			row += fmt.Sprintf("%-16s", says)
		})
	}
	return row
}

// approve approves the files of externals.
func (p *place) approve() {
	for name := range externals() {
		cmd := p.command(p.Context(), "", accessc(p.T, p.w), "approve", "-C", p.ws, "--yes", name)
		if out, err := cmd.CombinedOutput(); err != nil {
			p.Errorf("approve: %v\n%s", err, out)
		}
	}
}

// untouched fails if a host below denied.test was asked for or reached.
func (w *world) untouched(t *testing.T) {
	for name := range w.names.questions() {
		if strings.HasSuffix(name, "denied.test") && !strings.HasPrefix(name, "alone.") {
			t.Errorf("the name server was asked for %s", name)
		}
	}
	for _, a := range w.arrivals(0) {
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
