package supervisor

import (
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestRefusedQuestion: the answer is one that resolvers take for the answer to their question, and anything else gets
// none.
func TestRefusedQuestion(t *testing.T) {
	asks := func(name string) []byte {
		b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: 7, RecursionDesired: true})
		b.EnableCompression()
		host := dnsmessage.MustNewName(name)
		q := dnsmessage.Question{Name: host, Type: dnsmessage.TypeAAAA, Class: dnsmessage.ClassINET}
		var opt dnsmessage.ResourceHeader
		for _, err := range []error{
			b.StartQuestions(), b.Question(q), b.StartAdditionals(), opt.SetEDNS0(1232, dnsmessage.RCodeSuccess, false),
			b.OPTResource(opt, dnsmessage.OPTResource{}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		out, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, want := range map[string]string{
		"A.Example.": "a.example", ".": "", "_x._tcp.a-b.example.": "_x._tcp.a-b.example", "a b.": "",
	} {
		reply, got := refused(asks(name))
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil {
			t.Fatal(name, err)
		}
		if got != want || m.ID != 7 || !m.Response || !m.RecursionDesired || m.RCode != dnsmessage.RCodeRefused ||
			len(m.Questions) != 1 ||
			m.Questions[0].Name.String() != name || m.Questions[0].Type != dnsmessage.TypeAAAA {
			t.Errorf("%s: %q, not %q; %+v", name, got, want, m)
		}
		for n := range len(asks(name)) - 11 { // the record of EDNS, of 11 bytes, is not read
			if reply, _ := refused(asks(name)[:n]); reply != nil {
				t.Errorf("%s: %d bytes are answered", name, n)
			}
		}
		if again, _ := refused(reply); again != nil {
			t.Errorf("%s: an answer is answered", name)
		}
	}
}

// TestCompletedNames: a name that the resolver has completed by the host's own domains counts as the name that the
// program asked for.
func TestCompletedNames(t *testing.T) {
	cluster := readSearched("nameserver 192.0.2.1\nsearch ns.svc.cluster.local cluster.local\n" +
		"options timeout:1 ndots:5\n")
	for name, want := range map[string]string{
		"registry.example.ns.svc.cluster.local": "registry.example",
		"registry.example.cluster.local":        "registry.example",
		"registry.example":                      "registry.example",
		"db.ns.svc.cluster.local":               "db.ns.svc.cluster.local",
	} {
		if got := cluster.meant(name); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	office := readSearched("domain corp.example.\n")
	if got := office.meant("api.corp.example"); got != "api.corp.example" {
		t.Error(got)
	}
	if got := office.shorter("registry.example.corp.example"); !slices.Equal(got, []string{"registry.example"}) {
		t.Error(got)
	}
}
