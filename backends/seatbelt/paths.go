package seatbelt

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
)

// The names of the parameters that stand for roots, as sandbox-exec takes them with
// -D NAME=PATH. An external rule has EXTERNAL_n, where n counts the external rules of
// the policy from 0.
const (
	ParamWorkspace = "WORKSPACE"
	ParamHome      = "HOME"
	ParamTemp      = "TMP"
	paramExternal  = "EXTERNAL_"
)

// maxText bounds the bytes of a path in a string. The reader of the profile language stops at
// 1023 ("Error reading string"; anthropic-experimental/sandbox-runtime stays below 900 for
// it).
const maxText = 1000

// Parameters returns the parameters of a tool's portable profile: the paths that they have under
// b, and the port of the proxy. Roots that b does not bind are left out. The paths must be
// canonical, and none may be "/".
func Parameters(t *ir.Tool, b ir.Bindings, proxy uint16) map[string]string {
	out := map[string]string{start.ParamProxy: strconv.Itoa(int(proxy))}
	for root, name := range parameterNames(t) {
		if abs, ok := b.Path(ir.Location{Root: root}); ok {
			out[name] = start.FirstName(abs)
		}
	}
	return out
}

func parameterNames(t *ir.Tool) map[ir.Root]string {
	out := map[ir.Root]string{
		{Kind: ir.Workspace}: ParamWorkspace,
		{Kind: ir.Home}:      ParamHome,
		{Kind: ir.Temp}:      ParamTemp,
	}
	n := 0
	for i := range t.FS {
		if root := t.FS[i].At.Root; t.FS[i].External {
			if _, ok := out[root]; !ok {
				out[root] = paramExternal + strconv.Itoa(n)
			}
			n++
		}
	}
	return out
}

// firstNames spells all that is known of a host without the data volume.
func firstNames(f ir.Facts) ir.Facts {
	if f.Bindings != nil {
		b := *f.Bindings
		b.Workspace, b.Home, b.Temp = start.FirstName(b.Workspace), start.FirstName(b.Home), start.FirstName(b.Temp)
		b.External = make(map[string]string, len(f.Bindings.External))
		for name, path := range f.Bindings.External {
			b.External[name] = start.FirstName(path)
		}
		f.Bindings = &b
	}
	if f.Base != nil {
		f.Base = append([]ir.FSRule{}, f.Base...)
		for i := range f.Base {
			f.Base[i].At = systemName(f.Base[i].At)
		}
	}
	if f.Program != nil {
		at := located(f.Bindings, *f.Program)
		f.Program = &at
	}
	scripts := map[ir.Location]ir.Location{}
	for script, by := range f.Interpreters {
		scripts[located(f.Bindings, script)] = located(f.Bindings, by)
	}
	f.Interpreters = scripts
	return f
}

// systemName spells a location of the host without the data volume.
func systemName(l ir.Location) ir.Location {
	if l.Root.Kind == ir.System {
		l.Path = strings.TrimPrefix(start.FirstName("/"+l.Path), "/")
	}
	return l
}

// located returns where a file is after that.
func located(b *ir.Bindings, l ir.Location) ir.Location {
	l = systemName(l)
	if b == nil || l.Root.Kind != ir.System {
		return l
	}
	return b.Locate("/" + l.Path)
}

// place is a path as the profile spells it: a text behind a parameter, or just an absolute text.
type place struct {
	param, text string
}

// String writes the place as an expression of the profile language.
func (p place) String() string {
	switch {
	case p.param == "":
		return start.Quote(p.text)
	case p.text == "":
		return "(param " + start.Quote(p.param) + ")"
	default:
		return "(string-append (param " + start.Quote(p.param) + ") " + start.Quote(p.text) + ")"
	}
}

const notCanonical = "a path that is not canonical"

// problem returns the reason why a place cannot be written, empty if it can. The language has
// no escape that is safe for control characters; a path that is not canonical makes a rule that
// never matches, and such a rule is a missing denial.
func (p place) problem() string {
	switch {
	case len(p.text) > maxText:
		return "a path of " + strconv.Itoa(len(p.text)) + " bytes; a profile reads at most " + strconv.Itoa(maxText)
	case !utf8.ValidString(p.text):
		return "a path that is not valid UTF-8"
	case strings.ContainsFunc(p.text, unicode.IsControl):
		return "a path with a control character"
	case !canonical(p.text):
		return notCanonical
	default:
		return ""
	}
}

// canonical reports whether a text that starts with a slash, or is empty, has no
// empty component and none of "." and "..".
func canonical(text string) bool {
	if text == "" || text == "/" {
		return true
	}
	rest, ok := strings.CutPrefix(text, "/")
	for name := range strings.SplitSeq(rest, "/") {
		ok = ok && name != "" && name != "." && name != ".."
	}
	return ok
}

// comment makes a text safe behind a semicolon, and ASCII: the system's compiler has been seen to
// abort at other bytes, also in comments (h5i-dev/h5i, pull 387).
// See decision D249.
func comment(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxASCII }) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsControl(r) || r == utf8.RuneError:
			out.WriteByte('?')
		case r > unicode.MaxASCII:
			escaped := strconv.QuoteRuneToASCII(r)
			out.WriteString(escaped[1 : len(escaped)-1])
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// capsWord writes capabilities in a comment.
func capsWord(c ir.CapSet) string {
	if c == 0 {
		return "nothing"
	}
	return c.String()
}

// place returns how a location is spelled: absolute where its root is bound.
func (p *profile) place(l ir.Location) place {
	if abs, ok := p.abs(l); ok {
		return place{text: abs}
	}
	out := place{param: p.params[l.Root]}
	if l.Path != "" {
		out.text = "/" + l.Path
	}
	return out
}

// abs returns the absolute path of a location, and false where a parameter stands
// for its root.
func (p *profile) abs(l ir.Location) (string, bool) {
	if l.Root.Kind == ir.System {
		return "/" + l.Path, true
	}
	if p.bind == nil {
		return "", false
	}
	return p.bind.Path(l)
}
