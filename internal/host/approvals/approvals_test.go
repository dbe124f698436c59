package approvals

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

var noon = time.Date(2026, 5, 26, 13, 0, 0, 0, time.UTC)

// newPath is where a store may be, in a directory that does not exist.
func newPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "workspaces", "ws-1", "approvals.json")
}

// newStore writes a store and returns its path.
func newStore(t testing.TB, text string) string {
	t.Helper()
	path := newPath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func approve(rulePath, target string) func(*Store) error {
	return func(s *Store) error {
		return s.Approve(Mount{RulePath: rulePath, CanonicalTarget: target, ApprovedAt: noon})
	}
}

func mustUpdate(t testing.TB, path string, change func(*Store) error) {
	t.Helper()
	if aside, err := Update(path, change); err != nil || aside != "" {
		t.Fatal(aside, err)
	}
}

func text(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// beside lists the directory of a store, apart from its lock.
func beside(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != filepath.Base(path)+lockSuffix {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestLookup(t *testing.T) {
	path := newPath(t)
	if s, err := Load(path); err != nil || len(s.Mounts()) != 0 {
		t.Fatalf("a store that does not exist: %v, %v", s, err)
	}
	mustUpdate(t, path, approve("fork", "/code/forks/serde-yaml"))
	mustUpdate(t, path, approve("vendor/openssl", "/code/vendor/openssl"))
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule, target string
		want         Status
		was          string
	}{
		{"fork", "/code/forks/serde-yaml", Approved, "/code/forks/serde-yaml"},
		{"fork", "/etc/passwd", Retargeted, "/code/forks/serde-yaml"},
		{"fork", "/code/forks/serde-yaml/src", Retargeted, "/code/forks/serde-yaml"},
		{"fork", "", Retargeted, "/code/forks/serde-yaml"},
		{"fork/src", "/code/forks/serde-yaml/src", Unknown, ""},
		{"for", "/code/forks/serde-yaml", Unknown, ""},
		{"", "/", Unknown, ""},
		{"vendor/openssl", "/code/vendor/openssl", Approved, "/code/vendor/openssl"},
	} {
		if got, was := s.Lookup(c.rule, c.target); got != c.want || was != c.was {
			t.Errorf("%s → %s: %v %q, want %v %q", c.rule, c.target, got, was, c.want, c.was)
		}
	}
}

// TestText: the file has the documented shape, and a change of one binding leaves the
// rest of it alone.
func TestText(t *testing.T) {
	path := newPath(t)
	mustUpdate(t, path, func(s *Store) error {
		return s.Approve(Mount{"fork", "/code/<fork>", noon, "someone@host"})
	})
	const one = `{
  "mounts": [
    {
      "rule_path": "fork",
      "canonical_target": "/code/<fork>",
      "approved_at": "2026-05-26T13:00:00Z",
      "approved_by": "someone@host"
    }
  ]
}
`
	if s, err := Load(path); err != nil || s.Mounts()[0].ApprovedBy != "someone@host" {
		t.Error("who approved is lost:", err)
	}
	if diff := cmp.Diff(one, text(t, path)); diff != "" {
		t.Error(diff)
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		if info, _ := os.Stat(p); info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
	}
}

func TestSiblingsSurvive(t *testing.T) {
	path := newStore(t, `{"plugins": {"b": 1, "a": [1.50, 1e3]},
		"mounts": [{"canonical_target": "/x", "expires": "never", "rule_path": "x"}, {"rule_path": "y", "canonical_target": "/y"}],
		"version": 7, "version": 8}`)
	mustUpdate(t, path, approve("y", "/z"))
	const want = `{
  "plugins": {
    "b": 1,
    "a": [
      1.50,
      1e3
    ]
  },
  "mounts": [
    {
      "canonical_target": "/x",
      "expires": "never",
      "rule_path": "x"
    },
    {
      "rule_path": "y",
      "canonical_target": "/z",
      "approved_at": "2026-05-26T13:00:00Z"
    }
  ],
  "version": 7,
  "version": 8
}
`
	if diff := cmp.Diff(want, text(t, path)); diff != "" {
		t.Error(diff)
	}
}

// TestNothingToWrite: approving again or forgetting a missing approval leaves the file as it
// is, its time and formatting included.
func TestNothingToWrite(t *testing.T) {
	path := newPath(t)
	mustUpdate(t, path, func(s *Store) error { s.Forget("fork"); return nil })
	if _, err := os.Lstat(path); err == nil {
		t.Error("an empty store was written")
	}
	mustUpdate(t, path, approve("fork", "/code"))
	before, _ := os.Stat(path)
	mustUpdate(t, path, func(s *Store) error {
		return s.Approve(Mount{"fork", "/code", noon.Add(time.Hour), "other@host"})
	})
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("the store was written anew")
	}
}

func TestForget(t *testing.T) {
	path := newStore(t, `{"mounts": [{"rule_path":"a","canonical_target":"/1"},{"rule_path":"a","canonical_target":"/2"},{"rule_path":"b","canonical_target":"/3"}]}`)
	s, _ := Load(path)
	if m, ok := s.Mount("a"); !ok || m.CanonicalTarget != "/2" {
		t.Errorf("of two entries the last counts, not %v", m)
	}
	var had, again bool
	mustUpdate(t, path, func(s *Store) error {
		had, again = s.Forget("a"), s.Forget("a")
		return nil
	})
	if !had || again {
		t.Error(had, again)
	}
	if s, _ = Load(path); len(s.Mounts()) != 1 {
		t.Error(s.Mounts())
	}
}

func TestApproveRefuses(t *testing.T) {
	for _, m := range []Mount{
		{RulePath: "", CanonicalTarget: "/x"},
		{RulePath: "fork", CanonicalTarget: ""},
		{RulePath: "fork", CanonicalTarget: "x"},
		{RulePath: "fork", CanonicalTarget: "/x\xff"},
		{RulePath: "fork\xff", CanonicalTarget: "/x"},
	} {
		var s Store
		if err := s.Approve(m); err == nil || len(s.Mounts()) > 0 {
			t.Errorf("%q was approved", m)
		}
	}
}

// TestStopped: an error of the caller leaves no trace.
func TestStopped(t *testing.T) {
	path := newStore(t, `{}`)
	stop := errors.New("no")
	if _, err := Update(path, func(s *Store) error {
		return errors.Join(approve("a", "/a")(s), stop)
	}); !errors.Is(err, stop) {
		t.Error(err)
	}
	if text(t, path) != `{}` {
		t.Error(text(t, path))
	}
}

// TestMalformed: a store that cannot be understood approves nothing, and is kept when a store
// has to be written.
func TestMalformed(t *testing.T) {
	for name, broken := range map[string]string{
		"empty":          "",
		"cut off":        `{"mounts": [{"rule_path": "fork", "canonical_target": "/co`,
		"not an object":  `[]`,
		"twice":          `{"mounts": [], "mounts": []}`,
		"trailing":       `{"mounts": []} {}`,
		"wrong type":     `{"mounts": {"fork": "/code"}}`,
		"wrong item":     `{"mounts": ["fork"]}`,
		"no path":        `{"mounts": [{"canonical_target": "/code"}]}`,
		"no target":      `{"mounts": [{"rule_path": "fork"}]}`,
		"null target":    `{"mounts": [{"rule_path": "fork", "canonical_target": null}]}`,
		"not UTF-8":      "{\"mounts\": [], \"x\": \"\xff\"}",
		"NUL":            "{\"mounts\": []}\x00",
		"deep":           `{"x": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
		"large":          `{"x": "` + strings.Repeat("x", MaxSize) + `"}`,
		"large nonsense": strings.Repeat("x", MaxSize+1),
	} {
		t.Run(name, func(t *testing.T) {
			path := newStore(t, broken)
			s, err := Load(path)
			if err == nil || len(s.Mounts()) > 0 {
				t.Fatalf("loaded as %v, %v", s.Mounts(), err)
			}
			if len(err.Error()) > 200 {
				t.Errorf("the message is too long: %.100s…", err)
			}
			aside, err := Update(path, approve("fork", "/code"))
			if err != nil || aside != path+".malformed" || text(t, aside) != broken {
				t.Fatalf("it was not kept: %q, %v", aside, err)
			}
			if s, err = Load(path); err != nil || len(s.Mounts()) != 1 {
				t.Errorf("%v, %v", s.Mounts(), err)
			}
		})
	}
}

// TestAsideNeverOverwrites: a second malformed store is kept beside the first.
func TestAsideNeverOverwrites(t *testing.T) {
	path := newStore(t, "one")
	for _, next := range []string{"two", "three"} {
		if aside, err := Update(path, approve("fork", "/code")); err != nil || aside == "" {
			t.Fatal(aside, err)
		}
		if err := os.WriteFile(path, []byte(next), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if one, two := text(t, path+".malformed"), text(t, path+".malformed-2"); one != "one" || two != "two" {
		t.Error(one, two)
	}
}

// TestFull: a store that would become too large to be read is not written.
func TestFull(t *testing.T) {
	path := newStore(t, `{}`)
	_, err := Update(path, approve("fork", "/"+strings.Repeat("x", MaxSize)))
	if err == nil || text(t, path) != `{}` {
		t.Error(err)
	}
}

// TestUpdatesLikeAMap: any sequence of updates leaves the same content as in a map.
func TestUpdatesLikeAMap(t *testing.T) {
	path := newPath(t)
	n := 0
	irtest.Check(t, 400, 1, func(r *rapid.T) {
		n++
		path := filepath.Join(filepath.Dir(path), "p"+time.Duration(n).String(), "approvals.json")
		want := map[string]string{}
		for _, step := range rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[abc"<é]/?[ab]?`), 2, 2), 1, 6).Draw(r, "steps") {
			rule, target := strings.TrimPrefix(step[0], "/"), "/"+step[1]
			forget := rapid.Bool().Draw(r, "forget")
			if _, err := Update(path, func(s *Store) error {
				if forget {
					s.Forget(rule)
					return nil
				}
				return s.Approve(Mount{rule, target, noon, ""})
			}); err != nil {
				r.Fatal(err)
			}
			if forget {
				delete(want, rule)
			} else {
				want[rule] = target
			}
		}
		s, err := Load(path)
		if err != nil {
			r.Fatal(err)
		}
		got := map[string]string{}
		for _, m := range s.Mounts() {
			got[m.RulePath] = m.CanonicalTarget
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatal(diff)
		}
	})
}

// FuzzParse: no text makes the parser panic, and accepted text is written such that it means
// the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mounts":[{"rule_path":"fork","canonical_target":"/code","approved_at":"2026-05-26T13:00:00Z"}],"x":{}}`))
	f.Add([]byte(`{"x":1,"x":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := parse(data)
		if err != nil {
			return
		}
		out, err := d.text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse(out)
		if err != nil {
			t.Fatalf("%v: %q", err, out)
		}
		if diff := cmp.Diff(Store{d}.Mounts(), Store{again}.Mounts()); diff != "" {
			t.Error(diff)
		}
		if twice, _ := again.text(); string(twice) != string(out) {
			t.Errorf("%q, then %q", out, twice)
		}
	})
}
