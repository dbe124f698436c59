package landlockconfig

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// drawSettings draws a configuration, as JSON or TOML and as it is.
func drawSettings(w *suite.World, r *rand.Rand, p importer.Patterns) (text string, model *Model) {
	model = &Model{Host: w.Host(p), IsDir: importer.Once(importer.IsDir), ABI: 1 + r.IntN(6), Variables: map[string][]string{"v": {"a", "src"}, "none": nil}}
	access := func() []string {
		if r.IntN(2) == 0 {
			return []string{suite.Pick(r, "abi.all", "abi.read_execute", "abi.read_write")}
		}
		all := slices.Clone(allRights)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:1+r.IntN(len(all))]
	}
	net := func() []string { return []string{suite.Pick(r, "abi.all", "bind_tcp", "connect_tcp")} }
	for range r.IntN(3) {
		model.HandledFS = append(model.HandledFS, access()...)
	}
	if r.IntN(2) == 0 {
		model.HandledNet = net()
	}
	for range 1 + r.IntN(3) {
		parents := append(suite.Some(r, 2, func() string {
			return suite.Pick(r, suite.SomePlace(r), suite.SomePlace(r), "${v}", "${v}/b", "src/${v}", "${none}", "$$x", "a/.env", "$", "")
		}), suite.Pick(r, ".", "/usr", "a", w.Dir+"/src", w.Home+"/x", w.Home))
		model.Paths = append(model.Paths, PathsRule{Access: access(), Parents: parents})
	}
	for range r.IntN(3) {
		model.Ports = append(model.Ports, PortsRule{Access: net(), Ports: []uint16{suite.Pick[uint16](r, 0, 22, 80, 443), 8443}})
	}
	if r.IntN(2) == 0 {
		return landlockJSON(model), model
	}
	return landlockTOML(model), model
}

func landlockJSON(m *Model) string {
	doc := map[string]any{"abi": m.ABI}
	sets := []any{}
	if len(m.HandledFS) > 0 {
		sets = append(sets, map[string]any{"handledAccessFs": m.HandledFS})
	}
	if len(m.HandledNet) > 0 {
		sets = append(sets, map[string]any{"handledAccessNet": m.HandledNet, "scoped": []string{"signal"}})
	}
	if len(sets) > 0 {
		doc["ruleset"] = sets
	}
	var paths, ports, variables []any
	for _, p := range m.Paths {
		paths = append(paths, map[string]any{"allowedAccess": p.Access, "parent": p.Parents})
	}
	for _, p := range m.Ports {
		ports = append(ports, map[string]any{"allowedAccess": p.Access, "port": p.Ports})
	}
	for name, values := range m.Variables {
		v := map[string]any{"name": name}
		if values != nil {
			v["literal"] = values
		}
		variables = append(variables, v)
	}
	for key, list := range map[string][]any{"pathBeneath": paths, "netPort": ports, "variable": variables} {
		if len(list) > 0 {
			doc[key] = list
		}
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

func landlockTOML(m *Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "abi = %d\n", m.ABI)
	for name, values := range m.Variables {
		fmt.Fprintf(&b, "[[variable]]\nname = %q\n", name)
		if values != nil {
			fmt.Fprintf(&b, "literal = %s\n", importer.Texts(values))
		}
	}
	if len(m.HandledFS) > 0 {
		fmt.Fprintf(&b, "[[ruleset]]\nhandled_access_fs = %s\n", importer.Texts(m.HandledFS))
	}
	if len(m.HandledNet) > 0 {
		fmt.Fprintf(&b, "[[ruleset]]\nhandled_access_net = %s\n", importer.Texts(m.HandledNet))
	}
	for _, p := range m.Paths {
		fmt.Fprintf(&b, "[[path_beneath]]\nallowed_access = %s\nparent = %s\n", importer.Texts(p.Access), importer.Texts(p.Parents))
	}
	for _, p := range m.Ports {
		fmt.Fprintf(&b, "[[net_port]]\nallowed_access = %s\nport = %s\n", importer.Texts(p.Access), strings.ReplaceAll(fmt.Sprint(p.Ports), " ", ", "))
	}
	return b.String()
}

// For any configuration of landlockconfig, the result permits nothing that it does not.
func TestLandlockConfigNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var imported atomic.Int64
	suite.Drawn(t, 1_000, func(r *rand.Rand) error {
		text, model := drawSettings(w, r, importer.Refuse)
		res, err := w.Run("landlock", text, importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		imported.Add(1)
		if err := w.Agrees(r, res, text, model); err != nil {
			return err
		}
		return agreesInDetail(w, r, res, text, model)
	})
	if imported.Load() == 0 {
		t.Error("nothing was imported")
	}
}

// agreesInDetail asks a result and an evaluation at random about single capabilities, moves and listeners.
func agreesInDetail(w *suite.World, r *rand.Rand, res *importer.Result, text string, p foreign.Detailed) error {
	c, err := importer.Compiled(res.Text, w.Home)
	if err != nil {
		return err
	}
	view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
	k := importer.NewCheck(view, p, w.Host(importer.Refuse))
	place := func() string {
		abs := suite.Pick(r, w.Dir, w.Dir, w.Home+"/x", "/usr")
		for range r.IntN(4) {
			abs += "/" + suite.Pick(r, "a", "b", "src", "y", ".env", "k.pem", "zz")
		}
		return importer.Follow(abs)
	}
	for range 30 {
		abs, to := place(), place()
		for _, cap := range ir.All.List() {
			if view.Decide(ir.Access{Cap: cap, On: ir.Direct(k.Location(abs))}).Allowed() && !p.Permits(cap.String(), abs) {
				return fmt.Errorf("%s\n%s\npermits to %s %s", text, res.Text, cap, abs)
			}
		}
		if err := k.Moves(p, abs+"/from", to+"/to"); err != nil {
			return fmt.Errorf("%s\n%s\n%w", text, res.Text, err)
		}
	}
	return k.Listens(p)
}

// A policy in the rights that stand for its capabilities is the same after the way back.
func TestLandlockConfigRoundTrip(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	stands := map[string][]string{
		"read": {"read_file", "read_dir"}, "execute": {"execute"}, "update": {"write_file", "truncate"},
		"create": {"make_dir", "make_reg", "make_sock", "make_fifo", "make_sym", "refer", "write_file"}, "delete": {"remove_file", "remove_dir", "refer"},
	}
	suite.Drawn(t, 1_000, func(r *rand.Rand) error {
		// Rules add up, so a deeper place has what is around it; moves keep capabilities if all have as many.
		caps := map[string][]string{}
		all := []string{"read", "execute", "update", "create", "delete"}
		for dir, n := range map[string]int{".": r.IntN(3), "src": 2 + 3*r.IntN(2), "src/a": 5} {
			caps[dir] = all[:n]
		}
		m := &Model{ABI: 6, HandledFS: []string{"abi.all"}, HandledNet: []string{"abi.all"}, Ports: []PortsRule{{Access: []string{"bind_tcp", "connect_tcp"}, Ports: []uint16{8080}}}}
		for dir, list := range caps {
			for _, c := range list {
				m.Paths = append(m.Paths, PathsRule{Access: stands[c], Parents: []string{dir}})
			}
		}
		res, err := w.Run("landlock", landlockJSON(m), importer.Refuse)
		if err != nil {
			return err
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for dir, list := range caps {
			for _, cap := range ir.All.List() {
				got := view.Decide(ir.Access{Cap: cap, On: ir.Direct(ir.In(strings.TrimPrefix(dir+"/zz", "./")))}).Allowed()
				if want := slices.Contains(list, cap.String()); got != want {
					return fmt.Errorf("%s\n%s\n%s in %s: %t", landlockJSON(m), res.Text, cap, dir, got)
				}
			}
		}
		if !strings.Contains(res.Text, "port = 8080\nlisten = true\nallow = true") {
			return fmt.Errorf("%s: no listener", res.Text)
		}
		return nil
	})
}

// A right on directories that a rule gives to a file is none, so nothing gains it by a move there.
func TestLandlockConfigRightsOfFiles(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	m := &Model{Host: w.Host(importer.Refuse), ABI: 5, IsDir: importer.IsDir, HandledFS: []string{"abi.all"}, Paths: []PathsRule{
		{Parents: []string{"."}, Access: []string{"write_file", "make_dir", "refer"}},
		{Parents: []string{"a/.env"}, Access: []string{"write_file", "make_char"}},
	}}
	if !m.Moves(w.Dir+"/b/from", w.Dir+"/a/.env", true) {
		t.Error("a directory may not move")
	}
	m.Paths[1].Parents = []string{"a"}
	if m.Moves(w.Dir+"/b/from", w.Dir+"/a/to", true) {
		t.Error("a directory gains make_char by a move")
	}
}

// A rule whose path leads over a symlink is left out, and its rights still forbid moves to its target.
func TestLandlockConfigMovesBehindLink(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	m := &Model{Host: w.Host(importer.Refuse), ABI: 2, IsDir: importer.IsDir, HandledFS: []string{"abi.all"}, Paths: []PathsRule{
		{Parents: []string{"link"}, Access: []string{"execute"}},
		{Parents: []string{"."}, Access: []string{"abi.read_write"}},
	}}
	if m.Moves(w.Dir+"/from", w.Dir+"/a/to", false) {
		t.Fatal("a file gains execute by a move, and the settings permit it")
	}
	res, err := w.Run("landlock", landlockTOML(m), importer.Refuse)
	if err != nil {
		t.Fatal(err)
	}
	c, err := importer.Compiled(res.Text, w.Home)
	if err != nil {
		t.Fatal(err)
	}
	view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
	move := ir.Rename{Src: ir.Direct(ir.In("from")), Dst: ir.Direct(ir.In("a/to")), SrcKind: ir.File}
	if view.Decide(move).Allowed() {
		t.Errorf("the result permits it:\n%s", res.Text)
	}
	told := func(e *importer.Entry) bool { return strings.Contains(e.Why, "create is not granted") && e.Text == "a" }
	if !slices.ContainsFunc(res.Entries, told) {
		t.Errorf("no entry says it: %v", res.Entries)
	}
	// The proof asks about the target, too, though the result does not name it.
	const wider = "[tools.agent]\nsource = \"local\"\naccess.base = \"none\"\n[[tools.agent.access.fs]]\npath = \".\"\nread = true\nwrite = true"
	if _, err := importer.Prove(wider, "agent", m, w.Host(importer.Refuse)); err == nil || !strings.Contains(err.Error(), "move a file from") {
		t.Errorf("the proof of a result that permits the move: %v", err)
	}
}

// Configurations that landlockconfig refuses, or of which a part is not known, are refused with a place.
func TestLandlockConfigMistakes(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for text, want := range map[string]string{
		`{"abi": 7, "ruleset": [{"scoped": ["signal"]}]}`:                                                        ":1:2: abi: expected a number from 1 to 6",
		`{"ruleset": [{"handledAccessFs": ["abi.all"]}]}`:                                                        "abi.all needs abi",
		`{"ruleset": [{"handledAccessFs": ["excute"]}]}`:                                                         `"excute" is no right in landlockconfig 0.1.0; did you mean "execute"`,
		`{"ruleset": [{"handledAccessFs": []}]}`:                                                                 "at least one",
		`{"ruleset": [{}]}`:                                                                                      "empty ruleset",
		`{"ruleset": [{"quiet": ["execute"]}]}`:                                                                  `"quiet" is no key of a ruleset`,
		`{"pathBeneath": [{"allowedAccess": ["execute"], "parent": ["${x}"]}]}`:                                  "there is no variable ${x}",
		`{"pathBeneath": [{"allowedAccess": ["execute"], "parent": ["${x"]}]}`:                                   "there is no variable ${x",
		`{"pathBeneath": [{"allowedAccess": ["execute"]}]}`:                                                      "a rule needs allowedAccess and parent",
		`{"netPort": [{"allowedAccess": ["bind_tcp"], "port": [65536]}]}`:                                        "65536 is no port",
		`{"netPort": [{"allowedAccess": ["bind_tcp"], "port": [80.5]}]}`:                                         "expected a list of ports",
		`{"pathBeneath": [{"allowed_access": ["execute"], "parent": ["a"]}]}`:                                    `"allowed_access" is no key of a rule for paths`,
		"[[path_beneath]]\nallowedAccess = [\"execute\"]\nparent = [\"a\"]":                                      `"allowedAccess" is no key of a rule for paths`,
		"abi = 0\n[[path_beneath]]\nallowed_access = [\"execute\"]\nparent = [\"a\"]":                            ":1:1: abi: expected a number",
		"[[variable]]\nname = \"0\"\n[[path_beneath]]\nallowed_access = [\"execute\"]\nparent = [\"a\"]":         "a variable needs a name",
		"[[path_beneath]]\nallowed_access = [\"execute\"]\nparent = [\"a\"]\n[other]\n":                          `"other" is no key of a configuration`,
		"[[path_beneath]]\nallowed_access = [\"execute\"]\nparent = [\"${v}${v}${v}${v}\"]\n[[variable]]\nname=": "landlock",
	} {
		req := w.In + "/" + "landlock"
		if err := os.WriteFile(req, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := w.Imports(importer.Request{Files: []string{req}, From: "landlockconfig", Patterns: importer.Refuse})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, expected %q", text, err, want)
		}
	}
}
