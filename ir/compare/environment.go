package compare

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// variable is a cell of names: a name, or all that begin with a prefix and are not
// named otherwise.
type variable struct {
	text   string
	prefix bool
	sample string
}

func (v variable) String() string {
	if v.prefix {
		return v.text + "*"
	}
	return v.text
}

// environment compares which variables are forwarded.
func (c *comparison) environment() []Difference {
	t := c.names()
	var out []Difference
	for _, r := range t.regions() {
		old, new, _ := c.ask(ir.Forward{Name: r.item.sample})
		d := Difference{
			Resource: ir.Env, Wider: r.label > 0, What: "forward", Where: r.item.String(),
			Example: spell("env", r.item.sample), Old: side(old), New: side(new),
		}
		for _, e := range r.except {
			d.Except = append(d.Except, e.String())
		}
		out = append(out, d)
	}
	return out
}

type nameTree = tree[variable, int]

// names is the partition: all names, below them prefixes and single names.
func (c *comparison) names() *nameTree {
	var cells []variable
	add := func(v variable) {
		if !slices.ContainsFunc(cells, func(o variable) bool { return o.text == v.text && o.prefix == v.prefix }) {
			cells = append(cells, v)
		}
	}
	for _, t := range []*ir.Tool{c.old.Tool, c.new.Tool} {
		for _, r := range t.Env {
			add(variable{text: r.Name, prefix: r.Prefix, sample: r.Name})
		}
	}
	for _, name := range ownVariables {
		add(variable{text: name, sample: name})
	}
	cells = slices.DeleteFunc(cells, c.own)
	// A prefix comes before the names that it covers, and before them where they are equal.
	slices.SortFunc(cells, func(a, b variable) int {
		if d := strings.Compare(a.text, b.text); d != 0 {
			return d
		}
		return btoi(b.prefix) - btoi(a.prefix)
	})
	root := &nameTree{item: variable{prefix: true}}
	path := []*nameTree{root}
	for _, v := range cells {
		for top := path[len(path)-1]; top != root && !strings.HasPrefix(v.text, top.item.text); top = path[len(path)-1] {
			path = path[:len(path)-1]
		}
		if v.prefix && v.text == "" {
			continue
		}
		n := &nameTree{item: v}
		above := path[len(path)-1]
		above.below = append(above.below, n)
		if v.prefix {
			path = append(path, n)
		}
	}
	c.label(root, cells)
	return root
}

// own reports whether accessc sets a variable itself on both sides. Nothing of it differs, and as an exception from a
// prefix it would tell systems apart that have the same difference: each has variables of its own.
func (c *comparison) own(v variable) bool {
	if v.prefix {
		return false
	}
	old, new, _ := c.ask(ir.Forward{Name: v.sample})
	return old.Reason == ir.ReasonOwn && new.Reason == ir.ReasonOwn
}

// ownVariables may be set by accessc itself, whatever the rules on prefixes say.
var ownVariables = []string{
	ir.ContextVariable, ir.DarwinSuffix, "APPDATA", "LOCALAPPDATA", "USERPROFILE", "HOME", "TEMP", "TMP", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
}

// loads sets the label of a variable that loads code apart.
const loads = 2

func (c *comparison) label(t *nameTree, cells []variable) {
	if t.item.prefix {
		t.item.sample = sampleOf(t.item.text, cells)
	}
	if _, new, differs := c.ask(ir.Forward{Name: t.item.sample}); differs {
		t.label = 2*btoi(new.Allowed()) - 1
		if !t.item.prefix && ir.LoaderVariable(t.item.text) {
			t.label *= loads // no prefix stands for it, so it is always told by itself
		}
	}
	for _, b := range t.below {
		c.label(b, cells)
	}
}

// sampleOf returns a name with a prefix that no other cell covers and that loads no code, which
// a prefix never forwards.
func sampleOf(prefix string, cells []variable) string {
	// Where all names with the prefix load code there is none such.
	loader := ir.LoaderVariable(prefix + "\x00")
	for i := range 26 * 26 {
		name := prefix + string(rune('A'+i%26)) + strings.Repeat("X", i/26)
		covered := slices.ContainsFunc(cells, func(v variable) bool {
			return strings.EqualFold(v.text, name) || v.prefix && len(v.text) > len(prefix) &&
				len(name) >= len(v.text) &&
				strings.EqualFold(name[:len(v.text)], v.text)
		})
		if !covered && (loader || !ir.LoaderVariable(name)) &&
			!ir.OwnVariable(strings.ToUpper(name), true, ir.Windows) {
			return name
		}
	}
	return prefix + "_"
}
