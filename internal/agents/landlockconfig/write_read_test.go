package landlockconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

var errConfig = errors.New("not a usable configuration")

// parse reads a configuration that this package wrote.
func parse(data []byte) (*Config, error) {
	var c Config
	if err := strictjson.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	if c.ABI != ABI || len(c.Ruleset) != 1 {
		return nil, fmt.Errorf("%w: abi %d, %d rulesets", errConfig, c.ABI, len(c.Ruleset))
	}
	return &c, nil
}

// stated reads the rows that a configuration of this package carries.
func stated(c *Config) (ir.Ledger, error) {
	i := slices.IndexFunc(c.Variable, func(v Variable) bool { return v.Name == documentName })
	if i < 0 || len(c.Variable[i].Literal) == 0 {
		return nil, fmt.Errorf("no variable %s", documentName)
	}
	var rows []backends.Row
	for _, text := range c.Variable[i].Literal[1:] {
		var r backends.Row
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return backends.Ledger(rows)
}

// kernel evaluates a configuration as Landlock does at a version of its ABI
// (Documentation/userspace-api/landlock.rst): a right that the version does not know is open.
type kernel struct {
	abi    int
	places map[string][]string
	config *Config
}

var abiOf = map[string]int{"refer": 2, "truncate": 3, "ioctl_dev": 5}

// load fills the variables of a configuration with directories.
func load(c *Config, abi int, variables map[string]string) *kernel {
	k := &kernel{abi, map[string][]string{}, c}
	for _, p := range c.PathBeneath {
		for _, parent := range p.Parent {
			text, ok := fill(parent, variables)
			if ok {
				text = path.Clean(text)
				k.places[text] = append(k.places[text], p.Access...)
			}
		}
	}
	return k
}

// fill replaces the variables of a path, and reports whether all have a text.
func fill(text string, variables map[string]string) (string, bool) {
	var b strings.Builder
	for text != "" {
		before, rest, dollar := strings.Cut(text, "$")
		b.WriteString(before)
		text = rest
		switch {
		case !dollar:
		case strings.HasPrefix(rest, "{"):
			name, behind, _ := strings.Cut(rest[1:], "}")
			value, ok := variables[name]
			if !ok {
				return "", false
			}
			b.WriteString(value)
			text = behind
		default:
			b.WriteByte('$')
			text = strings.TrimPrefix(rest, "$")
		}
	}
	return b.String(), true
}

// has reports whether a right is open at a path.
func (k *kernel) has(abs, right string) bool {
	if k.abi < abiOf[right] {
		return right != "refer" // without it nothing moves to another directory
	}
	for at := abs; ; at = path.Dir(at) {
		if slices.Contains(k.places[at], right) {
			return true
		}
		if at == "/" {
			return false
		}
	}
}

var makes = []string{"make_dir", "make_reg", "make_sock", "make_fifo", "make_sym"}

// permits reports whether the whole of a capability is open at a path, and some of it.
func (k *kernel) permits(c ir.Capability, abs string) (all, some bool) {
	count := func(at string, rights ...string) (n int) {
		for _, r := range rights {
			if k.has(at, r) {
				n++
			}
		}
		return n
	}
	switch n := 0; c {
	case ir.Read:
		n = count(abs, "read_file", "read_dir")
		return n == 2, n > 0
	case ir.Execute:
		n = count(abs, "execute", "read_file")
		return n == 2, n == 2
	case ir.Update:
		n = count(abs, "write_file", "truncate")
		return n == 2, n > 0
	case ir.Create:
		n = count(path.Dir(abs), makes...)
		return n == len(makes) && k.has(abs, "write_file"), n > 0
	case ir.Delete:
		n = count(path.Dir(abs), "remove_file", "remove_dir")
		return n == 2, n > 0
	default:
		return false, false
	}
}

var fileRights = []string{"execute", "write_file", "read_file", "truncate", "ioctl_dev"}

// renames reports whether a name may move to an absent name, links whether a file may get a further name.
func (k *kernel) renames(from, to string, dir bool) bool {
	remove := "remove_file"
	if dir {
		remove = "remove_dir"
	}
	return k.has(path.Dir(from), remove) && k.links(from, to, dir)
}

func (k *kernel) links(from, to string, dir bool) bool {
	here, there, adds := path.Dir(from), path.Dir(to), "make_reg"
	if dir {
		adds = "make_dir"
	}
	if here == there {
		return k.has(there, adds)
	}
	gains := slices.ContainsFunc(rights, func(r string) bool {
		return k.abi >= abiOf[r] && (dir || slices.Contains(fileRights, r)) && k.has(there, r) && !k.has(from, r)
	})
	return k.has(there, adds) && k.has(here, "refer") && k.has(there, "refer") && !gains
}

var rights = append(append([]string{"read_dir", "remove_dir", "remove_file", "make_char", "make_block", "refer"}, makes...), fileRights...)

// model is the configuration as the evaluation knows it that imports are proved with.
func model(c *Config, variables map[string]string) *Model {
	yes := func(string) bool { return true }
	m := &Model{
		Host: foreign.Host{Dir: "/elsewhere", Exists: yes, Follow: func(abs string) string { return abs }}, IsDir: yes, ABI: c.ABI,
		HandledFS: c.Ruleset[0].HandledFS, HandledNet: c.Ruleset[0].HandledNet, Variables: map[string][]string{},
	}
	for _, v := range c.Variable {
		m.Variables[v.Name] = v.Literal
	}
	for name, dir := range variables {
		m.Variables[name] = []string{dir}
	}
	for _, p := range c.PathBeneath {
		m.Paths = append(m.Paths, PathsRule{Access: p.Access, Parents: p.Parent})
	}
	for _, p := range c.NetPort {
		m.Ports = append(m.Ports, PortsRule{Access: p.Access, Ports: p.Port})
	}
	return m
}
