//go:build linux

package firsthour_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A stamp has the times of a file's last uses, from the file system.
type stamp struct {
	read, written, changed syscall.Timespec
}

func stampOf(info fs.FileInfo) stamp {
	st := info.Sys().(*syscall.Stat_t)
	return stamp{read: st.Atim, written: st.Mtim, changed: st.Ctim}
}

// A census is the files that exist before a run, below the workspace and the home. See decision D170.
type census map[string]stamp

// take lists the files, and makes each look as if it was last read long ago, so that the kernel
// notes the next read also on file systems with relatime.
func (p *place) take() census {
	p.Helper()
	all := census{}
	long := time.Unix(1e9, 0)
	walk := func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if file == filepath.Join(p.ws, "accessc.toml") || strings.HasPrefix(file, filepath.Join(p.ws, ".accessc")+"/") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := os.Chtimes(file, long, info.ModTime()); err != nil {
			return err
		}
		if info, err = os.Lstat(file); err == nil {
			all[file] = stampOf(info)
		}
		return err
	}
	p.must(filepath.WalkDir(p.ws, walk))
	p.must(filepath.WalkDir(p.user, walk))
	return all
}

// A fit is how closely a policy fits a run: of the files that existed and that the policy lets the
// tool read, and write, how many it did.
type fit struct{ readable, read, writable, written int }

// String shows the share of the readable files that were used, and of the writable ones.
func (f fit) String() string {
	return share(f.read, f.readable) + " " + share(f.written, f.writable)
}

func share(n, of int) string {
	if of == 0 {
		return "   –"
	}
	return fmt.Sprintf("%3d%%", n*100/of)
}

// tightness is the share of the grants that was used.
func (f fit) tightness() float64 {
	if f.readable+f.writable == 0 {
		return 1
	}
	return float64(f.read+f.written) / float64(f.readable+f.writable)
}

// fit compares the grants of the present policy with the files used in the run since the census.
func (p *place) fit(before census) (out fit) {
	p.Helper()
	for file, grant := range p.granted(before) {
		was := before[file]
		info, err := os.Lstat(file)
		now := stamp{}
		if err == nil {
			now = stampOf(info)
		}
		written := err != nil || now.written != was.written || now.changed != was.changed
		if grant.read {
			out.readable++
			if written || now.read != was.read {
				out.read++
			}
		}
		if grant.write {
			out.writable++
			if written {
				out.written++
			}
		}
	}
	return out
}

// A grant has the accesses to a file that a policy permits to a tool.
type grant struct{ read, write bool }

// granted asks about every file of a census.
func (p *place) granted(files census) map[string]grant {
	p.Helper()
	var asked []question
	for file := range files {
		for _, op := range []string{"read", "update", "delete"} {
			asked = append(asked, question{op, file, true, file})
		}
	}
	out := map[string]grant{}
	for _, a := range p.ask(asked) {
		if a.Verdict != "allow" {
			continue
		}
		g := out[a.ID]
		if a.Operation == "read" {
			g.read = true
		} else {
			g.write = true
		}
		out[a.ID] = g
	}
	return out
}

// A question is a line of "accessc can --stdin", and an answer the line that follows from it.
type question struct {
	Operation string `json:"operation"`
	Target    string `json:"target"`
	System    bool   `json:"system"`
	ID        string `json:"id"`
}

type answer struct{ ID, Operation, Verdict, Error string }

// ask puts questions to the present policy of the tool.
func (p *place) ask(questions []question) (out []answer) {
	p.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range questions {
		p.must(enc.Encode(q))
	}
	cmd := p.command(filepath.Join(bin, "accessc"), "can", "--stdin", p.tool)
	cmd.Stdin = &in
	var errs bytes.Buffer
	cmd.Stderr = &errs
	answers, err := cmd.Output()
	if err != nil {
		p.Fatalf("can: %v\n%s", err, errs.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(answers))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a answer
		p.must(json.Unmarshal(lines.Bytes(), &a))
		if a.Error != "" {
			p.Fatalf("can: %s", lines.Text())
		}
		out = append(out, a)
	}
	if len(out) != len(questions) {
		p.Fatalf("can has answered %d of %d questions", len(out), len(questions))
	}
	return out
}

// notesReads tells whether the file system keeps the times of reads.
func notesReads(t testing.TB) bool {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	long := time.Unix(1e9, 0)
	if err := os.Chtimes(file, long, long.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	after, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	return stampOf(before) != stampOf(after)
}
