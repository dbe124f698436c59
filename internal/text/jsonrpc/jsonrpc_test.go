package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/test/irtest"
)

// lines reads all lines of a text, as they are read in pieces of a size.
func lines(t interface{ Fatal(...any) }, text string, limit int) (short []string, long []*Outline) {
	r := NewReader(&slow{text: text, by: 7}, limit)
	for {
		line, o, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return short, long
		case err != nil:
			t.Fatal(err)
		case o != nil:
			long = append(long, o)
		default:
			short = append(short, string(line))
		}
	}
}

// slow yields a few bytes at a time.
type slow struct {
	text string
	by   int
}

func (s *slow) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.by)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// TestReaderKeepsBytes: lines that are not too long come out as they went in.
func TestReaderKeepsBytes(t *testing.T) {
	irtest.Check(t, 20000, 1, func(t *rapid.T) {
		text := rapid.StringMatching(`[a"{\n]{0,40}`).Draw(t, "text")
		short, long := lines(t, text, 100)
		if len(long) != 0 || strings.Join(short, "") != text {
			t.Fatalf("got %q", short)
		}
		for i, line := range short {
			if n := strings.IndexByte(line, '\n'); n >= 0 && n != len(line)-1 || n < 0 && i < len(short)-1 {
				t.Fatalf("got the line %q", line)
			}
		}
	})
}

// TestOutline: the outline of a message that is too long has the id that the message has.
func TestOutline(t *testing.T) {
	filler := strings.Repeat("x", 300)
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"m","params":{"id":8,"a":"` + filler + `"}}`:        "7 true",
		`{"params":["` + filler + `",{"id":1,"method":2}],"method":"tools/call","id":"a\"}"}`: `"a\"}" true`,
		`{"result":{"id":2},"id":3,"x":"` + filler + `"}`:                                     "3 false",
		`{"method":"note","params":"` + filler + `"}`:                                         " false",
		`{"id":{"a":1},"method":"m","params":"` + filler + `"}`:                               " false",
		`{"id":"` + filler + `","method":"m"}`:                                                " false",
		`[{"id":1,"method":"m","params":"` + filler + `"}]`:                                   " false",
		`not json at all ` + filler:                                                           " false",
		`}}}}{{{{"id":1` + filler:                                                             " false",
	} {
		short, long := lines(t, text+"\n{}\n", 100)
		if len(long) != 1 || len(short) != 1 {
			t.Fatalf("%s: got %q and %d long lines", text, short, len(long))
		}
		got := long[0].ID() + map[bool]string{true: " true", false: " false"}[long[0].Request()]
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestLongLinesTakeNoMemory: 100 MB without an end are read in constant memory.
func TestLongLinesTakeNoMemory(t *testing.T) {
	body := io.MultiReader(strings.NewReader(`{"id":1,"method":"m","x":"`), io.LimitReader(forever{}, 100<<20), strings.NewReader("\"}\n"))
	r := NewReader(body, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, o, err := r.Next()
	runtime.ReadMemStats(&after)
	if err != nil || !o.Request() || o.ID() != "1" {
		t.Fatalf("got %+v, %v", o, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestParse: messages, and lines that programs could read in two ways.
func TestParse(t *testing.T) {
	for line, want := range map[string]string{
		"":      "",
		" \r\n": "",
		`{"jsonrpc":"2.0","id":1,"method":"a"}` + "\r\n":  "1 a;",
		"\t" + `{"method":"n"}` + "\n":                    " n;",
		`[{"id":"x","method":"a"},{"id":2,"result":{}}]`:  `"x" a;2 ;`,
		`{"id":1,"id":2,"method":"a"}`:                    `found "id" twice in one object`,
		`{"id":1,"m\u0065thod":"a","method":"b"}`:         `found "method" twice in one object`,
		`{"id":1,"Method":"a"}`:                           `found "Method", which some programs take for "method"`,
		`{"id":1,"re\u017fult":{}}`:                       `found "reſult", which some programs take for "result"`,
		`{"id":1,"method":7}`:                             ErrShape.Error(),
		`{"id":[1],"method":"a"}`:                         ErrShape.Error(),
		`{"id":1,"method":"tools/call "}`:                 ErrMethod.Error(),
		`{"id":1,"method":"tools/call\u200b"}`:            ErrMethod.Error(),
		`[]`:                                              ErrShape.Error(),
		`[1]`:                                             ErrShape.Error(),
		`"text"`:                                          ErrShape.Error(),
		"{\"id\":1,\r\"method\":\"a\"}":                   ErrReturn.Error(),
		"{\"params\":\r{\"method\":\"tools/call\"}\r}":    ErrReturn.Error(),
		"{\"method\":\"\xff\"}":                           ErrText.Error(),
		`{"method":"a"}{"method":"b"}`:                    ErrJSON.Error(),
		`{"method":"a"`:                                   ErrJSON.Error(),
		"\ufeff" + `{"method":"a"}`:                       ErrJSON.Error(),
		`{"method":"` + strings.Repeat(`[\"`, 300) + `"}`: " " + strings.Repeat(`["`, 300) + ";",
		`{"method":"a","params":` + strings.Repeat("[", 256) + strings.Repeat("]", 256) + "}": ErrDeep.Error(),
		`{"method":"a","params":` + strings.Repeat("[", 255) + strings.Repeat("]", 255) + "}": " a;",
		strings.Repeat("[", 20000) + strings.Repeat("]", 20000):                               ErrJSON.Error(),
	} {
		messages, _, err := Parse([]byte(line))
		got := ""
		for _, m := range messages {
			got += m.ID + " " + m.Method + ";"
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.80s: got %q, want %q", line, got, want)
		}
	}
}

// document draws a value of JSON.
func document(t *rapid.T, depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.StringMatching(`[a-c"\\\n é]{0,5}`).Draw(t, "text")
	case 1:
		return float64(rapid.IntRange(-5, 5).Draw(t, "number"))
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return nil
	case 4:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return document(t, depth-1) }), 0, 3).Draw(t, "array")
	default:
		return rapid.MapOfN(rapid.StringMatching(`[a-c"\\]{1,3}`), rapid.Custom(func(t *rapid.T) any { return document(t, depth-1) }), 0, 3).Draw(t, "object")
	}
}

// TestFilter: a filtered line is the line without the elements, and every other byte stays.
func TestFilter(t *testing.T) {
	irtest.Check(t, 20000, 1, func(t *rapid.T) {
		tools := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return document(t, 2) }), 0, 5).Draw(t, "tools")
		doc := map[string]any{"id": 1, "result": map[string]any{"before": document(t, 1), "tools": tools, "zz": document(t, 1)}}
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetIndent("", rapid.SampledFrom([]string{"", " "}).Draw(t, "indent"))
		if err := enc.Encode(doc); err != nil {
			t.Fatal(err)
		}
		text := append([]byte("  "), bytes.ReplaceAll(line.Bytes(), []byte("\n"), nil)...)
		messages, _, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		members, err := Members(messages[0].Result)
		if err != nil {
			t.Fatal(err)
		}
		if all := Filter(text, members["tools"], func(strictjson.Value) bool { return true }); !bytes.Equal(all, text) {
			t.Fatalf("changed %s to %s", text, all)
		}
		var kept []any
		i, drop := -1, rapid.IntRange(0, len(tools)).Draw(t, "drop")
		out := Filter(text, members["tools"], func(strictjson.Value) bool {
			if i++; i == drop {
				return false
			}
			kept = append(kept, tools[i])
			return true
		})
		if kept == nil {
			kept = []any{}
		}
		doc["result"].(map[string]any)["tools"] = kept
		want, _ := json.Marshal(doc)
		if !same(t, out, want) {
			t.Fatalf("%s: got %s, want %s", text, out, want)
		}
	})
}

// same reports whether two documents have one value.
func same(t *rapid.T, a, b []byte) bool {
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

// FuzzParse: encoding/json reads an accepted line alike, and its strings are all seen.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":["c",{"d":"\u00e9"}]}}}`,
		`[{"id":1,"method":"a"},{"id":2,"result":{"tools":[]}}]`, "{\"a\":\r1}", `{"a":1,"a":2}`, ` {"Id":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		messages, batch, err := Parse(line)
		if err != nil || len(messages) == 0 {
			return
		}
		for _, m := range messages {
			var doc map[string]any
			if err := json.Unmarshal([]byte(m.Value.Raw), &doc); err != nil {
				t.Fatalf("%q: %v", m.Value.Raw, err)
			}
			if method, _ := doc["method"].(string); method != m.Method {
				t.Fatalf("%q: got the method %q", line, m.Method)
			}
			if at := m.Value.Index; !bytes.HasPrefix(line[at:], bytes.TrimRight([]byte(m.Value.Raw), " \t\r\n")) {
				t.Fatalf("%q: %q is not at %d", line, m.Value.Raw, at)
			}
		}
		if !batch && len(messages) != 1 {
			t.Fatalf("%q: got %d messages", line, len(messages))
		}
	})
}

// FuzzOutline: any bytes are read in constant memory, and an id that is found is JSON, and text.
func FuzzOutline(f *testing.F) {
	f.Add([]byte("{\"id\":\"\xff\",\"method\":\"a\"}"))
	f.Add([]byte(`{"id":1,"method":"a\"","params":[{"id":2}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o := Sketch(text)
		if id := o.ID(); id != "" && !json.Valid([]byte(id)) || !utf8.ValidString(id) || len(o.token) > maxID {
			t.Fatalf("got the id %q", id)
		}
		messages, batch, err := Parse(text)
		if err == nil && !batch && len(messages) == 1 && messages[0].ID != o.ID() {
			t.Fatalf("%q: got the id %q, want %q", text, o.ID(), messages[0].ID)
		}
	})
}
