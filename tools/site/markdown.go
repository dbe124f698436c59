package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// ids names headings as the repository's host does: lower case, with hyphens for blanks and without other marks.
type ids map[string]bool

func (i ids) Generate(value []byte, _ ast.NodeKind) []byte {
	base := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	id := base
	for n := 1; i[id]; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	i[id] = true
	return []byte(id)
}

func (i ids) Put(value []byte) { i[string(value)] = true }

// ours are the pieces of HTML that pages have: names to link to. Anything else is an error.
var ours = regexp.MustCompile(`^(<a id="([a-z0-9-]+)">(</a>)?|</a>|<!--[^>]*-->)$`)

// markdown makes the body of a page.
func (p *page) markdown(source []byte, isDir func(string) bool) error {
	seen := ids{}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(wide{}, 100))))
	doc := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(seen))))
	at := section{}
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.add(at)
			if n.Level == 2 {
				p.doors = append(p.doors, door{Title: plain(n, source)})
			}
			id, _ := n.AttributeString("id")
			at = section{anchor: string(id.([]byte)), heading: plain(n, source)}
			if p.title == "" {
				p.title = at.heading
			}
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			to, err := p.follow(string(n.Destination), isDir)
			n.Destination = []byte(to)
			if last := len(p.doors) - 1; last >= 0 && len(p.links) > 0 && n.Parent().Kind() == east.KindTableCell {
				p.doors[last].pages = append(p.doors[last].pages, entry{plain(n, source), p.links[len(p.links)-1].to})
			}
			return ast.WalkContinue, err
		case *ast.Image:
			to, err := p.follow(string(n.Destination), isDir)
			n.Destination = []byte(to)
			return ast.WalkContinue, err
		case *ast.RawHTML:
			return ast.WalkContinue, p.raw(string(n.Segments.Value(source)), seen)
		case *ast.HTMLBlock:
			lines := string(n.Lines().Value(source))
			if n.HasClosure() {
				lines += string(n.ClosureLine.Value(source))
			}
			return ast.WalkContinue, p.raw(strings.TrimSpace(lines), seen)
		case *ast.Text:
			at.text += string(n.Value(source)) + map[bool]string{true: " "}[n.SoftLineBreak() || n.HardLineBreak()]
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			at.text += " " + string(n.Lines().Value(source))
		}
		if n.Type() == ast.TypeBlock {
			at.text += " "
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	p.add(at)
	p.anchors = seen
	var b bytes.Buffer
	err = md.Renderer().Render(&b, source, doc)
	p.body = template.HTML(b.String())
	return err
}

// add adds a section to what the search finds.
func (p *page) add(s section) {
	s.text = strings.Join(strings.Fields(s.text), " ")
	if s.heading != "" || s.text != "" {
		p.sections = append(p.sections, s)
	}
}

// raw takes a piece of HTML, and its name.
func (p *page) raw(piece string, seen ids) error {
	m := ours.FindStringSubmatch(piece)
	if m == nil {
		return fmt.Errorf("has the HTML %q, which a page does not need", piece)
	}
	if m[2] != "" {
		seen[m[2]] = true
	}
	return nil
}

// follow turns a link as written into a link of the site. Links to other sites stay.
func (p *page) follow(written string, isDir func(string) bool) (string, error) {
	if strings.HasPrefix(written, "https://") || strings.HasPrefix(written, "http://") {
		return written, nil
	}
	if strings.Contains(written, ":") || strings.HasPrefix(written, "/") {
		return "", fmt.Errorf("has the link %s, which leads nowhere in a site", written)
	}
	file, anchor, _ := strings.Cut(written, "#")
	to := p.source
	if file != "" {
		to = path.Join(path.Dir(p.source), file)
	}
	if !fs(to) {
		return "", fmt.Errorf("links to %s, out of the repository", written)
	}
	p.links = append(p.links, link{to: to, anchor: anchor, written: written})
	if file == "" {
		return "#" + anchor, nil
	}
	at := place(to)
	if isDir(to) {
		at = to + "/index.html"
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	return relative(path.Dir(p.at), at) + anchor, nil
}

// fs reports whether a path stays in the repository.
func fs(to string) bool { return to != ".." && !strings.HasPrefix(to, "../") }

// relative leads from a directory of the site to a file of it.
func relative(dir, to string) string {
	from := strings.Split(dir, "/")
	if dir == "." {
		from = nil
	}
	way := strings.Split(to, "/")
	for len(from) > 0 && len(way) > 1 && from[0] == way[0] {
		from, way = from[1:], way[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(way, "/")
}

// plain is the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// wide puts tables and code into boxes that scroll by themselves, and that the keyboard reaches.
type wide struct{}

func (wide) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(east.KindTable, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		piece := "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n"
		if !entering {
			piece = "</tbody>\n</table></div>\n"
			if n.ChildCount() == 1 {
				piece = "</table></div>\n"
			}
		}
		_, err := w.WriteString(piece)
		return ast.WalkContinue, err
	})
	r.Register(east.KindTableCell, cell)
	r.Register(ast.KindFencedCodeBlock, code)
	r.Register(ast.KindCodeBlock, code)
}

// cell writes a heading for the first row, unless it has no text.
func cell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	name := "td"
	if n.Parent().Kind() == east.KindTableHeader && n.HasChildren() {
		name = "th"
	}
	mark := "<"
	if !entering {
		mark = "</"
	}
	_, err := w.WriteString(mark + name + ">")
	return ast.WalkContinue, err
}

func code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString("<pre tabindex=\"0\"><code>" + template.HTMLEscapeString(string(n.Lines().Value(source))) + "</code></pre>\n")
	return ast.WalkSkipChildren, err
}

// index is the data of the search, as a script: a page that was opened from a disk may not read files.
func (s *site) index() ([]byte, error) {
	type row [4]string // the page, the title of it, the heading with its anchor, the text
	rows := []row{}
	for _, source := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[source]
		for _, x := range p.sections {
			rows = append(rows, row{p.at + "#" + x.anchor, p.title, x.heading, x.text})
		}
	}
	data, err := json.Marshal(rows)
	if err == nil && len(rows) == 0 {
		err = errors.New("nothing to search")
	}
	return append(append([]byte("window.accesscSearch("), data...), ");\n"...), err
}
