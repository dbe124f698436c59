package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/files/rmtree"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// packages is the directory of the published programs that tests run, which task npm installs.
const packages = ".cache/npm/node_modules/"

// Published is the program of an npm package, or the test is skipped by its name. up leads to the
// directory of the repository.
func Published(t *testing.T, up, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(up, packages, pattern))
	if err != nil || len(found) == 0 {
		t.Skipf("needs %s in .cache/npm: task npm", pattern)
	}
	abs, err := filepath.Abs(found[0])
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// Tree is a home with a workspace that has files, for programs that are asked about real ones.
type Tree struct {
	Home, Dir string
	t         *testing.T
}

// there are the files of a world.
var there = []string{
	"ws/f", "ws/a/f", "ws/a/b/f", "ws/a/ab/f", "ws/b/f", "ws/b/a/f", "ws/ab/f", "ws/ab/x y/f", "ws/[ab]/f", "ws/a*/f",
	`ws/b\c/f`, "ws/ü/f", "ws/{a,b}/f",
	"x/f", "x/a/f", "x/b/f",
}

// treeNames are those of its directories and of files that it could have.
var treeNames = []string{"a", "b", "ab", "x y", "[ab]", "a*", `b\c`, "ü", "{a,b}", "f", "absent"}

// NewTree makes one below a directory.
func NewTree(t *testing.T, dir string) *Tree {
	t.Helper()
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &Tree{Home: home, Dir: home + "/ws", t: t}
	for _, name := range there {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.restore()
	return w
}

// restore writes the files as they were, and removes those that were made.
func (w *Tree) restore() {
	for _, name := range there {
		file := filepath.Join(w.Home, name)
		for _, file := range []string{file, filepath.Join(filepath.Dir(file), mark)} {
			if err := os.WriteFile(file, []byte("here\n"), 0o644); err != nil {
				w.t.Fatal(err)
			}
		}
		if err := rmtree.Remove(filepath.Join(filepath.Dir(file), made)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// made is the name of the files that the script makes. By mark a directory's own list of names is
// known: one that a program has put in its place has only the names of places that it opens.
const made, mark = "zz-made", "zz-mark"

// Tries is a script that reads and writes each path of its arguments, and says which ones it could
// read. Which ones it could write is seen afterwards: a program may let it write to files that
// no other process sees.
const Tries = `for f do
	if [ -d "$f" ]; then
		case "$(ls "$f" 2>/dev/null)" in *zz-mark*) printf 'r %s\n' "$f";; esac
		(echo x > "$f/zz-made") 2>/dev/null
	else
		case "$(cat "$f" 2>/dev/null)" in *here*) printf 'r %s\n' "$f";; esac
		(echo x >> "$f") 2>/dev/null
	fi
done
echo done
`

// Asked are the paths that programs are asked about: all directories and their files.
func (w *Tree) Asked() []string {
	var out []string
	for _, name := range there {
		file := filepath.Join(w.Home, name)
		for _, abs := range []string{filepath.Dir(file), file} {
			if !slices.Contains(out, abs) {
				out = append(out, abs)
			}
		}
	}
	return out
}

// Policy is the tool of a number for the world, and where its roots are.
func (w *Tree) Policy(number int) (*ir.Tool, ir.Bindings) {
	var b ir.Bindings
	tool := rapid.Custom(func(t *rapid.T) (tool *ir.Tool) {
		tool, b = w.draw(t)
		return tool
	}).Example(number)
	return tool, b
}

func (w *Tree) draw(t *rapid.T) (*ir.Tool, ir.Bindings) {
	tool := ir.NewTool("t")
	tool.Home, tool.Protects, tool.FS = ir.HomeReal, false, irtest.FSRules(t, treeNames, 6)
	for i := range tool.FS {
		if rapid.Bool().Draw(t, "usual") {
			tool.FS[i].Caps = rapid.SampledFrom([]ir.CapSet{ir.All, ir.Caps(ir.Read, ir.Execute), ir.Caps(ir.Read), 0,
				ir.Write.With(ir.Read)}).Draw(t, "caps")
		}
	}
	b := ir.Bindings{Workspace: w.Dir}
	if rapid.Bool().Draw(t, "outside") {
		tool.FS = append(tool.FS, irtest.Outside(t, treeNames[:3])...)
		irtest.Bind(&b, tool, w.Home+"/x")
	}
	irtest.ByName(t, tool, treeNames[:3], 1)
	return tool, b
}

// Compare fails on an access that worked, or did not, against the policy, and that no row of the
// ledger states. said are the lines of the script.
func (w *Tree) Compare(t *testing.T, c *Case, said []string, seen map[string]int) {
	defer w.restore()
	for _, abs := range w.Asked() {
		info, err := os.Stat(abs)
		if err != nil {
			t.Fatal(err)
		}
		capability, target := ir.Update, abs
		wrote := !info.IsDir() && info.Size() != int64(len("here\n"))
		if info.IsDir() {
			capability, target = ir.Create, abs+"/"+made
			_, err := os.Lstat(target)
			wrote = err == nil
		}
		c.asked(t, seen, ir.Read, abs, slices.Contains(said, "r "+abs))
		c.asked(t, seen, capability, target, wrote)
	}
}

// asked compares one access.
func (c *Case) asked(t *testing.T, seen map[string]int, capability ir.Capability, abs string, does bool) {
	v := c.View.Decide(ir.Access{Cap: capability, On: ir.Direct(c.Bind.Locate(abs)), Name: ir.NameFile})
	if v.Reason != ir.ReasonRule && v.Reason != ir.ReasonDefault {
		return // a root or a pin
	}
	c.check(t, seen, fmt.Sprintf("%s %s", capability, strings.TrimPrefix(abs, c.Bind.Workspace)), ir.FS, c.rule(v),
		ir.AspectOf(capability), v.Allowed(), does)
}
