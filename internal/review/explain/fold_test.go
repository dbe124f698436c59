package explain

import (
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// TestEveryHost: a rule on all hosts is one line, whatever could be reached before; JSON and --why have the regions.
// What differs for another reason, on other ports or by methods keeps its own line.
//
// Cause: beside five hosts that were permitted by HTTPS, it was 18 lines.
func TestEveryHost(t *testing.T) {
	at := func(line int) ir.Origin { return ir.Origin{Pos: ir.Pos{File: "a.toml", Line: line}} }
	host := func(name string, line int) ir.NetRule {
		return ir.NetRule{Host: ir.Host{Kind: ir.HostName, Name: name}, Scheme: "https", Allow: true, Origin: at(line)}
	}
	every := ir.NetRule{Host: ir.Host{Kind: ir.HostAny}, Allow: true, Origin: at(9)}
	tool := func(rules ...ir.NetRule) []compare.Policy {
		out := ir.NewTool("t")
		out.Net, out.Declared.Net = rules, true
		return []compare.Policy{{Tool: out}}
	}
	const partly = "* by ftp, http, https, ws, wss, 2 hosts in part (9 regions)"
	some := []ir.NetRule{host("a.example", 1), host("b.example", 2)}
	closed := ir.NetRule{Host: ir.Host{Kind: ir.HostName, Name: "closed.example"}, Origin: at(3)}
	port := ir.NetRule{Host: ir.Host{Kind: ir.HostAny}, Scheme: "https", Port: 8443, Allow: true, Origin: at(9)}
	for _, c := range []struct {
		old, new []compare.Policy
		lines    []string
	}{
		{tool(), tool(every), []string{"* by ftp, http, https, ws, wss (3 regions)"}},
		{tool(some...), tool(append(some, every)...), []string{partly}},
		{tool(append(some, every)...), tool(some...), []string{partly}},
		{tool(closed), tool(closed, every), []string{"* by ftp, http, https, ws, wss (3 regions) but closed.example"}},
		{tool(), tool(some...), []string{"a.example by https, port 443", "b.example by https, port 443"}},
		{tool(), tool(port), []string{"* by https, port 8443"}},
	} {
		found := Changes(c.old, c.new)
		text := ChangesText(found, Style{})
		for _, line := range c.lines {
			if strings.Count(text, line) != 1 {
				t.Errorf("%q is not there once:\n%s", line, text)
			}
		}
		rows := func(text string) int { return strings.Count(text, "\n  +") + strings.Count(text, "\n  -") }
		if rows(text) != len(c.lines) {
			t.Errorf("%d lines, expected %d:\n%s", rows(text), len(c.lines), text)
		}
		all := len(ChangesJSON(found).Tools[0].Differences)
		if got := rows(ChangesText(found, Style{Regions: true})); got != all {
			t.Errorf("--why has %d lines, JSON %d differences", got, all)
		}
		said := strings.Contains(text, " ("+strconv.Itoa(all)+" regions)")
		if said != strings.Contains(text, "--why has the regions") || said == (all == len(c.lines)) {
			t.Errorf("%d regions, and the text says:\n%s", all, text)
		}
	}
}
