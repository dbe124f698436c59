package compiler

import (
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// checkNet reports fields that a rule cannot have together.
func (s netScope) checkNet(t *source.Table, r *ir.NetRule) {
	if r.Listen {
		s.clash(t, "listen = true", "a rule about listening has an address and a port alone",
			"scheme", "path_prefix", "methods", "inspect", "opaque", "credential")
		s.checkListen(t, r)
		return
	}
	if r.Scheme != "" && ir.DefaultPort(r.Scheme) == 0 && t.Get("port") == nil {
		f := s.key("scheme").report(diag.BadNetField, t.Get("scheme"),
			"found a scheme without a default port and no port: nothing matches")
		f.Hint = "add port = …"
	}
	switch {
	case r.Scheme == ir.Stream:
		s.clash(t, `scheme = "tcp"`, "the bytes of a stream are not looked at", "path_prefix", "methods", "inspect",
			"opaque", "credential")
		return
	case r.Scheme != "" && r.Scheme != "https":
		s.clash(t, `scheme = "`+r.Scheme+`"`, "it is about connections of https", "inspect", "opaque", "credential")
	case r.Opaque:
		s.clash(t, "opaque = true", "the bytes of the connection are not looked at", "path_prefix", "methods",
			"inspect", "credential")
	default:
		s.checkSeen(t, r)
	}
	if r.Opaque && !r.Allow {
		s.needs(t, "opaque", "a rule that denies lets no connection pass", "add allow = true, or remove opaque")
	}
}

// checkSeen reports a rule that needs to see the requests of https and does not.
func (s netScope) checkSeen(t *source.Table, r *ir.NetRule) {
	if len(r.Methods) > 0 && !r.Inspect {
		s.needs(t, "methods", "methods are not seen in https without inspect", `add inspect = true, or scheme = "http"`)
	}
	switch {
	case r.Credential == nil:
	case !r.Inspect:
		s.needs(t, "credential", "nothing can be put into https without inspect", "add inspect = true")
	case !r.Allow:
		s.needs(t, "credential", "a rule that denies lets no request pass", "add allow = true")
	case r.Host.Kind == ir.HostAny:
		s.needs(t, "credential", "every host would be sent it",
			`name the host, or the hosts below a name as "*.example.com"`)
	}
}

// checkListen reports a host at which nothing listens.
func (s netScope) checkListen(t *source.Table, r *ir.NetRule) {
	if r.Host.Kind == ir.HostSuffix || r.Host.Kind == ir.HostName && r.Host.Name != ir.Localhost {
		s.key("host").report(diag.BadNetField, t.Get("host"),
			`found "`+r.Written+`", expected localhost, an address of this host, or "*"`)
	}
}

// clash reports the keys that are set beside another key.
func (s netScope) clash(t *source.Table, beside, why string, keys ...string) {
	for _, k := range keys {
		v := t.Get(k)
		if v == nil || v.Kind == source.BoolKind && !v.Bool {
			continue
		}
		s.key(k).report(diag.BadNetField, v, "found "+k+" beside "+beside+": "+why).Hint = "remove one of the two"
	}
}

// needs reports a key that lacks another key.
func (s netScope) needs(t *source.Table, key, why, hint string) {
	s.key(key).report(diag.BadNetField, t.Get(key), why).Hint = hint
}
