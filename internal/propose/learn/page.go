package learn

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// The page is one file without any script: no part of it is fetched from anywhere.
var (
	//go:embed page/page.tmpl
	pageTemplate string
	//go:embed page/page.css
	pageStyle string
)

// Page is the content of a page: operations over the tree of files, with the grants of a policy there.
type Page struct {
	Tool   string
	Joined Joined
	// Workspace is the absolute path of the workspace, Roots are those of other places that are
	// granted, such as the targets of external rules.
	Workspace string
	Roots     []string
	// Granted are the capabilities that the policy grants on an absolute path.
	Granted func(abs string) ir.CapSet
	// Sensitive reports whether an absolute path is sensitive; nil where nothing is.
	Sensitive func(abs string) bool
}

type pageRoot struct {
	Name string
	Node Row
}

// Write writes the page.
func (p Page) Write(w io.Writer) error {
	roots, others, all := p.tree()
	data := struct {
		Policy, Title, Subtitle, More string
		Style                         template.CSS
		Roots                         []pageRoot
		Others                        []Row
	}{
		Title: "accessc learn", Style: template.CSS(pageStyle), Roots: roots, Others: others,
		Subtitle: visible.Text(fmt.Sprintf("%s, %s", p.Tool, plural.Count(p.Joined.Runs, "run"))),
	}
	if !all {
		data.More = fmt.Sprintf("There are more than %d files; the others were not looked at.", maxPlaces)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	data.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	t, err := template.New("").Parse(pageTemplate)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "page", data)
}

// tree puts the operations on the files. It reports whether all files were looked at.
func (p Page) tree() (roots []pageRoot, others []Row, all bool) {
	top := &place{name: "/", abs: "/", dir: true, below: map[string]*place{}}
	left := maxPlaces
	for _, o := range p.Joined.Operations {
		if places := o.places(); len(places) > 0 {
			for abs, caps := range places {
				top.at(strings.TrimPrefix(abs, "/")).mark(o, caps, strings.HasSuffix(abs, "/"))
			}
			continue
		}
		others = append(others, other(o))
	}
	all = true
	for _, root := range append([]string{p.Workspace}, p.Roots...) {
		all = top.at(strings.TrimPrefix(root, "/")).fill(&left) && all
	}
	top.secret(p.Sensitive)
	workspace := top.at(strings.TrimPrefix(p.Workspace, "/"))
	row, sum := workspace.row(p.Granted)
	if !sum.touched && len(sum.idle) > 0 {
		row.Idle = sum.idleText()
	}
	roots = append(roots, pageRoot{Name: p.Workspace, Node: clean(row)})
	delete(top.at(strings.TrimPrefix(path.Dir(p.Workspace), "/")).below, path.Base(p.Workspace))
	if row, sum := top.row(p.Granted); sum.touched || len(sum.idle) > 0 {
		roots = append(roots, pageRoot{Name: "Other places", Node: clean(row)})
	}
	return roots, others, all
}

func (p *place) mark(o Operation, caps ir.CapSet, dir bool) {
	if o.Refused > 0 {
		p.refused |= caps
	}
	if o.Refused < o.Times {
		p.used |= caps
	}
	p.dir = p.dir || dir
}

// places are the paths that an operation on files is about, with the capabilities that it needs.
func (o Operation) places() map[string]ir.CapSet {
	if len(o.Question) < 2 || !strings.HasPrefix(o.Question[1], "/") {
		return nil
	}
	if two := o.Question[0] == "rename" || o.Question[0] == "link"; two && len(o.Question) < 3 {
		return nil
	}
	var caps ir.CapSet
	for _, n := range append(slices.Clone(o.Needs), o.Question[0]) {
		if c, ok := ir.ParseCapability(n); ok {
			caps = caps.With(c)
		}
	}
	switch o.Question[0] {
	case "rename":
		return map[string]ir.CapSet{o.Question[1]: ir.Caps(ir.Delete), o.Question[2]: ir.Caps(ir.Create)}
	case "link":
		return map[string]ir.CapSet{o.Question[1]: ir.Caps(ir.Read), o.Question[2]: ir.Caps(ir.Create)}
	case "dial", "run":
		return nil
	}
	if caps == 0 {
		return nil
	}
	return map[string]ir.CapSet{o.Question[1]: caps}
}

// other is the line of an operation that is not about a place.
func other(o Operation) Row {
	text := strings.Join(o.Question, " ")
	if text == "" {
		text = strings.TrimSpace(o.Operation + " " + o.Target)
	}
	row := Row{Text: visible.Text(text)}
	if o.Refused > 0 {
		row.Refused = fmt.Sprintf("×%d", o.Refused)
	}
	if n := o.Times - o.Refused; n > 0 {
		row.Used = fmt.Sprintf("×%d", n)
	}
	return row
}

// clean makes control characters of names visible.
func clean(r Row) Row {
	r.Text = visible.Text(r.Text)
	for i := range r.Children {
		r.Children[i] = clean(r.Children[i])
	}
	return r
}
