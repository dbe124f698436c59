package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
)

// built returns the text of a manifest.
func built(t testing.TB, tools ...*ir.Tool) []byte {
	t.Helper()
	dir := t.TempDir()
	req := build.Request{Program: &ir.Program{Tools: tools}, Backends: registry.All, Form: backends.Portable}
	if _, findings, err := build.Write(req, dir); err != nil || findings.Failed() {
		t.Fatal(err, findings)
	}
	data, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// snapshot is a whole one of a manifest.
func snapshot(t testing.TB, text []byte) []byte {
	t.Helper()
	k, policies, err := parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	k.Place = "0/manifest.json"
	f := &frame{key: [32]byte{1}}
	if f.facts, err = k.marshal(); err != nil {
		t.Fatal(err)
	}
	if f.policies, err = deflate(policies); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w := newWriter(&buf, "p")
	w.add(f)
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func indexed(data []byte, dir string) (*earlier, error) {
	name := filepath.Join(dir, "snapshot")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return nil, err
	}
	return readEarlier(name)
}

// TestDamagedSnapshot: a snapshot of which anything is missing or changed is none.
func TestDamagedSnapshot(t *testing.T) {
	dir := t.TempDir()
	good := snapshot(t, built(t, ir.NewTool("a")))
	whole, err := indexed(good, dir)
	if err != nil {
		t.Fatal(err)
	}
	whole.close()
	for i := range good {
		if e, err := indexed(good[:i], dir); err == nil {
			e.close()
			t.Errorf("the first %d bytes are a snapshot", i)
		}
		// The name of the program, and the key of the frame, are not hashed.
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		e, err := indexed(bad, dir)
		if err == nil {
			e.close()
		}
		head := bytes.IndexByte(good, '\n') + 1
		program, key := i < head && i >= len(recordFormat), i >= head+8 && i < head+40
		end := i >= len(good)-headSize
		if err == nil && !program && !key && !end {
			t.Errorf("with another byte at %d it is a snapshot", i)
		}
	}
}

// FuzzManifest: no manifest causes a panic, and the facts of one that is read can be kept and read again.
func FuzzManifest(f *testing.F) {
	good := built(f, ir.NewTool("a"))
	f.Add(good)
	f.Add([]byte(`{"format":"accessc/manifest","format_version":2,"form":"portable","policy_sha256":"","tools":[{"name":"a","source":"local","confined":true}]}`))
	f.Add([]byte(`{"format":"accessc/manifest","format_version":2,"form":"portable","tools":[{"name":"a","policy_as":"a","identity":{"name":""}}]}`))
	f.Add([]byte(`[`))
	q, err := ParseQuestion("write ~")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, policies, err := parse(data, nil)
		if err != nil {
			return
		}
		facts, err := k.marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unmarshalKept(facts); err != nil {
			t.Fatal("facts that were kept are refused: ", err)
		}
		packed, err := deflate(policies)
		if err != nil {
			t.Fatal(err)
		}
		again, err := inflate(packed)
		if err != nil || len(again) != len(policies) {
			t.Fatal("policies that were kept are refused: ", err)
		}
		for _, doc := range again {
			if doc == nil {
				continue
			}
			tool, err := doc.Tool()
			if err != nil {
				t.Fatal("a policy that was kept is refused: ", err)
			}
			q.Put(tool)
		}
	})
}

// FuzzSnapshot: no file causes a panic as a snapshot.
func FuzzSnapshot(f *testing.F) {
	good := snapshot(f, built(f, ir.NewTool("a")))
	f.Add(good)
	f.Add([]byte(recordFormat + "p\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := indexed(data, dir)
		if err != nil {
			return
		}
		defer e.close()
		for _, p := range e.places {
			_ = (&changed{}).read(e, p, &look{facts: &kept{}, frame: &frame{}})
		}
	})
}

// FuzzHost: no report causes a panic, and one that is read answers for any needs.
func FuzzHost(f *testing.F) {
	f.Add([]byte(`{"format_version":1,"system":"Linux 6.1 on x86_64","landlock_abi":3,"findings":[{"name":"supervision","state":"present","detail":""}],"confines":true,"summary":""}`))
	f.Add([]byte(`{"format_version":1,"system":"Windows 10","landlock_abi":0,"findings":[],"confines":false,"summary":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parseHost("h", data)
		if err != nil {
			return
		}
		if _, err := h.gaps("linux 0 11 supervised fs.move\nwindows 0 0 none fs.paths\ndarwin 0 0 weaker net.host"); err != nil {
			t.Fatal(err)
		}
	})
}
