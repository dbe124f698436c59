package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/enforce/start"
)

// TestFresh: the picture of the README shows what the commands say now.
func TestFresh(t *testing.T) {
	if !start.ThisHost().Supervises {
		t.Skip("the recorded host has a supervisor: Linux 5.19 with Landlock")
	}
	got, err := run("../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../" + picture)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v; task recording writes it anew (-committed +now):\n%s", err, cmp.Diff(string(want), string(got)))
	}
	for _, shown := range []string{"TOKEN=example-only", "cat: .env: Permission denied", ">int two;<", ">no ", ">yes "} {
		if !strings.Contains(string(got), shown) {
			t.Errorf("it does not show %s", shown)
		}
	}
}

// TestDrawing: texts of commands are text of the picture, which is XML and asks for nothing.
func TestDrawing(t *testing.T) {
	got, err := draw([]line{{Command: true, Text: `a <script>&"'`}, {Text: "]]> </svg> {{x}}"}})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(got)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "script" {
				t.Error("a command became an element")
			}
		case xml.CharData:
			text.Write(token)
		}
	}
	for _, want := range []string{`a <script>&"'`, "]]> </svg> {{x}}"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Count(string(got), "http") != 1 || len(got) > 300<<10 {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}
