package compiler

import (
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
)

// credential reads the table that says which secret the egress proxy puts into requests.
func (s netScope) credential(v *source.Value) *ir.Credential {
	t := s.table(v, `a table such as { env = "TOKEN", as = "header", name = "Authorization" }`)
	if t == nil {
		return nil
	}
	s.known(t, "a credential", "env", "file", "command", "as", "name")
	c := &ir.Credential{}
	sources := 0
	for i := range t.Entries {
		e := &t.Entries[i]
		switch in := s.key(e.Key); e.Key {
		case "env", "file", "command":
			if sources++; sources > 1 {
				in.report(diag.BadNetField, e.Value, "found a second source").Hint =
					"leave one of env, file and command"
			}
			netScope{in}.secret(c, e)
		case "as":
			c.As, _ = in.oneOf(e.Value, "header", "basic", "query")
		case "name":
			c.Name, _ = in.str(e.Value)
		}
	}
	if sources == 0 {
		s.report(diag.MissingField, v, "found a credential without a source").Hint =
			"add env = …, file = … or command = …"
	}
	for _, key := range []string{"as", "name"} {
		if t.Get(key) == nil {
			s.missing(v, "a credential", key)
		}
	}
	if n := t.Get("name"); n != nil && n.Kind == source.StringKind {
		if why := badCarrier(c.As, c.Name); why != "" {
			s.key("name").report(diag.BadNetField, n, `found "`+c.Name+`": `+why)
		}
	}
	return c
}

// secret reads the source of a secret.
func (s netScope) secret(c *ir.Credential, e *source.Entry) {
	var r ir.EnvRule
	switch v := e.Value; e.Key {
	case "env":
		text, ok := s.str(v)
		if ok && s.envName(&r, v, text) && r.Prefix {
			s.report(diag.BadEnvName, v, "found a prefix, expected one variable")
		}
		c.Env = text
	case "file":
		s.outside(e)
		text, ok := s.str(v)
		if err := resolve.CheckText(text); ok && err != nil {
			s.report(diag.BadNetField, v, err.Error())
		} else if ok && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/") {
			s.report(diag.BadNetField, v, `found "`+text+`", expected a path that begins with / or ~/`).Hint =
				"keep secrets outside of the workspace, which tools may read"
		}
		c.File = text
	case "command":
		s.outside(e)
		c.Command = s.words(v)
	}
}

// words reads a string that is split as a shell splits words, or an array of words.
func (s netScope) words(v *source.Value) []string {
	//exhaustive:ignore
	switch v.Kind {
	case source.StringKind:
		out, err := split.Words(v.Text)
		if err != nil {
			s.report(diag.BadNetField, v, err.Error())
		}
		return out
	case source.ArrayKind:
		out := s.strs(v)
		if len(out) == 0 || out[0] == "" {
			s.report(diag.BadNetField, v, "found no program")
		}
		return out
	default:
		s.expect(v, "a string or an array of strings")
		return nil
	}
}

// outside refuses files and commands outside of the sandbox in a layer that tools or a
// repository can write.
// See decision D105.
func (s netScope) outside(e *source.Entry) {
	if !s.confined {
		return
	}
	f := s.report(diag.CredentialLayer, e.Value, "found "+e.Key+" in a layer that lies in the workspace")
	f.Hint = "write the rule in your own file, or in a file outside of the workspace that --config names; env may " +
		"stay here"
}

// badCarrier says why a part of a request cannot carry a credential, empty if it can.
func badCarrier(as, name string) string {
	lower := strings.ToLower(name)
	plain := func(other string) bool {
		return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
			return c <= ' ' || c >= 0x7f || strings.ContainsRune(other, c)
		})
	}
	switch {
	case as == "header" && !plain(`"(),/:;<=>?@[\]{}`):
		return "not the name of a header (RFC 9110, 5.6.2)"
	case as == "header" && (framing[lower] || strings.HasPrefix(lower, "proxy-")):
		return "the header is about the connection, and the proxy writes it"
	case as == "query" && !plain("&=#+%"):
		return "not the name of a parameter"
	case as == "basic" && strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == ':' }):
		return "not a user (RFC 7617, 2)"
	}
	return ""
}

// framing are the headers that say where a request goes and where it ends, and the headers that a connection keeps to
// itself (RFC 9110, 7.6.1).
var framing = map[string]bool{
	"host": true, "content-length": true, "transfer-encoding": true, "connection": true, "keep-alive": true, "te": true,
	"trailer": true, "upgrade": true, "expect": true, "via": true, "http2-settings": true,
}
