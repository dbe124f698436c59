//go:build unix

package start

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/egress/clients"
	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// proxied is a run with an egress proxy: the setup of the proxy, and the reason for variables
// that the tool gets.
type proxied struct {
	setup   wire.Setup
	rules   []ir.NetRule
	secrets map[string]credential.Secret
	system  ir.Platform
}

// newProxied reads the credentials of a policy, in the form of package irjson. A value that cannot
// be had, or that the tool could read or choose, is an error.
func newProxied(req *Request, policy json.RawMessage, l *backends.Launch, tmp string, system ir.Platform) (*proxied, error) {
	program, err := irjson.Unmarshal(policy)
	if err != nil {
		return nil, err
	}
	if len(program.Tools) != 1 {
		return nil, errors.New("expected the policy of one tool")
	}
	tool := program.Tools[0]
	p := &proxied{rules: tool.Net, system: system}
	p.setup = wire.Setup{Policy: policy, Offline: req.Offline, Tells: req.EvidenceLog != nil}
	if p.inspects() {
		p.setup.Dir = tmp
		p.setup.Trusted = trusted(req.Environ)
	}
	if !slices.ContainsFunc(p.rules, func(r ir.NetRule) bool { return r.Credential != nil }) {
		return p, nil
	}
	roots := &ir.Bindings{Workspace: l.Workspace, Home: l.Home, Temp: tmp, External: map[string]string{}}
	links, err := bindingsOf(*l)
	if err != nil {
		return nil, err
	}
	for _, b := range links {
		roots.External[b.rule] = b.target
	}
	getenv := func(name string) string {
		value, _ := lookupEnv(req.Environ, name)
		return value
	}
	h := credential.Host{Getenv: getenv, Environ: req.Environ, Home: getenv("HOME"), Messages: req.Messages}
	h.Reach(ir.NewView(tool, system, ir.Facts{Bindings: roots}), roots)
	if p.secrets, err = credential.All(context.Background(), p.rules, h); err != nil {
		return nil, err
	}
	p.setup.Secrets = map[string]wire.Secret{}
	for source, s := range p.secrets {
		p.setup.Secrets[source] = wire.Secret(s)
	}
	return p, nil
}

// inspects reports whether the tool's clients meet certificates of the run.
func (p *proxied) inspects() bool {
	return slices.ContainsFunc(p.rules, func(r ir.NetRule) bool { return r.Inspect })
}

// trusted are the files of authorities that the caller's own clients use.
func trusted(environ []string) (out []string) {
	for _, v := range clients.Table {
		if name, ok := lookupEnv(environ, v.Name); ok && v.Kind == clients.Bundle && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// environ changes the variables of the tool: stand-ins take the place of values, and clients learn
// where the authorities of the run are, and of a proxy that they do not reach without.
func (p *proxied) environ(env []string, proxy *url.URL) []string {
	if p.secrets != nil {
		env = credential.Environ(env, p.rules, p.secrets)
	}
	s := clients.Setup{Proxy: proxy}
	if p.setup.Dir != "" {
		s.PEM, s.PKCS12 = p.setup.Dir+"/"+clients.PEMFile, p.setup.Dir+"/"+clients.PKCS12File
	}
	return replaced(env, clients.Environ(s, p.system, func(name string) string {
		value, _ := lookupEnv(env, name)
		return value
	}))
}

// replaced puts variables in the place of others with their names.
func replaced(env, by []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, set := lookupEnv(by, name)
		return set
	})
	env = append(env, by...)
	slices.Sort(env)
	return env
}

// wipe forgets the values, which the proxy has.
func (p *proxied) wipe() {
	for _, s := range p.secrets {
		s.Wipe()
	}
}

// passed are the variables that the egress proxy gets of its caller's: where the host's
// authorities are, how its resolver works, and which proxy leads out of its network.
var passed = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "LOCALDOMAIN", "RES_OPTIONS", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

// ofProxy returns the variables of the caller's that the egress proxy gets.
func ofProxy(environ []string) []string {
	return slices.DeleteFunc(append([]string{}, environ...), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(passed, name)
	})
}
