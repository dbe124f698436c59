package landlockconfig

import (
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/process/once/expression"
)

func (c *reader) paths(i int, n *importer.Tree, key func(string) string) {
	var rule PathsRule
	var parents []*importer.Tree
	c.d.Members(n, "a rule for paths", map[string]func(*importer.Tree){
		key("allowedAccess"): func(n *importer.Tree) { rule.Access = c.fsWords(n) },
		"parent":             func(n *importer.Tree) { parents = c.d.Elements(n, "paths", '"') },
	})
	if !c.whole(n, key("allowedAccess"), "parent") {
		return
	}
	mask := c.mask(rule.Access)
	c.handled |= mask
	for j, p := range parents {
		e := c.t.Noted(c.d, p, importer.ElementOf(importer.ElementOf(key("pathBeneath"), i)+".parent", j),
			p.Text+" "+strings.Join(rule.Access, " "))
		rule.Parents = append(rule.Parents, p.Text)
		texts, wrong := c.filled(p.Text)
		if wrong != "" {
			c.d.Wrong(p, "%s: %s", p.Text, wrong)
		}
		for _, text := range texts {
			c.rules = append(c.rules, pathRule{text, mask, e, len(texts) > 1})
		}
		if len(texts) == 0 {
			e.Become(importer.Carried, "a variable of it has no texts, so it is no path")
		}
	}
	c.model.Paths = append(c.model.Paths, rule)
}

var template = expression.Once{Text: `\$\$|\$\{[^}]*\}?|\$[^${]?`}

// maxFilled is how many paths one text may become.
const maxFilled = 1000

// filled puts the texts of variables into a path: each with each.
func (c *reader) filled(text string) (out []string, wrong string) {
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

func (c *reader) ports(i int, n *importer.Tree, key func(string) string) {
	var rule PortsRule
	var ports []*importer.Tree
	c.d.Members(n, "a rule for ports", map[string]func(*importer.Tree){
		key("allowedAccess"): func(n *importer.Tree) { rule.Access = c.netWords(n) },
		"port":               func(n *importer.Tree) { ports = c.d.Elements(n, "ports", '0') },
	})
	if !c.whole(n, key("allowedAccess"), "port") {
		return
	}
	connects, binds := c.tcp(rule.Access, "connect_tcp"), c.tcp(rule.Access, "bind_tcp")
	c.connects, c.binds = c.connects || connects, c.binds || binds
	for j, p := range ports {
		port, err := strconv.ParseUint(p.Text, 10, 16)
		if err != nil {
			c.d.Wrong(p, "%s is no port", p.Text)
			continue
		}
		rule.Ports = append(rule.Ports, uint16(port))
		e := c.t.Noted(c.d, p, importer.ElementOf(importer.ElementOf(key("netPort"), i)+".port", j),
			p.Text+" "+strings.Join(rule.Access, " "))
		if connects {
			c.connectTo = append(c.connectTo, portRule{uint16(port), e})
		}
		if binds {
			c.bindTo = append(c.bindTo, portRule{uint16(port), e})
		}
		if !connects && !binds {
			e.Become(importer.Carried, "in this abi it stands for no right")
		}
	}
	c.model.Ports = append(c.model.Ports, rule)
}

// evaluation is the model of the configuration.
func (c *reader) evaluation() foreign.Policy {
	out := c.model
	out.Host, out.ABI, out.Variables, out.IsDir = c.t.Host, c.abi, c.variables, importer.Once(importer.IsDir)
	return &out
}
