package evidencecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/test/irtest"
)

// required are the members that OCSF 1.4.0 requires of each event, and of those of a class
// (https://schema.ocsf.io/1.4.0/classes, attributes with the requirement "required").
var required = map[float64][]string{
	0:            {"activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid", "action_id", "disposition_id"},
	fileActivity: {"actor", "device", "file"}, launch: {"actor", "device", "process"}, network: {"dst_endpoint"},
	request: {"http_request", "dst_endpoint"}, lookup: {"query"}, lifecycle: {"app"},
}

// TestSecurity: an exported event has what OCSF requires of its class, whatever was judged.
func TestSecurity(t *testing.T) {
	dir, seen := t.TempDir(), map[string]int{}
	irtest.Check(t, 5_000, 1, func(rt *rapid.T) {
		place, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(place)
		h := write(rt, place)
		var out bytes.Buffer
		if err := Export(bytes.NewReader(join(h.lines)), &out, OCSF); err != nil {
			rt.Fatal(err)
		}
		events := slices.Collect(bytes.Lines(out.Bytes()))
		if len(events) != len(h.lines) {
			rt.Fatalf("%d events of %d lines", len(events), len(h.lines))
		}
		for _, line := range events {
			var e map[string]any
			if err := json.Unmarshal(line, &e); err != nil {
				rt.Fatalf("%s: %v", line, err)
			}
			class, _ := e["class_uid"].(float64)
			activity, _ := e["activity_id"].(float64)
			if _, known := required[class]; !known || e["type_uid"] != class*100+activity || e["category_uid"] != float64(int(class)/1000) {
				rt.Fatalf("%s", line)
			}
			for _, name := range slices.Concat(required[0], required[class]) {
				if _, is := e[name]; !is {
					rt.Fatalf("lacks %s: %s", name, line)
				}
			}
			seen[fmt.Sprint(class)]++
		}
	})
	irtest.Happened(t, seen, "1001", "4001", "4002", "4003", "6002")
}

// TestLong: a line without an end is read no further than its bound.
func TestLong(t *testing.T) {
	if _, err := Check([]io.Reader{endless{}}, Options{}); err != errLong {
		t.Errorf("got %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// FuzzCheck: no text makes the check or an export fail otherwise than by what they say, and a text that is no log is
// refused.
func FuzzCheck(f *testing.F) {
	seed := filepath.Join("testdata", "seed.jsonl")
	text, err := os.ReadFile(seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for line := range strings.Lines(string(text)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Check([]io.Reader{bytes.NewReader(text)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 0 && len(r.Problems) == 0 && bytes.Count(text, []byte(`"event":"begin"`)) == 0 {
			t.Errorf("no run, and no problem: %q", text)
		}
		_ = r.Text([]string{"log"})
		_ = Export(bytes.NewReader(text), io.Discard, OTLP)
		_ = Export(bytes.NewReader(text), io.Discard, OCSF)
	})
}
