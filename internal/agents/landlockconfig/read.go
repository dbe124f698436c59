package landlockconfig

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/suggest"
)

var format = importer.Format{
	Name: "landlockconfig", Version: "0.1.0", Files: true, Text: true,
	Looks: func(d *importer.Document) bool {
		root, err := d.Tree()
		return err == nil && slices.ContainsFunc(root.Items, func(n *importer.Tree) bool {
			return slices.Contains([]string{"pathBeneath", "path_beneath", "netPort", "net_port"}, n.Key) ||
				n.Key == "ruleset" && n.Kind == '['
		})
	},
	Read: read,
}

// The rights on files; a mask has a bit for each, by its place here.
var allRights = strings.Fields(`execute write_file read_file read_dir remove_dir remove_file make_char make_dir make_reg make_sock
	make_fifo make_block make_sym refer truncate ioctl_dev`)

type rightSet uint32

// rightSetOf is the mask of some rights.
func rightSetOf(names ...string) rightSet {
	var out rightSet
	for _, n := range names {
		out |= 1 << slices.Index(allRights, n)
	}
	return out
}

// reader is a configuration.
type reader struct {
	t   *importer.Translation
	d   *importer.Document
	abi int
	// handled are the rights on files that are denied but for the rules.
	handled           rightSet
	connects, binds   bool
	variables         map[string][]string
	rules             []pathRule
	connectTo, bindTo []portRule
	model             Model
}

// pathRule is a rule for one parent, as it is written.
type pathRule struct {
	text   string
	rights rightSet
	entry  *importer.Entry
	// others is true where variables make further paths of the entry.
	others bool
}

type portRule struct {
	port  uint16
	entry *importer.Entry
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	c := &reader{t: t, d: docs[0], variables: map[string][]string{}}
	root, err := c.d.Tree()
	if err != nil {
		c.d.Faults = append(c.d.Faults, err)
		return foreign.Unconfined{}
	}
	toml := !strings.HasPrefix(strings.TrimSpace(string(c.d.Text)), "{")
	key := func(name string) string {
		if toml {
			return strings.ToLower(regexp.MustCompile(`[A-Z]`).ReplaceAllString(name, "_$0"))
		}
		return name
	}
	each := func(kind string, read func(i int, n *importer.Tree)) func(*importer.Tree) {
		return func(n *importer.Tree) {
			for i, item := range c.d.Elements(n, kind, '{') {
				read(i, item)
			}
		}
	}
	// The version and the variables come first, wherever they stand: the rules ask for them.
	for _, n := range root.Items {
		switch n.Key {
		case "abi":
			c.version(n)
		case "variable":
			each("variables", c.variable)(n)
		}
	}
	c.d.Members(root, "a configuration", map[string]func(*importer.Tree){
		"abi":              func(*importer.Tree) {},
		"variable":         func(*importer.Tree) {},
		"ruleset":          each("rulesets", func(i int, n *importer.Tree) { c.ruleset(i, n, key) }),
		key("pathBeneath"): each("rules", func(i int, n *importer.Tree) { c.paths(i, n, key) }),
		key("netPort"):     each("rules", func(i int, n *importer.Tree) { c.ports(i, n, key) }),
	})
	if len(root.Items) == 0 || len(root.Items) == 1 && root.Items[0].Key == "abi" {
		c.d.Wrong(root, "an empty configuration")
	}
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the working directory"}
	if c.d.Err() == nil {
		c.files()
		c.network()
	}
	return c.evaluation()
}

// whole reports whether a rule has its members.
func (c *reader) whole(n *importer.Tree, keys ...string) bool {
	for _, key := range keys {
		if !slices.ContainsFunc(n.Items, func(m *importer.Tree) bool { return m.Key == key }) {
			c.d.Wrong(n, "a rule needs %s", strings.Join(keys, " and "))
			return false
		}
	}
	return true
}

// newestABI is the last version whose rights are known.
const newestABI = 6

func (c *reader) version(n *importer.Tree) {
	abi, err := strconv.Atoi(n.Text)
	if n.Kind != '0' || err != nil || abi < 1 || abi > newestABI {
		c.d.Wrong(n, "abi: expected a number from 1 to %d, the last that %s knows", newestABI, c.d.Version)
		return
	}
	c.abi = abi
	c.t.Noted(c.d, n, "abi", n.Text).Become(importer.Carried, "it says what abi.all and the like mean")
}

var variableName = expression.Once{Text: `^[A-Za-z][A-Za-z0-9_]*$`}

func (c *reader) variable(_ int, n *importer.Tree) {
	var name string
	var values []string
	c.d.Members(n, "a variable", map[string]func(*importer.Tree){
		"name": func(n *importer.Tree) { name = n.Text },
		"literal": func(n *importer.Tree) {
			for _, v := range c.d.Elements(n, "texts", '"') {
				values = append(values, v.Text)
			}
		},
	})
	if !variableName.Get().MatchString(name) {
		c.d.Wrong(n, "a variable needs a name of letters, digits and underscores")
		return
	}
	c.variables[name] = append(c.variables[name], values...)
	c.t.Noted(c.d, n, "variable", name).Become(importer.Carried, "its texts stand in the paths")
}

// words reads the names of rights.
func (c *reader) words(n *importer.Tree, known ...string) []string {
	var out []string
	for _, item := range c.d.Elements(n, "rights", '"') {
		switch {
		case !slices.Contains(known, item.Text):
			hint := suggest.Hint(item.Text, known)
			c.d.Wrong(item, "%q is no right in %s; %s", item.Text, c.d.Version, hint)
		case strings.HasPrefix(item.Text, "abi.") && c.abi == 0:
			c.d.Wrong(item, "%s needs abi, which is not there", item.Text)
		default:
			out = append(out, item.Text)
		}
	}
	return out
}

func (c *reader) fsWords(n *importer.Tree) []string {
	return c.words(n, append([]string{"abi.all", "abi.read_execute", "abi.read_write"}, allRights...)...)
}

func (c *reader) netWords(n *importer.Tree) []string {
	return c.words(n, "abi.all", "bind_tcp", "connect_tcp")
}

// mask is the rights that words stand for.
func (c *reader) mask(words []string) rightSet {
	all := rightSetOf(allRights[:13]...)
	if c.abi >= 2 {
		all |= rightSetOf("refer")
	}
	if c.abi >= 3 {
		all |= rightSetOf("truncate")
	}
	if c.abi >= 5 {
		all |= rightSetOf("ioctl_dev")
	}
	var out rightSet
	for _, w := range words {
		switch w {
		case "abi.all":
			out |= all
		case "abi.read_write":
			out |= all &^ rightSetOf("execute")
		case "abi.read_execute":
			out |= all & rightSetOf("execute", "read_file", "read_dir", "refer")
		default:
			out |= rightSetOf(w)
		}
	}
	return out
}

// tcp reports whether words stand for a right on ports.
func (c *reader) tcp(words []string, right string) bool {
	return slices.Contains(words, right) || c.abi >= 4 && slices.Contains(words, "abi.all")
}

func (c *reader) ruleset(i int, n *importer.Tree, key func(string) string) {
	note := func(n *importer.Tree, words []string) {
		c.t.Noted(c.d, n, importer.ElementOf("ruleset", i)+"."+n.Key, strings.Join(words, " ")).Become(importer.Carried,
			"what no rule allows is denied")
	}
	c.d.Members(n, "a ruleset", map[string]func(*importer.Tree){
		key("handledAccessFs"): func(n *importer.Tree) {
			words := c.fsWords(n)
			c.handled |= c.mask(words)
			c.model.HandledFS = append(c.model.HandledFS, words...)
			note(n, words)
		},
		key("handledAccessNet"): func(n *importer.Tree) {
			words := c.netWords(n)
			c.connects, c.binds = c.connects || c.tcp(words, "connect_tcp"), c.binds || c.tcp(words, "bind_tcp")
			c.model.HandledNet = append(c.model.HandledNet, words...)
			note(n, words)
		},
		"scoped": func(n *importer.Tree) {
			words := c.words(n, "abi.all", "abstract_unix_socket", "signal")
			c.t.Noted(c.d, n, importer.ElementOf("ruleset", i)+".scoped",
				strings.Join(words, " ")).Become(importer.Carried, "a tool reaches no process but its own in any case")
		},
	})
	if len(n.Items) == 0 {
		c.d.Wrong(n, "an empty ruleset")
	}
}
