package egress_test

import (
	"context"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestOddQuestions: the stub answers one question about the internet, and refuses messages with two and those about
// other classes, whatever they ask for.
func TestOddQuestions(t *testing.T) {
	w := newWorld(t, allow("example.com"))
	w.names = map[string]string{"example.com": "203.0.113.1"}
	question := func(class dnsmessage.Class) dnsmessage.Question {
		return dnsmessage.Question{Name: dnsmessage.MustNewName("example.com."), Type: dnsmessage.TypeA, Class: class}
	}
	for _, tt := range []struct {
		questions []dnsmessage.Question
		want      dnsmessage.RCode
	}{
		{[]dnsmessage.Question{question(dnsmessage.ClassINET)}, dnsmessage.RCodeSuccess},
		{[]dnsmessage.Question{question(dnsmessage.ClassCHAOS)}, dnsmessage.RCodeRefused},
		{[]dnsmessage.Question{question(dnsmessage.ClassANY)}, dnsmessage.RCodeRefused},
		{[]dnsmessage.Question{question(dnsmessage.ClassINET), question(dnsmessage.ClassINET)},
			dnsmessage.RCodeFormatError},
		{nil, dnsmessage.RCodeFormatError},
	} {
		b, err := (&dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: tt.questions}).Pack()
		if err != nil {
			t.Fatal(err)
		}
		var out dnsmessage.Message
		if err := out.Unpack(w.proxy.Answer(context.Background(), b)); err != nil {
			t.Fatal(err)
		}
		if out.RCode != tt.want || (len(out.Answers) > 0) != (tt.want == dnsmessage.RCodeSuccess) {
			t.Errorf("%v: %v with %d answers, want %v", tt.questions, out.RCode, len(out.Answers), tt.want)
		}
	}
}
