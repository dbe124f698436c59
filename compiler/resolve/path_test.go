package resolve_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// tree lays out a workspace with links of every kind.
func tree(t *testing.T) (*resolve.Resolver, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	for _, d := range []string{"ws/src/deep", "ws/docs", "out/fork/src"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(ws, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"inside": "src", "chain": "inside/deep", "up": "src/../docs", "abs": filepath.Join(ws, "docs"), "fork": filepath.Join(dir, "out/fork"),
		"dangling": "nothing/here", "danglingout": "../out/none", "loop": "loop2", "loop2": "loop", "src/back": "..", "src/etc": "../../out",
		"out/fork/nested": "",
	} {
		if strings.HasPrefix(link, "out/") {
			continue
		}
		if err := os.Symlink(target, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "out"), filepath.Join(dir, "out/fork/nested")); err != nil {
		t.Fatal(err)
	}
	r, err := resolve.New(ws, resolve.Through(hostview.Now))
	if err != nil {
		t.Fatal(err)
	}
	return r, filepath.ToSlash(dir)
}

// TestRule covers the targets of rule paths, and texts that are no rule path.
func TestRule(t *testing.T) {
	r, dir := tree(t)
	for in, want := range map[string]string{
		".": "", "./": "", "src": "src", "src/": "src", "src//deep/.": "src/deep", "src/../docs": "docs", "inside": "src",
		"inside/x/y": "src/x/y", "chain/new": "src/deep/new", "up": "docs", "abs/x": "docs/x", "dangling": "nothing/here",
		"dangling/x": "nothing/here/x", "src/back/docs": "docs", "file/x": "file/x", "new/../new2": "new2", "(group)/[id]": "(group)/[id]",
	} {
		got, err := r.Rule(in)
		if err != nil || !got.Inside || got.At != ir.In(want) {
			t.Errorf("%q: got %+v, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"fork": "/out/fork", "fork/src": "/out/fork/src", "src/etc/x": "/out/x", "danglingout": "/out/none", "fork/nested": "/out",
	} {
		got, err := r.Rule(in)
		if err != nil || got.Inside || got.Abs != dir+want {
			t.Errorf("%q: got %+v, %v; want %q outside", in, got, err, want)
		}
	}
	var text *resolve.TextError
	for in, want := range map[string]error{
		"": resolve.ErrEmpty, "c:": resolve.ErrAbsolute, "..": resolve.ErrLeaves, "~/..": resolve.ErrLeavesHome, "~/x": resolve.ErrNoHome,
		"~x": resolve.ErrUser, "$HOME/x": resolve.ErrVariable, "${home}": resolve.ErrVariable,
		"../ws": resolve.ErrLeaves, "a/../..": resolve.ErrLeaves, "loop": resolve.ErrLoop, "loop/x": resolve.ErrLoop,
	} {
		if _, err := r.Rule(in); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", in, err, want)
		}
	}
	for _, in := range []string{"a\nb", "a\x00b", `a\b`, `a"b`, "a\xff", "a\u2028b", strings.Repeat("a/", 500), "a\x1b[31m"} {
		if _, err := r.Rule(in); !errors.As(err, &text) {
			t.Errorf("%q: got %v, want a text error", in, err)
		}
	}
}

// TestRuleOutside: paths of the home and absolute paths are collapsed by themselves; a "~" further
// on in a path is a name.
func TestRuleOutside(t *testing.T) {
	r, dir := tree(t)
	r.Home = dir + "/out"
	for in, want := range map[string][2]string{
		"~": {"~", "/out"}, "~/": {"~", "/out"}, "~/fork/./src": {"~/fork/src", "/out/fork/src"}, "~//a/../fork": {"~/fork", "/out/fork"},
		"~/none/x": {"~/none/x", "/out/none/x"}, "~/fork/nested/x": {"~/fork/nested/x", "/out/x"}, dir + "/out/../out/fork": {dir + "/out/fork", "/out/fork"},
	} {
		got, err := r.Rule(in)
		if err != nil || !got.Direct || got.Inside || got.Lexical != want[0] || got.Abs != dir+want[1] {
			t.Errorf("%q: got %+v, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"./~/x", "src/../~/x", "./$x", "./~x"} {
		if got, err := r.Rule(in); err != nil || got.Direct || !got.Inside {
			t.Errorf("%q: got %+v, %v", in, got, err)
		}
	}
}

// TestAskedOutside: a question about a place that a rule names by itself is evaluated below the
// rule's target, and any other about the home or an absolute path is refused without a look.
func TestAskedOutside(t *testing.T) {
	r, dir := tree(t)
	r.Home = "/home/u"
	b := &ir.Bindings{Workspace: r.Root, External: map[string]string{"~/f": dir + "/out/fork", "~/f/n": dir + "/out", dir + "/ws2": "/elsewhere", "src": "/no"}}
	ext := func(name, p string) ir.Location {
		return ir.Location{Root: ir.Root{Kind: ir.External, Name: name}, Path: p}
	}
	for _, c := range []struct {
		in, lexical string
		at          ir.Location
		fault       ir.Reason
	}{
		{"~/f/src/a", "~/f/src/a", ext("~/f", "src/a"), 0}, {"~/f/n/x", "~/f/n/x", ext("~/f/n", "x"), 0},
		{"~/f/nested/x", "~/f/nested/x", ext("~/f/n", "x"), 0}, {"/home/u/f/src", "~/f/src", ext("~/f", "src"), 0},
		{dir + "/ws2/x", dir + "/ws2/x", ext(dir+"/ws2", "x"), 0}, {"./~/f/x", "./~/f/x", ir.In("~/f/x"), 0},
		{"~/x", "", ir.Location{}, ir.ReasonOutside}, {"~/f/../x", "", ir.Location{}, ir.ReasonOutside}, {"~", "", ir.Location{}, ir.ReasonOutside},
		{"/home/u/x", "", ir.Location{}, ir.ReasonAbsolute}, {"/src/x", "", ir.Location{}, ir.ReasonAbsolute}, {"~/../f/x", "", ir.Location{}, ir.ReasonOutside},
	} {
		got, _, err := r.Asked(c.in, true, b)
		if err != nil || got.At != c.at || got.Fault != c.fault || got.Lexical != c.lexical {
			t.Errorf("%q: got %+v, %v; want %+v", c.in, got, err, c)
		}
	}
}

// TestAsked: targets as a tool's arguments, following the last component or not.
func TestAsked(t *testing.T) {
	r, dir := tree(t)
	b := &ir.Bindings{Workspace: r.Root, External: map[string]string{"fork": dir + "/out/fork"}}
	ext := func(p string) ir.Location {
		return ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}, Path: p}
	}
	tests := []struct {
		in     string
		follow bool
		at     ir.Location
		fault  ir.Reason
		kind   ir.NodeKind
	}{
		{"src", true, ir.In("src"), 0, ir.Dir}, {"inside", true, ir.In("src"), 0, ir.Dir}, {"inside", false, ir.In("inside"), 0, ir.File},
		{"inside/new", false, ir.In("src/new"), 0, ir.Absent}, {"dangling", true, ir.In("nothing/here"), 0, ir.Absent},
		{"dangling", false, ir.In("dangling"), 0, ir.File}, {"fork/src/a", true, ext("src/a"), 0, ir.Absent}, {"fork", true, ext(""), 0, ir.Dir},
		{"fork", false, ir.In("fork"), 0, ir.File}, {"fork/nested/x", true, ir.Sys(strings.TrimPrefix(dir, "/") + "/out/x"), 0, ir.Absent},
		{"/etc/passwd", true, ir.Location{}, ir.ReasonAbsolute, ir.Unknown}, {"../x", true, ir.Location{}, ir.ReasonOutside, ir.Unknown},
		{"loop", true, ir.Location{}, ir.ReasonLoop, ir.Unknown}, {"loop", false, ir.In("loop"), 0, ir.File}, {".", false, ir.In(""), 0, ir.Dir},
		{"src/back/file", true, ir.In("file"), 0, ir.File},
	}
	for _, tt := range tests {
		got, kind, err := r.Asked(tt.in, tt.follow, b)
		if err != nil || got.At != tt.at || got.Fault != tt.fault || kind != tt.kind {
			t.Errorf("%q, follow %v: got %v (%v, kind %d), %v; want %v (%v, kind %d)",
				tt.in, tt.follow, got.At, got.Fault, kind, err, tt.at, tt.fault, tt.kind)
		}
	}
}

// TestReplacedWhileRead: a link that becomes a file between lstat(2) and readlink(2) is read
// again. It used to be "invalid argument".
func TestReplacedWhileRead(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(n string) string { return filepath.Join(dir, n) }
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%2 == 0 {
				_ = os.Symlink("target", at("new"))
			} else {
				_ = os.WriteFile(at("new"), nil, 0o644)
			}
			_ = os.Rename(at("new"), at("name"))
		}
	}()
	defer func() { close(stop); <-ended }()
	for range irtest.Rounds(t, 50_000) {
		found, err := resolve.Through(hostview.Now).Follow(filepath.ToSlash(at("name")))
		if err != nil || found.Abs != filepath.ToSlash(at("name")) && found.Abs != filepath.ToSlash(at("target")) {
			t.Fatalf("got %+v, %v", found, err)
		}
	}
}

// TestFollowAgainstKernel: on random trees of links, Follow ends where the kernel's
// own resolution ends, for every path that the kernel resolves.
func TestFollowAgainstKernel(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	irtest.Check(t, 300, 20, func(rt *rapid.T) {
		n++
		// A link may lead two directories up, and must not stand in the way of another run's.
		dir := filepath.Join(base, strconv.Itoa(n), "up", "up", "ws")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 10).Draw(rt, "nodes") {
			p := filepath.Join(dir, irtest.Path(rt, irtest.Plain, 3))
			if rapid.Bool().Draw(rt, "link") {
				target := rapid.SampledFrom([]string{"", "../", "../../", "./"}).Draw(rt, "prefix") + irtest.Path(rt, irtest.Plain, 2)
				if target != "" {
					_ = os.Symlink(target, p)
				}
				continue
			}
			_ = os.MkdirAll(p, 0o755)
		}
		disk := resolve.Through(hostview.Now)
		for range 20 {
			p := path.Join(filepath.ToSlash(dir), irtest.Path(rt, irtest.Plain, 4))
			want, err := filepath.EvalSymlinks(p)
			got, gotErr := disk.Follow(p)
			if err == nil && (gotErr != nil || got.Abs != filepath.ToSlash(want) || got.Kind == ir.Absent) {
				rt.Fatalf("%s: got %+v, %v; the kernel says %s", p, got, gotErr, want)
			}
			if err != nil && gotErr == nil && got.Kind != ir.Absent {
				rt.Fatalf("%s: got %+v; the kernel says %v", p, got, err)
			}
		}
	})
}

// FuzzLexical: an accepted path is relative, canonical and stays inside.
func FuzzLexical(f *testing.F) {
	for _, s := range []string{".", "a/b", "../a", "/a", "a/../../b", `a\b`, "C:/a", "a//b/./c/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := resolve.Lexical(s)
		if err != nil || resolve.CheckText(s) != nil {
			return
		}
		for _, c := range strings.Split(got, "/") {
			if c == ".." || c == "." || c == "" && got != "" {
				t.Fatalf("%q became %q", s, got)
			}
		}
		if again, err := resolve.Lexical("./" + got); err != nil || again != got {
			t.Fatalf("%q became %q, which becomes %q (%v)", s, got, again, err)
		}
	})
}

// TestQuestions: the forms that can be asked, and those that cannot.
func TestQuestions(t *testing.T) {
	for _, ok := range []string{"read a", "rename a b", "run git", "run git a b c", "env HOME", "connect https://a", "copy a b", "exchange a b", "symlink a"} {
		if _, err := resolve.ParseQuestion(strings.Fields(ok)); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "read", "read a b", "rename a", "symlink a b", "run", "fly a", "env"} {
		if q, err := resolve.ParseQuestion(strings.Fields(bad)); err == nil {
			t.Errorf("%q was accepted: %+v", bad, q)
		}
	}
	for _, v := range resolve.Verbs() {
		words := strings.Fields(strings.Replace(v, "[METHOD]", "GET", 1))
		if _, err := resolve.ParseQuestion(words[:len(words):len(words)]); err != nil && !strings.HasPrefix(v, "run") {
			t.Errorf("the usage of %s: %v", v, err)
		}
	}
}
