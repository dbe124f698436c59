package play

import (
	"encoding/json"
	"strings"
	"testing"
)

func ask(t *testing.T, r Request) (out Reply) {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(Answer(data), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const text = `[tools.a]
source = "local"
command = "make"
access.fs = [{ path = ".", read = true }, { path = ".env" }]
access.tests = [{ allow = ["read a"], deny = ["read .env", "read b"] }]
`

// TestAnswer: each view says what the policy says.
func TestAnswer(t *testing.T) {
	wider := strings.ReplaceAll(text, "read = true", "read = true, write = true")
	for _, c := range []struct {
		request Request
		want    string
	}{
		{Request{Show: "explain"}, "accessc.toml:4"},
		{Request{Show: "ask", Ask: "read /usr/bin/env"}, "itself: yes, read is granted by /usr  read"},
		{Request{Show: "ask", Ask: "read /usr/bin/env", System: "darwin"}, "itself: yes, read is granted by /usr/bin  read"},
		{Request{Show: "ask", Ask: "read /usr/bin/env", System: "windows"}, "itself: no, no rule matches"},
		{Request{Show: "holds"}, "supervised"},
		{Request{Show: "ask", Ask: "read .env"}, "no "},
		{Request{Show: "ask", Ask: "read x/y"}, "yes "},
		{Request{Show: "tests"}, "1 of 3 tests fails\n  read b"},
		{Request{Show: "compare", Before: text}, "every tool may do what"},
		{Request{Show: "compare", Before: wider}, "narrowed"},
		{Request{Show: "compare", Before: "x"}, "has mistakes"},
		{Request{Show: "artifact", System: "darwin"}, "(deny default "},
		{Request{Show: "artifact", Target: "kubernetes"}, "\"kind\": "},
	} {
		r := c.request
		r.Policy = text
		if r.System == "" {
			r.System = "linux"
		}
		if got := ask(t, r); got.Error != "" || !strings.Contains(got.Text, c.want) {
			t.Errorf("%+v: %s %s", c.request, got.Error, got.Text)
		}
	}
	if got := ask(t, Request{Policy: wider, Before: text, Show: "compare", System: "linux"}); !got.Wider {
		t.Errorf("not wider: %s", got.Text)
	}
	if got := ask(t, Request{Policy: "[tools.a", Show: "explain", System: "linux"}); !got.Failed || !strings.Contains(got.Findings, "accessc.toml:1") {
		t.Errorf("no mistake: %+v", got)
	}
}

// TestRefuses: a request that the page does not send has an error and no answer.
func TestRefuses(t *testing.T) {
	good := Request{Show: "explain", System: "linux"}
	if got := ask(t, good); got.Error != "" {
		t.Error(got.Error)
	}
	for want, change := range map[string]func(*Request){
		"more than":    func(r *Request) { r.Policy = strings.Repeat("#", maxText+1) },
		"more":         func(r *Request) { r.Before = strings.Repeat("#", maxText+1) },
		"than":         func(r *Request) { r.Ask = strings.Repeat("#", maxText+1) },
		"view":         func(r *Request) { r.Show = "x" },
		"system":       func(r *Request) { r.System = "plan9" },
		"ABI 99":       func(r *Request) { r.ABI = 99 },
		"width":        func(r *Request) { r.Width = -1 },
		"target":       func(r *Request) { r.Show, r.Target = "artifact", "../x" },
		"expected one": func(r *Request) { r.Show, r.Ask = "ask", "walk x" },
		"quote":        func(r *Request) { r.Show, r.Ask = "ask", "read '" },
	} {
		r := good
		change(&r)
		if got := ask(t, r); !strings.Contains(got.Error, want) || got.Text != "" {
			t.Errorf("%s: %+v", want, got)
		}
	}
	if got := string(Answer([]byte("{"))); !strings.Contains(got, `"error":"`) {
		t.Error(got)
	}
}
