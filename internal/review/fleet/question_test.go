package fleet_test

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/review/fleet"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// external is a rule that names its place by itself, or by a symlink.
func external(name string, caps ...ir.Capability) ir.FSRule {
	return ir.FSRule{At: ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, External: true, Caps: ir.Caps(caps...)}
}

func host(t *testing.T, pattern string) ir.Host {
	h, err := resolve.HostPattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestQuestions: a place stands for all below it, and an answer that a manifest cannot give is maybe.
func TestQuestions(t *testing.T) {
	home := tool("home", "src", ir.Read)
	home.FS = append(home.FS, external("~/.ssh", ir.Read), external("~/.ssh/known_hosts", ir.Read, ir.Update), external("/srv/data", ir.Read))
	linked := tool("linked", "src", ir.Read)
	linked.FS = append(linked.FS, external("fork", ir.Read, ir.Create))
	live := tool("live", "src", ir.Read)
	live.May = []ir.FSRule{{Written: "out", At: ir.In("out"), Caps: ir.Caps(ir.Create)}}
	live.MayNet = []ir.NetRule{{Host: host(t, "may.example.com"), Scheme: "https", Allow: true}}
	net := tool("net", "src", ir.Read)
	net.Net = []ir.NetRule{
		{Host: host(t, "*.example.com"), Scheme: "https", Allow: true},
		{Host: host(t, "api.example.com"), Scheme: "https"},
		{Host: host(t, "git.example.org"), Port: 22, Scheme: "tcp", Allow: true},
		{Host: host(t, "docs.example.org"), Scheme: "https", Path: []string{"v1"}, Methods: []string{"GET"}, Inspect: true, Allow: true},
		{Host: host(t, "localhost"), Port: 8080, Listen: true, Allow: true},
	}
	any := tool("any", "src", ir.Read)
	any.Net = []ir.NetRule{{Host: host(t, "*"), Allow: true}}
	listed := tool("listed", "src", ir.Read)
	listed.Commands = &ir.CommandSet{Rules: []ir.CommandRule{
		{Program: "git", Args: []ir.ArgPattern{{Words: []string{"status"}, Rest: true}}, AllEnvs: true}, {Program: "ls", AnyArgs: true, AllEnvs: true},
	}}
	for question, want := range map[string]string{
		"read src":                              "home linked live net any listed",
		"read .":                                "home linked live net any listed",
		"write .":                               "linked ask:live", // below ./fork, and ./out
		"write src":                             "",
		"read lib":                              "",
		"create out/x":                          "ask:live",
		"create fork/x":                         "linked",
		"read fork":                             "linked",
		"read ~":                                "home maybe:linked",
		"read ~/.ssh/id_ed25519":                "home maybe:linked",
		"write ~/.ssh":                          "home maybe:linked",
		"write ~/.ssh/config":                   "maybe:linked",
		"delete ~/.ssh":                         "",
		"update /srv":                           "",
		"read /srv":                             "home maybe:linked",
		"read /home":                            "home maybe:linked",
		"read /etc/passwd":                      "home linked live net any listed",
		"execute /usr/bin":                      "home linked live net any listed",
		"connect *":                             "net any ask:live",
		"connect *.example.com":                 "net any ask:live",
		"connect www.example.com":               "net any",
		"connect api.example.com":               "any",
		"connect may.example.com:443":           "net any ask:live",
		"connect git.example.org":               "net any",
		"connect git.example.org:22":            "net",
		"connect git.example.org:23":            "",
		"connect docs.example.org":              "net any",
		"connect https://docs.example.org/v1/a": "net any",
		"connect https://docs.example.org/v2":   "any",
		"connect POST https://docs.example.org/v1/a": "any",
		"listen localhost:8080":                      "net",
		"listen *:8080":                              "",
		"env HOME":                                   "home linked live net any listed",
		"env TOKEN":                                  "",
		"run git":                                    "home linked live net any listed",
		"run git push":                               "home linked live net any",
		"run ls -l":                                  "home linked live net any listed",
		"run make":                                   "home linked live net any",
	} {
		q, err := fleet.ParseQuestion(question)
		if err != nil {
			t.Errorf("%s: %v", question, err)
			continue
		}
		var got []string
		for _, asked := range []*ir.Tool{home, linked, net, any, listed, live} {
			switch a := q.Put(asked); a.Verdict {
			case fleet.Yes:
				got = append(got, asked.Name)
			case fleet.No:
			case fleet.Ask, fleet.Maybe:
				got = append(got, string(a.Verdict)+":"+asked.Name)
			}
		}
		if !sameWords(strings.Join(got, " "), want) {
			t.Errorf("%s: got %q, want %q", question, strings.Join(got, " "), want)
		}
	}
}

func sameWords(a, b string) bool {
	count := func(s string) map[string]int {
		out := map[string]int{}
		for _, w := range strings.Fields(s) {
			out[w]++
		}
		return out
	}
	x, y := count(a), count(b)
	for w := range x {
		if x[w] != y[w] {
			return false
		}
	}
	return len(x) == len(y)
}

// TestWrongQuestions: a question that cannot be put to a manifest says why.
func TestWrongQuestions(t *testing.T) {
	for question, want := range map[string]string{
		"":                      "found no command",
		"fly high":              `found "fly"`,
		"read":                  "expected read PATH",
		"read ../x":             "leaves the workspace",
		"read ~user/x":          `found "~" before a name`,
		"read $HOME/x":          "shell expansion",
		"rename a b":            "depends on two places or on what is made",
		"connect a.example:0":   `found port "0"`,
		"connect a*.example":    `found "*" inside a host`,
		"connect ftp//":         "found",
		"listen example.com:80": "expected localhost",
		"read 'a":               "quote",
		"write a b":             `found "write"`,
	} {
		if _, err := fleet.ParseQuestion(question); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", question, err, want)
		}
	}
}

// TestBelow: the answer about a place is yes exactly if Decide grants the capability on some place at or below it. The places
// are all up to a depth that the rules do not reach, so one of each region is among them.
func TestBelow(t *testing.T) {
	names := []string{"a", "b", "other"}
	var places []string
	level := []string{""}
	for range 4 {
		var next []string
		for _, above := range level {
			for _, n := range names {
				next = append(next, path.Join(above, n))
			}
		}
		places, level = append(places, level...), next
	}
	irtest.Check(t, 2000, len(places), func(rt *rapid.T) {
		tool := ir.NewTool("t")
		tool.FS = irtest.FSRules(rt, names[:2], 4)
		at := irtest.Path(rt, names[:2], 3)
		c := rapid.SampledFrom(ir.Capabilities[:]).Draw(rt, "capability")
		question := c.String() + " ./" + at
		q, err := fleet.ParseQuestion(question)
		if err != nil {
			rt.Fatal(err)
		}
		v := ir.NewView(tool, ir.Linux, ir.Facts{})
		want := fleet.No
		for _, p := range places {
			if ir.Within(p, at) && v.Decide(ir.Access{Cap: c, On: ir.Direct(ir.In(p))}).Allowed() {
				want = fleet.Yes
			}
		}
		if got := q.Put(tool); got.Verdict != want {
			rt.Fatalf("%s: got %s (%s), want %s", question, got.Verdict, got.Operation, want)
		}
	})
}
