package importer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// grants are files of a workspace, each with the access granted there and below.
type grants map[string]access

// expressible draws grants that the settings of srt can say: below a place that may not be written, no
// place may.
func expressible(r *rand.Rand) grants {
	out := grants{"": {true, r.IntN(2) == 0}}
	for range r.IntN(6) {
		p := strings.Join(append([]string{pick(r, "a", "b", "src", "x y")}, some(r, 2, func() string { return pick(r, "a", "b", "src", "x y") })...), "/")
		out[p] = access{r.IntN(3) > 0, r.IntN(2) == 0}
	}
	for p, a := range out {
		for q, b := range out {
			if ir.Within("/"+p, "/"+q) && p != q && !b.write && b.read || !a.read {
				a.write = false
			}
		}
		out[p] = a
	}
	// Below a place that cannot be read nothing can be written, as srt mounts something else there.
	for p, a := range out {
		for q, b := range out {
			if p != q && ir.Within("/"+p, "/"+q) && !(b.read && b.write) {
				a.write = false
			}
		}
		out[p] = a
	}
	return out
}

// at is the access to a path.
func (g grants) at(rel string) access {
	for p := rel; ; p = strings.TrimPrefix(filepath.Dir("/"+p), "/") {
		if a, ok := g[p]; ok {
			return a
		}
	}
}

// export writes grants as settings of srt.
func (g grants) export() string {
	fs := map[string][]string{"denyRead": {}, "allowRead": {}, "allowWrite": {}, "denyWrite": {}}
	for p, a := range g {
		name := "./" + p
		add := func(list string) { fs[list] = append(fs[list], name) }
		if a.read {
			add("allowRead")
		} else {
			add("denyRead")
		}
		if a.write {
			add("allowWrite")
		} else if a.read {
			add("denyWrite")
		}
	}
	text, _ := json.Marshal(map[string]any{"filesystem": fs, "network": map[string]any{"allowedDomains": []string{}, "deniedDomains": []string{}}})
	return string(text)
}

// Grants that srt can say are the same after the way to its settings and back.
func TestSRTRoundTrip(t *testing.T) {
	w := newWorld(t)
	w.dir = w.home + "/empty"
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "src", "x y", "zz"}
	drawn(t, 2_000, func(r *rand.Rand) error {
		g := expressible(r)
		res, err := w.run("srt.json", g.export(), Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", g.export(), err)
		}
		c, err := compiled(res.Text, w.home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for range 40 {
			rel := strings.Join(append([]string{pick(r, names...)}, some(r, 3, func() string { return pick(r, names...) })...), "/")
			want := g.at(rel)
			for _, cap := range ir.All.List() {
				permitted := want.write
				if cap == ir.Read || cap == ir.Execute {
					permitted = want.read
				}
				if got := view.Decide(ir.Access{Cap: cap, On: ir.Direct(ir.In(rel))}).Allowed(); got != permitted {
					return fmt.Errorf("%s\n%s\n%s %s: %t, expected %t", g.export(), res.Text, cap, rel, got, permitted)
				}
			}
		}
		return nil
	})
}

// TestRootPatterns: "/**" is the root. The evaluations of srt and of Claude Code took it for another place, so the
// base stayed readable that it denies; in a profile of Codex it became the path ".", and everything did.
func TestRootPatterns(t *testing.T) {
	w := newWorld(t)
	for _, root := range []string{"/", "/**", "/**/**"} {
		text := "default_permissions = \"p\"\n[permissions.p.filesystem]\n\":root\" = \"read\"\n\"" + root + "\" = \"deny\"\n"
		res, err := w.run("config.toml", text, Existing)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(res.Text, "read = true") {
			t.Errorf("%s is denied, and read by\n%s", root, res.Text)
		}
		for name, text := range map[string]string{
			"settings.json": `{"permissions": {"deny": ["Read(/` + root + `)"]}}`,
			"srt.json":      `{"filesystem": {"denyRead": ["` + root + `"], "allowWrite": [], "denyWrite": []}, "network": {"allowedDomains": [], "deniedDomains": []}}`,
		} {
			if root == "/**/**" {
				continue // a pattern there
			}
			res, err := w.run(name, text, Existing)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(res.Text, "read = true") || !strings.Contains(res.Text, `access.base = "none"`) {
				t.Errorf("%s: %s is denied, and read by\n%s", name, root, res.Text)
			}
		}
	}
}
