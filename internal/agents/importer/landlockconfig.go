package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/suggest"
)

var landlockConfig = format{
	name: "landlockconfig", version: "0.1.0", files: true, text: true,
	looks: func(d *document) bool {
		root, err := d.tree()
		return err == nil && slices.ContainsFunc(root.items, func(n *tree) bool {
			return slices.Contains([]string{"pathBeneath", "path_beneath", "netPort", "net_port"}, n.key) || n.key == "ruleset" && n.kind == '['
		})
	},
	read: readLandlockConfig,
}

// The rights on files; a mask has a bit for each, by its place here.
var landlockRights = strings.Fields(`execute write_file read_file read_dir remove_dir remove_file make_char make_dir make_reg make_sock
	make_fifo make_block make_sym refer truncate ioctl_dev`)

type rights uint32

// rightsOf is the mask of some rights.
func rightsOf(names ...string) rights {
	var out rights
	for _, n := range names {
		out |= 1 << slices.Index(landlockRights, n)
	}
	return out
}

// landlock is a configuration.
type landlock struct {
	t   *translation
	d   *document
	abi int
	// handled are the rights on files that are denied but for the rules.
	handled           rights
	connects, binds   bool
	variables         map[string][]string
	rules             []landlockRule
	connectTo, bindTo []landlockPort
	model             foreign.LandlockConfig
}

// landlockRule is a rule for one parent, as it is written.
type landlockRule struct {
	text   string
	rights rights
	entry  *Entry
	// others is true where variables make further paths of the entry.
	others bool
}

type landlockPort struct {
	port  uint16
	entry *Entry
}

func readLandlockConfig(t *translation, docs []*document) foreign.Policy {
	c := &landlock{t: t, d: docs[0], variables: map[string][]string{}}
	root, err := c.d.tree()
	if err != nil {
		c.d.faults = append(c.d.faults, err)
		return foreign.Unconfined{}
	}
	toml := !strings.HasPrefix(strings.TrimSpace(string(c.d.text)), "{")
	key := func(name string) string {
		if toml {
			return strings.ToLower(regexp.MustCompile(`[A-Z]`).ReplaceAllString(name, "_$0"))
		}
		return name
	}
	each := func(kind string, read func(i int, n *tree)) func(*tree) {
		return func(n *tree) {
			for i, item := range c.d.elements(n, kind, '{') {
				read(i, item)
			}
		}
	}
	// The version and the variables come first, wherever they stand: the rules ask for them.
	for _, n := range root.items {
		switch n.key {
		case "abi":
			c.version(n)
		case "variable":
			each("variables", c.variable)(n)
		}
	}
	c.d.members(root, "a configuration", map[string]func(*tree){
		"abi":              func(*tree) {},
		"variable":         func(*tree) {},
		"ruleset":          each("rulesets", func(i int, n *tree) { c.ruleset(i, n, key) }),
		key("pathBeneath"): each("rules", func(i int, n *tree) { c.paths(i, n, key) }),
		key("netPort"):     each("rules", func(i int, n *tree) { c.ports(i, n, key) }),
	})
	if len(root.items) == 0 || len(root.items) == 1 && root.items[0].key == "abi" {
		c.d.wrong(root, "an empty configuration")
	}
	t.draft.confines, t.own = true, &Entry{Key: "the working directory"}
	if c.d.err() == nil {
		c.files()
		c.network()
	}
	return c.evaluation()
}

// whole reports whether a rule has its members.
func (c *landlock) whole(n *tree, keys ...string) bool {
	for _, key := range keys {
		if !slices.ContainsFunc(n.items, func(m *tree) bool { return m.key == key }) {
			c.d.wrong(n, "a rule needs %s", strings.Join(keys, " and "))
			return false
		}
	}
	return true
}

// maxLandlockABI is the last version whose rights are known.
const maxLandlockABI = 6

func (c *landlock) version(n *tree) {
	abi, err := strconv.Atoi(n.text)
	if n.kind != '0' || err != nil || abi < 1 || abi > maxLandlockABI {
		c.d.wrong(n, "abi: expected a number from 1 to %d, the last that %s knows", maxLandlockABI, c.d.version)
		return
	}
	c.abi = abi
	c.t.noted(c.d, n, "abi", n.text).become(Carried, "it says what abi.all and the like mean")
}

var variableName = expression.Once{Text: `^[A-Za-z][A-Za-z0-9_]*$`}

func (c *landlock) variable(_ int, n *tree) {
	var name string
	var values []string
	c.d.members(n, "a variable", map[string]func(*tree){
		"name": func(n *tree) { name = n.text },
		"literal": func(n *tree) {
			for _, v := range c.d.elements(n, "texts", '"') {
				values = append(values, v.text)
			}
		},
	})
	if !variableName.Get().MatchString(name) {
		c.d.wrong(n, "a variable needs a name of letters, digits and underscores")
		return
	}
	c.variables[name] = append(c.variables[name], values...)
	c.t.noted(c.d, n, "variable", name).become(Carried, "its texts stand in the paths")
}

// words reads the names of rights.
func (c *landlock) words(n *tree, known ...string) []string {
	var out []string
	for _, item := range c.d.elements(n, "rights", '"') {
		switch {
		case !slices.Contains(known, item.text):
			hint := suggest.Hint(item.text, known)
			c.d.wrong(item, "%q is no right in %s; %s", item.text, c.d.version, hint)
		case strings.HasPrefix(item.text, "abi.") && c.abi == 0:
			c.d.wrong(item, "%s needs abi, which is not there", item.text)
		default:
			out = append(out, item.text)
		}
	}
	return out
}

func (c *landlock) fsWords(n *tree) []string {
	return c.words(n, append([]string{"abi.all", "abi.read_execute", "abi.read_write"}, landlockRights...)...)
}

func (c *landlock) netWords(n *tree) []string {
	return c.words(n, "abi.all", "bind_tcp", "connect_tcp")
}

// mask is the rights that words stand for.
func (c *landlock) mask(words []string) rights {
	all := rightsOf(landlockRights[:13]...)
	if c.abi >= 2 {
		all |= rightsOf("refer")
	}
	if c.abi >= 3 {
		all |= rightsOf("truncate")
	}
	if c.abi >= 5 {
		all |= rightsOf("ioctl_dev")
	}
	var out rights
	for _, w := range words {
		switch w {
		case "abi.all":
			out |= all
		case "abi.read_write":
			out |= all &^ rightsOf("execute")
		case "abi.read_execute":
			out |= all & rightsOf("execute", "read_file", "read_dir", "refer")
		default:
			out |= rightsOf(w)
		}
	}
	return out
}

// tcp reports whether words stand for a right on ports.
func (c *landlock) tcp(words []string, right string) bool {
	return slices.Contains(words, right) || c.abi >= 4 && slices.Contains(words, "abi.all")
}

func (c *landlock) ruleset(i int, n *tree, key func(string) string) {
	note := func(n *tree, words []string) {
		c.t.noted(c.d, n, elementOf("ruleset", i)+"."+n.key, strings.Join(words, " ")).become(Carried, "what no rule allows is denied")
	}
	c.d.members(n, "a ruleset", map[string]func(*tree){
		key("handledAccessFs"): func(n *tree) {
			words := c.fsWords(n)
			c.handled |= c.mask(words)
			c.model.HandledFS = append(c.model.HandledFS, words...)
			note(n, words)
		},
		key("handledAccessNet"): func(n *tree) {
			words := c.netWords(n)
			c.connects, c.binds = c.connects || c.tcp(words, "connect_tcp"), c.binds || c.tcp(words, "bind_tcp")
			c.model.HandledNet = append(c.model.HandledNet, words...)
			note(n, words)
		},
		"scoped": func(n *tree) {
			words := c.words(n, "abi.all", "abstract_unix_socket", "signal")
			c.t.noted(c.d, n, elementOf("ruleset", i)+".scoped", strings.Join(words, " ")).become(Carried, "a tool reaches no process but its own in any case")
		},
	})
	if len(n.items) == 0 {
		c.d.wrong(n, "an empty ruleset")
	}
}

func (c *landlock) paths(i int, n *tree, key func(string) string) {
	var rule foreign.LandlockPaths
	var parents []*tree
	c.d.members(n, "a rule for paths", map[string]func(*tree){
		key("allowedAccess"): func(n *tree) { rule.Access = c.fsWords(n) },
		"parent":             func(n *tree) { parents = c.d.elements(n, "paths", '"') },
	})
	if !c.whole(n, key("allowedAccess"), "parent") {
		return
	}
	mask := c.mask(rule.Access)
	c.handled |= mask
	for j, p := range parents {
		e := c.t.noted(c.d, p, elementOf(elementOf(key("pathBeneath"), i)+".parent", j), p.text+" "+strings.Join(rule.Access, " "))
		rule.Parents = append(rule.Parents, p.text)
		texts, wrong := c.filled(p.text)
		if wrong != "" {
			c.d.wrong(p, "%s: %s", p.text, wrong)
		}
		for _, text := range texts {
			c.rules = append(c.rules, landlockRule{text, mask, e, len(texts) > 1})
		}
		if len(texts) == 0 {
			e.become(Carried, "a variable of it has no texts, so it is no path")
		}
	}
	c.model.Paths = append(c.model.Paths, rule)
}

var template = expression.Once{Text: `\$\$|\$\{[^}]*\}?|\$[^${]?`}

// maxFilled is how many paths one text may become.
const maxFilled = 1000

// filled puts the texts of variables into a path: each with each.
func (c *landlock) filled(text string) (out []string, wrong string) {
	out = []string{""}
	put := func(values ...string) {
		var next []string
		for _, o := range out {
			for _, v := range values {
				next = append(next, o+v)
			}
		}
		out = next
	}
	at := 0
	for _, m := range template.Get().FindAllStringIndex(text, -1) {
		put(text[at:m[0]])
		name, isVariable := strings.CutPrefix(text[m[0]:m[1]], "${")
		values, known := c.variables[strings.TrimSuffix(name, "}")]
		switch {
		case !isVariable:
			put(strings.Replace(text[m[0]:m[1]], "$$", "$", 1))
		case !strings.HasSuffix(name, "}") || !known:
			return nil, "there is no variable " + text[m[0]:m[1]]
		case len(out)*len(values) > maxFilled:
			return nil, "its variables make too many paths"
		default:
			put(values...)
		}
		at = m[1]
	}
	put(text[at:])
	return out, ""
}

func (c *landlock) ports(i int, n *tree, key func(string) string) {
	var rule foreign.LandlockPorts
	var ports []*tree
	c.d.members(n, "a rule for ports", map[string]func(*tree){
		key("allowedAccess"): func(n *tree) { rule.Access = c.netWords(n) },
		"port":               func(n *tree) { ports = c.d.elements(n, "ports", '0') },
	})
	if !c.whole(n, key("allowedAccess"), "port") {
		return
	}
	connects, binds := c.tcp(rule.Access, "connect_tcp"), c.tcp(rule.Access, "bind_tcp")
	c.connects, c.binds = c.connects || connects, c.binds || binds
	for j, p := range ports {
		port, err := strconv.ParseUint(p.text, 10, 16)
		if err != nil {
			c.d.wrong(p, "%s is no port", p.text)
			continue
		}
		rule.Ports = append(rule.Ports, uint16(port))
		e := c.t.noted(c.d, p, elementOf(elementOf(key("netPort"), i)+".port", j), p.text+" "+strings.Join(rule.Access, " "))
		if connects {
			c.connectTo = append(c.connectTo, landlockPort{uint16(port), e})
		}
		if binds {
			c.bindTo = append(c.bindTo, landlockPort{uint16(port), e})
		}
		if !connects && !binds {
			e.become(Carried, "in this abi it stands for no right")
		}
	}
	c.model.Ports = append(c.model.Ports, rule)
}

// evaluation is the model of the configuration.
func (c *landlock) evaluation() foreign.Policy {
	out := c.model
	out.Host, out.ABI, out.Variables, out.IsDir = c.t.host, c.abi, c.variables, once(isDir)
	return &out
}
