package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed assets
var assets embed.FS

// playground is the page that is written in HTML; the generator adds the head and the navigation.
const playground = "docs/playground/index.html"

// site is what is written.
type site struct {
	root  string
	pages map[string]*page  // by the path of the source
	files map[string][]byte // by the path in the site
	wrong []error
}

// page is a source and what became of it.
type page struct {
	source, at string // paths in the repository and in the site
	title      string
	body       template.HTML
	anchors    map[string]bool
	sections   []section
	links      []link
	// doors are the headings of the second level with the pages that tables below them link to.
	doors []door
}

// section is the text below a heading, for the search.
type section struct{ anchor, heading, text string }

// link is a link to another page, with its line.
type link struct{ to, anchor, written string }

// door is a part of the navigation: a heading of docs/README.md and the pages of its table.
type door struct {
	Title string
	pages []entry
}

type entry struct{ title, source string }

func build(root, out, program string) error {
	s := &site{root: root, pages: map[string]*page{}, files: map[string][]byte{}}
	waiting := []string{"README.md", "docs/README.md", playground}
	for len(waiting) > 0 {
		source := waiting[0]
		waiting = waiting[1:]
		if s.pages[source] != nil {
			continue
		}
		p, err := s.read(source)
		if err != nil {
			s.wrong = append(s.wrong, fmt.Errorf("%s: %w", source, err))
			continue
		}
		s.pages[source] = p
		for _, l := range p.links {
			waiting = append(waiting, l.to)
		}
	}
	s.check()
	if len(s.wrong) > 0 {
		return errors.Join(s.wrong...)
	}
	if err := s.render(program); err != nil {
		return err
	}
	return s.write(out)
}

// place is where a source is in the site: pages of Markdown and files become HTML, README.md is the page of its
// directory.
func place(source string) string {
	dir, name := path.Split(source)
	switch {
	case source == playground, strings.HasSuffix(name, ".svg"), strings.HasSuffix(name, ".html"):
		return source
	case name == "README.md":
		return dir + "index.html"
	case strings.HasSuffix(name, ".md"):
		return strings.TrimSuffix(source, ".md") + ".html"
	default:
		return source + ".html"
	}
}

// read makes a page of a source: Markdown, a directory, a picture, or any other text.
func (s *site) read(source string) (*page, error) {
	name := filepath.Join(s.root, filepath.FromSlash(source))
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return s.listing(source, name)
	case !info.Mode().IsRegular():
		return nil, errors.New("is no file")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := &page{source: source, at: place(source), anchors: map[string]bool{}}
	switch path.Ext(source) {
	case ".md":
		err = p.markdown(text, func(to string) bool {
			info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(to)))
			return err == nil && info.IsDir()
		})
	case ".svg", ".html":
		p.title = path.Base(source)
		s.files[p.at] = text
	default:
		if !utf8.Valid(text) {
			return nil, errors.New("is no text")
		}
		p.title = source
		p.body = template.HTML("<h1>" + template.HTMLEscapeString(source) + "</h1>\n<pre tabindex=\"0\"><code>" +
			template.HTMLEscapeString(string(text)) + "</code></pre>\n")
	}
	return p, err
}

// listing is the page of a directory: its README.md, else a list of its files, or of its pages if it has some.
func (s *site) listing(source, name string) (*page, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files, pages []string
	for _, e := range entries {
		switch file := source + "/" + e.Name(); {
		case e.Name() == "README.md":
			p, err := s.read(file)
			if err == nil {
				p.source = source
			}
			return p, err
		case e.Type().IsRegular() && path.Ext(file) == ".md":
			pages = append(pages, file)
		case e.Type().IsRegular():
			files = append(files, file)
		}
	}
	if len(pages) > 0 {
		files = pages
	}
	p := &page{source: source, at: source + "/index.html", title: path.Base(source), anchors: map[string]bool{}}
	var list strings.Builder
	for _, file := range files {
		p.links = append(p.links, link{to: file, written: file})
		fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a></li>\n", template.HTMLEscapeString(path.Base(place(file))),
			template.HTMLEscapeString(strings.TrimSuffix(path.Base(file), ".md")))
	}
	p.body = template.HTML("<h1>" + template.HTMLEscapeString(p.title) + "</h1>\n<ul>\n" + list.String() + "</ul>\n")
	return p, nil
}

// check refuses links to headings that are not there, and a page that two sources want.
func (s *site) check() {
	at := map[string]string{}
	for _, source := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[source]
		if other, taken := at[p.at]; taken && path.Clean(other+"/README.md") != source && path.Clean(source+"/README.md") != other {
			s.wrong = append(s.wrong, fmt.Errorf("%s and %s are both %s", other, source, p.at))
		}
		at[p.at] = source
		for _, l := range p.links {
			if to := s.pages[l.to]; to != nil && l.anchor != "" && !to.anchors[l.anchor] {
				s.wrong = append(s.wrong, fmt.Errorf("%s links to %s, which has no such heading", source, l.written))
			}
		}
	}
}

// frame is the data of the template.
type frame struct {
	Up, Title  string // Up leads from the page to the root of the site
	Body, Head template.HTML
	Doors      []frameDoor
}

type frameDoor struct {
	Title string
	Open  bool
	Pages []frameLink
}

type frameLink struct {
	Title, URL string
	Here       bool
}

func (s *site) render(program string) error {
	text, err := assets.ReadFile("assets/page.tmpl")
	if err != nil {
		return err
	}
	t, err := template.New("page").Parse(string(text))
	if err != nil {
		return err
	}
	for _, source := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[source]
		f := frame{Up: up(p.at), Title: p.title, Body: p.body, Doors: s.navigation(p)}
		switch {
		case source == playground:
			head, body, err := parts(s.files[source])
			if err != nil {
				return err
			}
			f.Title, f.Head, f.Body = "playground", head, body
		case p.body == "":
			continue
		}
		var b bytes.Buffer
		if err := t.Execute(&b, f); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		s.files[p.at] = b.Bytes()
	}
	for _, name := range []string{"site.css", "site.js", "icon.svg"} {
		if s.files[name], err = assets.ReadFile("assets/" + name); err != nil {
			return err
		}
	}
	if s.files["search.js"], err = s.index(); err != nil {
		return err
	}
	return s.play(program)
}

// parts are the head and the body of the playground's page, between the comments that mark them.
func parts(text []byte) (head, body template.HTML, err error) {
	between := func(mark string) (template.HTML, error) {
		_, rest, begins := strings.Cut(string(text), "<!-- "+mark+" -->\n")
		part, _, ends := strings.Cut(rest, "<!-- end of "+mark+" -->")
		if !begins || !ends {
			return "", fmt.Errorf("%s: the comments of the %s are not there", playground, mark)
		}
		return template.HTML(part), nil
	}
	if head, err = between("head"); err == nil {
		body, err = between("body")
	}
	return head, body, err
}

// play adds the files of the playground: the program as it is, and smaller for servers and readers that take it so.
func (s *site) play(program string) error {
	dir := path.Dir(playground) + "/"
	for _, name := range []string{"playground.js", "worker.js", "playground.css"} {
		text, err := os.ReadFile(filepath.Join(s.root, dir+name))
		if err != nil {
			return err
		}
		s.files[dir+name] = text
	}
	for _, name := range []string{"accessc.wasm", "wasm_exec.js"} {
		data, err := os.ReadFile(filepath.Join(program, name))
		if err != nil {
			return err
		}
		s.files[dir+name] = data
	}
	var small bytes.Buffer
	z, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(s.files[dir+"accessc.wasm"]); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	s.files[dir+"accessc.wasm.gz"] = small.Bytes()
	return nil
}

// up leads from a page to the root of the site.
func up(at string) string { return strings.Repeat("../", strings.Count(at, "/")) }

// navigation is that of a page: the doors with their pages.
func (s *site) navigation(of *page) (out []frameDoor) {
	for _, d := range s.pages["docs/README.md"].doors {
		f := frameDoor{Title: d.Title}
		for _, e := range d.pages {
			to := s.pages[e.source]
			here := to.at == of.at
			f.Open = f.Open || here
			f.Pages = append(f.Pages, frameLink{Title: e.title, URL: up(of.at) + to.at, Here: here})
		}
		out = append(out, f)
	}
	return out
}

// mark is a file by which a directory is known to be this program's.
const mark = "site.css"

// write puts the files in place of a former site, and into no other directory that has something.
func (s *site) write(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(filepath.Join(out, mark)); len(entries) > 0 && err != nil {
		return fmt.Errorf("%s has files and is no site", out)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for _, at := range slices.Sorted(maps.Keys(s.files)) {
		name := filepath.Join(out, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, s.files[at], 0o644); err != nil {
			return err
		}
	}
	return nil
}
