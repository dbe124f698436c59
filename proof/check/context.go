package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// contextModel is the model of context.json.
var contextModel = Model{
	Platform: "linux",
	Assumes: "a tool that reads its Context decides by the rules there as the policy does; base, protected paths and " +
		"limits are no part of it",
	Read: readContext,
}

// contextDoc is the part of a Context that repeats rules. Values of which any is permitted stay as they are.
type contextDoc struct {
	Root   string `json:"root"`
	Action string `json:"action"`
	Tool   string `json:"tool"`
	Access *struct {
		Base      json.RawMessage          `json:"base"`
		Home      string                   `json:"home"`
		FS        []contextRule            `json:"fs"`
		ByName    []contextRule            `json:"fs_by_name"`
		Protected json.RawMessage          `json:"protected"`
		Net       []contextHost            `json:"net"`
		Listen    []contextHost            `json:"listen"`
		Env       []map[string]any         `json:"env"`
		Commands  map[string]contextLaunch `json:"commands"`
	} `json:"access"`
}

type contextRule struct {
	Path     string   `json:"lexical_path"`
	Names    []string `json:"names"`
	External bool     `json:"external"`
	Target   *string  `json:"approved_target"`
	Read     bool     `json:"read"`
	Create   bool     `json:"create"`
	Update   bool     `json:"update"`
	Delete   bool     `json:"delete"`
	Execute  bool     `json:"execute"`
}

type contextHost struct {
	Host       string          `json:"host"`
	Scheme     string          `json:"scheme"`
	Port       uint16          `json:"port"`
	Path       string          `json:"path_prefix"`
	Methods    []string        `json:"methods"`
	Inspect    bool            `json:"inspect"`
	Opaque     bool            `json:"opaque"`
	Credential json.RawMessage `json:"credential"`
	Allow      bool            `json:"allow"`
}

type contextLaunch struct {
	Args json.RawMessage `json:"args"`
	Envs json.RawMessage `json:"envs"`
}

// contextText is a Context with the rules of its policy, which therefore answers as the policy does.
type contextText struct{ *Policy }

func readContext(text []byte, p *Policy) (Text, error) {
	var d contextDoc
	if err := strict(text, &d); err != nil {
		return nil, err
	}
	if d.Access == nil {
		return nil, fmt.Errorf("the Context of a confined tool says that it is not confined")
	}
	files, named := []contextRule{}, false
	for _, r := range p.doc.FS.Rules {
		c := contextRule{Names: r.Names, External: r.External}
		caps, err := parseCaps(r.Caps)
		if err != nil {
			return nil, err
		}
		at := root(r.At)
		c.Path = strings.TrimPrefix(strings.TrimPrefix(r.At, at), "/")
		if name, ok := strings.CutPrefix(at, "${external:"); ok {
			c.Path = strings.TrimSuffix(strings.TrimSuffix(name, "}")+"/"+c.Path, "/")
			if r.External && strings.HasPrefix(d.Root, "${") {
				c.Target = &at
			}
		}
		c.Read, c.Create, c.Update = caps&capRead != 0, caps&capCreate != 0, caps&capUpdate != 0
		c.Delete, c.Execute = caps&capDelete != 0, caps&capExecute != 0
		files, named = append(files, c), named || len(r.Names) > 0
	}
	var hosts, listen []contextHost
	for _, r := range p.doc.Net.Rules {
		c := contextHost{
			Host: r.Host, Scheme: r.Scheme, Port: r.Port, Methods: r.Methods, Inspect: r.Inspect, Opaque: r.Opaque,
			Allow: r.Allow,
		}
		if len(r.Path) > 0 {
			c.Path = "/" + strings.Join(r.Path, "/")
		}
		if r.Listen {
			listen = append(listen, c)
		} else {
			hosts = append(hosts, c)
		}
	}
	var env []map[string]any
	for _, r := range p.doc.Env.Rules {
		e := map[string]any{"name": r.Name, "read": r.Read}
		if r.Prefix {
			e["name"] = r.Name + "*"
		}
		env = append(env, e)
	}
	// An empty list would mean "any" to some tools: it is written as a rule that permits nothing.
	shut := []contextRule{{}}
	a := d.Access
	for i := range a.Net {
		a.Net[i].Credential = nil
	}
	for _, list := range [][]contextRule{a.FS, a.ByName} {
		for i := range list { // a resolved build has the place in the symbol's stead
			if !strings.HasPrefix(d.Root, "${") {
				list[i].Target = nil
			}
		}
	}
	same := func(what string, is, want any) error {
		if reflect.DeepEqual(is, want) || reflect.ValueOf(is).Len() == 0 && reflect.ValueOf(want).Len() == 0 {
			return nil
		}
		return fmt.Errorf("the Context has other rules of %s than the policy", what)
	}
	plain := files
	if named || len(files) == 0 {
		plain = shut
	}
	if hosts == nil {
		hosts = []contextHost{{Host: "invalid"}}
	}
	if env == nil {
		env = []map[string]any{{"name": "_", "read": false}}
	}
	byName := files
	if !named {
		byName = nil
	}
	programs := []string{}
	if p.doc.Commands != nil {
		for _, r := range p.doc.Commands.Rules {
			programs = append(programs, r.Program)
		}
		slices.Sort(programs)
	}
	if (a.Commands == nil) != (p.doc.Commands == nil) {
		return nil, fmt.Errorf("the Context has other rules of commands than the policy")
	}
	for _, err := range []error{
		same("fs", a.FS, plain), same("fs by name", a.ByName, byName), same("net", a.Net, hosts),
		same("listen", a.Listen, listen), same("env", a.Env, env),
		same("commands", slices.Sorted(maps.Keys(a.Commands)), programs),
	} {
		if err != nil {
			return nil, err
		}
	}
	return &contextText{p}, nil
}

func (c *contextText) Platform() string       { return "" }
func (c *contextText) Levels() []Level        { return []Level{{}} }
func (c *contextText) Acts() Verdict          { return 1<<acts - 1 }
func (c *contextText) Needs() []Row           { return nil }
func (c *contextText) Mentions(Kind) []string { return nil }

func (c *contextText) Answer(q Question) []Verdict { return []Verdict{c.Policy.Answer(q)} }
