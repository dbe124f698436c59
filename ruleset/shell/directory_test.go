package shell

import (
	"slices"
	"testing"
)

// last is the last program of a line.
func last(p *Part) (out *Part) {
	if p.Kind == Program {
		out = p
	}
	for _, in := range p.Parts {
		if found := last(in); found != nil {
			out = found
		}
	}
	return out
}

// TestDirectoryAfter: where the directory is known after a command, and where it is not.
func TestDirectoryAfter(t *testing.T) {
	for line, want := range map[string][]string{
		"cd sub && cat a": {"/w/sub"}, "cd sub & cat a": {"/w"}, "(cd sub); cat a": {"/w"}, "cd sub | cat a": {"/w"},
		"trap 'cd /x' DEBUG; cat a": nil, "CDPATH=/x cd sub; cat a": nil, "pushd sub; cat a": nil,
		"command cd sub; cat a": nil,
		"cd -P sub; cat a":      nil, "true; cat a": {"/w"},
	} {
		if p := last(Analyze(line, Bash, "/w")); p == nil || !slices.Equal(p.Dirs, want) {
			t.Errorf("%s: %+v, want %q", line, p, want)
		}
	}
}

// TestNetworkRedirections: a redirection to a name by which bash connects to a host is none to a file.
func TestNetworkRedirections(t *testing.T) {
	for _, name := range []string{"/dev/tcp/h/53", "/dev/udp/h/53"} {
		for _, op := range []string{">", ">>", "<", "<>", "&>"} {
			found := false
			var look func(*Part)
			look = func(p *Part) {
				if found = found || p.Kind == Opaque; p.Kind == File {
					t.Errorf("%s%s is the file %s", op, name, p.Path)
				}
				for _, in := range p.Parts {
					look(in)
				}
			}
			if look(Analyze("echo a "+op+name, Bash, "/w")); !found {
				t.Errorf("%s%s is seen through", op, name)
			}
		}
	}
}
