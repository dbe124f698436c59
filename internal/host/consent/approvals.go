package consent

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/internal/text/visible"
)

// Find finds the external rule's path that the user names, or those of a preset.
func Find(res *hostfacts.Result, text string) ([]compiler.Binding, error) {
	if !strings.HasPrefix(text, source.Preset) {
		b, err := find(res, text)
		return []compiler.Binding{b}, err
	}
	p, err := config.Preset(text)
	if err != nil {
		return nil, err
	}
	var out []compiler.Binding
	for _, b := range res.Bindings {
		if slices.ContainsFunc(
			b.Grants,
			func(g compiler.Grant) bool { return g.RulePath == b.RulePath && g.Preset == p.String() },
		) {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return nil, usage.Errorf("%s has no place on this host that waits for an approval of yours", text)
	}
	return out, nil
}

// find finds the external rule's path that the user names.
func find(res *hostfacts.Result, path string) (compiler.Binding, error) {
	named, err := spellings(res.Resolver.Home, path)
	if err != nil {
		return compiler.Binding{}, usage.Errorf("%s: %v", path, err)
	}
	var known []string
	for _, b := range res.Bindings {
		switch {
		case !slices.Contains(named, b.RulePath):
			known = append(known, b.RulePath)
		case b.Broken:
			return b, usage.Errorf("%s cannot be approved: it leads to %s, which does not exist", path,
				visible.Text(b.Target))
		default:
			return b, nil
		}
	}
	if len(known) == 0 {
		return compiler.Binding{}, usage.Errorf("%s is not the path of an external rule; no tool has one", path)
	}
	return compiler.Binding{}, usage.Errorf("%s is not the path of an external rule; those are %s", path,
		strings.Join(known, ", "))
}

// spellings are the paths of rules that a user may mean: a shell makes an absolute path of one
// that begins with "~/".
func spellings(home, path string) ([]string, error) {
	lexical, err := resolve.RuleName(filepath.ToSlash(path))
	out := []string{lexical}
	if rest, inHome := strings.CutPrefix(lexical+"/", strings.TrimSuffix(home, "/")+"/"); inHome && home != "" {
		out = append(out, strings.TrimSuffix("~/"+rest, "/"))
	}
	return out, err
}

// Approval is one path. CanonicalTarget and ApprovedAt are empty for a path that was never
// approved, LeadsTo where no external rule has the path.
type Approval struct {
	RulePath        string     `json:"rule_path"`
	CanonicalTarget string     `json:"canonical_target,omitempty"`
	ApprovedAt      *time.Time `json:"approved_at,omitempty"`
	// ApprovedBy is empty where the store does not say who it was.
	ApprovedBy string `json:"approved_by,omitempty"`
	// Status is approved, retargeted, unknown, broken or unused.
	Status  string `json:"status"`
	LeadsTo string `json:"leads_to,omitempty"`
}

// Approvals joins the approvals with the targets that the rules lead to, and appends the
// paths that wait for approval. A path that an approval of a directory above covers does not
// wait.
func Approvals(store approvals.Store, bindings []compiler.Binding) []Approval {
	byPath := map[string]compiler.Binding{}
	for _, b := range bindings {
		byPath[b.RulePath] = b
	}
	rows := []Approval{}
	for _, m := range store.Mounts() {
		r := Approval{RulePath: m.RulePath, CanonicalTarget: m.CanonicalTarget, Status: "unused"}
		r.ApprovedBy = m.ApprovedBy
		if !m.ApprovedAt.IsZero() {
			r.ApprovedAt = &m.ApprovedAt
		}
		if b, ok := byPath[m.RulePath]; ok {
			r.Status, r.LeadsTo = status(b), b.Target
		}
		rows = append(rows, r)
	}
	for _, b := range bindings {
		if _, ok := store.Mount(b.RulePath); !ok && !b.Approved {
			rows = append(rows, Approval{RulePath: b.RulePath, Status: status(b), LeadsTo: b.Target})
		}
	}
	return rows
}

func status(b compiler.Binding) string {
	switch {
	case b.Broken:
		return "broken"
	case b.Approved:
		return approvals.Approved.String()
	case b.Was != "":
		return approvals.Retargeted.String()
	default:
		return approvals.Unknown.String()
	}
}

// Forget takes approvals back, all of them or, when one of the paths has none, nothing; answers forgets the answers
// about sensitive paths as well. It needs no configuration that can be read. unknown is the path that has none.
func Forget(
	res *hostfacts.Result,
	paths []string,
	answers bool,
	notes io.Writer,
) (forgotten []string, unknown string, err error) {
	store, err := res.Approvals()
	if err != nil {
		return nil, "", fmt.Errorf("%s %w", store, err)
	}
	none := errors.New("not approved")
	aside, err := approvals.Update(store, func(s *approvals.Store) error {
		for _, p := range paths {
			named, _ := spellings(res.Resolver.Home, p) // with an error, none is approved
			i := slices.IndexFunc(named, s.Forget)
			if i < 0 {
				unknown = p
				return none
			}
			forgotten = append(forgotten, visible.Name(named[i]))
		}
		if answers {
			forgotten = append(forgotten, plural.Count(s.ForgetAnswers(), "answer"))
		}
		return nil
	})
	if errors.Is(err, none) {
		return nil, unknown, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", store, err)
	}
	Aside(notes, store, aside)
	return forgotten, "", nil
}
