package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Manifest is what the checker reads of a manifest.
type Manifest struct {
	Form   string
	Policy string // the hash
	Hash   string // of the text
	Tools  []Tool
}

// Tool is a confined tool of a manifest.
type Tool struct {
	Name      string
	Artifacts map[string]string // hashes by the name of the file
	Ledger    []Row
	policy    *policyDoc // tools may have one alike
	command   command    // its own, whatever the policy is
}

// command is what a tool runs.
type command struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Shell   bool     `json:"shell"`
}

func (c command) equal(o command) bool {
	return c.Program == o.Program && c.Shell == o.Shell && slices.Equal(c.Args, o.Args)
}

// parseCommand reads a command, of which a policy also says where it was written.
func parseCommand(text json.RawMessage) (c command, err error) {
	if len(text) > 0 {
		err = json.Unmarshal(text, &c)
	}
	return c, err
}

type manifestDoc struct {
	Format   string          `json:"format"`
	Version  int             `json:"format_version"`
	Form     string          `json:"form"`
	Policy   string          `json:"policy_sha256"`
	Rulesets json.RawMessage `json:"rulesets"`
	Tools    []struct {
		Name        string            `json:"name"`
		Source      string            `json:"source"`
		Confined    bool              `json:"confined"`
		Risk        string            `json:"risk"`
		Hash        string            `json:"policy_sha256"`
		Artifacts   map[string]string `json:"artifacts"`
		Sensitive   json.RawMessage   `json:"sensitive"`
		Constraints json.RawMessage   `json:"constraints"`
		Disabled    bool              `json:"disabled"`
		External    json.RawMessage   `json:"external"`
		Policy      *policyDoc        `json:"policy"`
		PolicyAs    string            `json:"policy_as"`
		Identity    json.RawMessage   `json:"identity"`
		Ledger      []Row             `json:"ledger"`
		LedgerAs    string            `json:"ledger_as"`
	} `json:"tools"`
}

// strict reads JSON of which every field must be known, and be there once: two readers of a text must not see two
// texts.
func strict(text []byte, into any) error {
	if err := once(json.NewDecoder(bytes.NewReader(text)), maxDepth); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text follows the document")
	}
	return nil
}

// maxDepth is how deep values may be nested.
const maxDepth = 100

// once refuses a value with an object that has a member twice, in whatever case.
func once(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if depth == 0 {
		return errors.New("found values that are nested too deep")
	}
	if err != nil || t != json.Delim('{') && t != json.Delim('[') {
		return err
	}
	for seen := map[string]bool{}; d.More(); {
		if t == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return err
			}
			key := strings.ToLower(fmt.Sprint(name))
			if seen[key] {
				return fmt.Errorf("found %q twice in an object", key)
			}
			seen[key] = true
		}
		if err := once(d, depth-1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// digest is the hash of a list as a certificate writes it.
func digest(list any) string {
	text, err := json.Marshal(list)
	if err != nil {
		return "unknown"
	}
	return hash(text)
}

func itoa(i int) string { return strconv.Itoa(i) }

// within reports whether a place is another or lies below it.
func within(place, of string) bool {
	return place == of || strings.HasPrefix(place, strings.TrimSuffix(of, "/")+"/")
}

// ReadManifest reads the manifest of a build.
func ReadManifest(text []byte) (*Manifest, error) {
	var d manifestDoc
	if err := strict(text, &d); err != nil {
		return nil, fmt.Errorf("the manifest: %w", err)
	}
	if d.Format != "accessc/manifest" || d.Version != 2 {
		return nil, fmt.Errorf("the manifest: found format %q, version %d", d.Format, d.Version)
	}
	m := &Manifest{Form: d.Form, Policy: d.Policy, Hash: hash(text)}
	earlier := map[string]Tool{}
	for _, t := range d.Tools {
		if !t.Confined {
			continue
		}
		out := Tool{Name: t.Name, Artifacts: t.Artifacts, Ledger: t.Ledger}
		if t.LedgerAs != "" {
			out.Ledger = earlier[t.LedgerAs].Ledger
		}
		var identity struct{ Command json.RawMessage }
		if len(t.Identity) > 0 {
			if err := json.Unmarshal(t.Identity, &identity); err != nil {
				return nil, err
			}
		}
		switch like, known := earlier[t.PolicyAs]; {
		case t.Policy != nil:
			out.policy, identity.Command = t.Policy, t.Policy.Command
		case known:
			out.policy = like.policy
		default:
			return nil, fmt.Errorf("the manifest has no policy of %s", t.Name)
		}
		var err error
		if out.command, err = parseCommand(identity.Command); err != nil {
			return nil, err
		}
		earlier[t.Name] = out
		m.Tools = append(m.Tools, out)
	}
	return m, nil
}

// Subject is an artifact with all that is to be compared with it.
type Subject struct {
	Tool   *Tool
	File   string
	Policy *Policy
	Text   Text

	platform string
	known    map[string]bool // the places that policy or text mention, and those above
}

// Reader reads the artifacts of a manifest.
type Reader struct {
	a        *Assumptions
	policies map[policyOn]*Policy
}

// policyOn is a policy on a platform.
type policyOn struct {
	doc      *policyDoc
	platform string
}

// NewReader reads under assumptions, of which those that a policy needs must be there before an artifact is read.
func NewReader(a *Assumptions) *Reader { return &Reader{a, map[policyOn]*Policy{}} }

// Subject reads an artifact of which there is a model.
func (r *Reader) Subject(t *Tool, file string, text []byte) (*Subject, error) {
	m, _ := modelOf(file)
	s := &Subject{Tool: t, File: file, platform: m.Platform, known: map[string]bool{}}
	on := policyOn{t.policy, s.platform}
	var err error
	if s.Policy = r.policies[on]; s.Policy == nil {
		if s.Policy, err = newPolicy(t.policy, r.a, s.platform); err != nil {
			return nil, err
		}
		r.policies[on] = s.Policy
	}
	if s.Text, err = m.Read(text, s.Policy); err != nil {
		return nil, err
	}
	for _, at := range slices.Concat(s.Policy.Mentions(Files), s.Text.Mentions(Files)) {
		if !canonical(at) {
			return nil, fmt.Errorf("found the place %q, which no policy spells so", at)
		}
		for _, up := range prefixes(at) {
			s.known[up] = true
		}
	}
	return s, nil
}

// Like is the same for two subjects to which all the same applies, and empty where that is not known: tools may have
// the policy, the ledger, and all of the text alike that decides.
func (s *Subject) Like() string {
	t, ok := s.Text.(interface{ Key() string })
	if !ok || len(s.Tool.Ledger) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %p %p %s", s.File, s.Policy, &s.Tool.Ledger[0], t.Key())
}

// Mentions lists what the policy says something of its own about.
func (p *Policy) Mentions(k Kind) (out []string) {
	if k == Files {
		out = []string{workspace, system, temp, home}
		for at := range p.nodes {
			out = append(out, at)
		}
	}
	if k == Hosts {
		return p.endpoints()
	}
	l := p.launch()
	return append(out, l.mentions(k)...)
}

// Targets lists questions that together stand for all: on all questions of a class both verdicts are those on some
// target. Between what policy and text mention both are constant: of each place that either mentions, the place is
// asked about, a name in it that neither mentions, and a name below. Where patterns of names are in effect, so is a
// name for each set of patterns that a name can match, and each pair of such names: the deepest name that a pattern
// matches decides, and a protected name counts wherever on the way it is.
func (s *Subject) Targets() ([]Question, error) {
	var out []Question
	seen := map[string]bool{}
	places := make([]string, 0, len(s.known))
	children := map[string][]string{}
	for at := range s.known {
		places = append(places, at)
		if up, ok := parent(at); ok {
			children[up] = append(children[up], base(at))
		}
	}
	slices.Sort(places)
	var in []Question
	near := map[string]string{}
	for _, at := range places {
		up, ok := parent(at)
		if !ok {
			up = at
		}
		out = append(out, Question{Files, at, up})
		if s.Policy.link(at) {
			continue // nothing is below it
		}
		names, err := s.namesIn(at, children[at])
		if err != nil {
			return nil, err
		}
		below := func(path ...string) Question { return Question{Files, child(at, strings.Join(path, "/")), at} }
		first := below(names[0])
		out = append(out, first, below(names[0], names[0]))
		in, near[at] = append(in, first, below(names[0], names[0])), first.Target
		if len(names) == 1 {
			continue
		}
		key := fmt.Sprint(s.Policy.walk(at), s.Policy.active(at), s.Text.Answer(first))
		if len(s.Text.Mentions(Names)) > 0 {
			key += at
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		for i, a := range names {
			if i > 0 {
				out, in = append(out, below(a)), append(in, below(a))
			}
			for j, b := range names {
				if i+j > 0 {
					out, in = append(out, below(a, b)), append(in, below(a, b))
				}
			}
		}
	}
	out = append(out, s.moves(places, in, near)...)
	for _, k := range []Kind{Hosts, Variables, Programs, Limits} {
		list := slices.Concat(s.Policy.Mentions(k), s.Text.Mentions(k))
		slices.Sort(list)
		for _, target := range slices.Compact(list) {
			if q := (Question{Kind: k, Target: target}); s.Text.Answer(q) != nil {
				out = append(out, q)
			}
		}
	}
	return out, nil
}

// classes are names that stand for all names but those that are taken.
func (p *Policy) classes(patterns, taken []string) ([]string, bool) {
	key := strings.Join(patterns, "/")
	names, known := p.names[key]
	ok := true
	if !known {
		if names, ok = nameClasses(patterns, nil, !p.linux); ok {
			p.names[key] = names
		}
	}
	clash := func(n string) bool { return slices.Contains(taken, n) }
	if slices.ContainsFunc(names, clash) {
		matter := slices.DeleteFunc(slices.Clone(taken), func(n string) bool {
			return !slices.Contains(names, n) && !slices.ContainsFunc(patterns, func(t string) bool {
				return parsePattern(t).matches(n, !p.linux)
			})
		})
		names, ok = nameClasses(patterns, matter, !p.linux)
	}
	return names, ok
}

// active are the rules by name in effect in a place, and whether patterns of protected paths are.
func (p *Policy) active(place string) (out []string) {
	for _, at := range prefixes(place) {
		for _, i := range p.named[at] {
			out = append(out, p.rules[i].names...)
		}
	}
	if root(place) == workspace {
		for _, g := range p.guards {
			out = append(out, g[len(g)-1])
		}
	}
	return out
}

// namesIn are names that stand for all names in a place but those that have targets of their own.
func (s *Subject) namesIn(at string, taken []string) ([]string, error) {
	patterns := append(s.Policy.active(at), s.Text.Mentions(Names)...)
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	names, ok := s.Policy.classes(patterns, taken)
	if !ok || len(names) == 0 {
		return nil, fmt.Errorf("the patterns of names tell too many names apart in %s", at)
	}
	return names, nil
}
