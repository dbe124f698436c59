package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// keyOf writes a key that only its seed decides.
func keyOf(t *testing.T, seed byte) (private, public string) {
	t.Helper()
	raw := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	private = filepath.Join(t.TempDir(), "release.key")
	write(t, private, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), 0o600)
	k, err := readKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := k.pem()
	if err != nil {
		t.Fatal(err)
	}
	public = filepath.Join(t.TempDir(), "release.pub")
	write(t, public, string(text), 0o644)
	return private, public
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := testbuild.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// fake makes a release of programs that say their platform, with a version and the seed of a key.
func fake(t *testing.T, version string, seed byte) *release {
	t.Helper()
	private, _ := keyOf(t, seed)
	k, err := readKey(private)
	if err != nil {
		t.Fatal(err)
	}
	r := &release{tag: "v" + version, version: version, commit: strings.Repeat("c", 40), epoch: 1_700_000_000, golang: "go1.26.0",
		key: k, built: t.TempDir(), out: t.TempDir()}
	for _, p := range platforms {
		for _, of := range programs {
			write(t, r.binary(p, of), "#!/bin/sh\necho "+of.name+" "+version+" "+p.os+"/"+p.arch+"\n", 0o755)
		}
	}
	for _, x := range append([]paper{{name: "accessc_serve.py"}, {name: "notes.md"}}, papers...) {
		write(t, filepath.Join(r.built, "papers", x.name), x.name+"\n", 0o644)
	}
	if err := r.plain(); err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sums reads checksums.txt.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(string(read(t, dir, checksumsFile))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		out[name] = sum
	}
	return out
}

// TestReleasesAgree: two releases of the same programs, in other directories and from files of other times, are the same
// bytes.
func TestReleasesAgree(t *testing.T) {
	a, b := fake(t, "1.2.3", 1), fake(t, "1.2.3", 1)
	files, err := subjects(a.out)
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if !bytes.Equal(read(t, a.out, f.Name), read(t, b.out, f.Name)) {
			t.Errorf("%s differs", f.Name)
		}
	}
}

// TestNamedFilesAreThere: formula, manifest and npm name files of the release, by their hashes, and every platform has
// the program of its own.
func TestNamedFilesAreThere(t *testing.T) {
	r := fake(t, "1.2.3", 1)
	known := sums(t, r.out)
	at := regexp.QuoteMeta(r.downloads()) + `/(\S+)"`
	for file, text := range map[string]string{
		"accessc.rb": `url "` + at + `\s+sha256 "(\w+)"`, "accessc.json": `"hash": "(\w+)",\s+"url": "` + at,
	} {
		found := regexp.MustCompile(text).FindAllStringSubmatch(string(read(t, r.out, file)), -1)
		if want := map[string]int{"accessc.rb": 4, "accessc.json": 2}[file]; len(found) != want {
			t.Errorf("%s names %d files, expected %d", file, len(found), want)
		}
		for _, m := range found {
			name, sum := m[1], m[2]
			if file == "accessc.json" {
				name, sum = sum, name
			}
			if known[name] != sum {
				t.Errorf("%s says %s of %s, which is %q", file, sum, name, known[name])
			}
		}
	}
	var about npmPackage
	unpack(t, read(t, r.out, "npm-accessc-1.2.3.tgz"), "package/package.json", &about)
	for _, p := range platforms {
		says := "accessc 1.2.3 " + p.os + "/" + p.arch + "\n"
		file := "accessc-" + p.npm + "-" + p.cpu
		var its npmPackage
		entries := unpack(t, read(t, r.out, "npm-"+file+"-1.2.3.tgz"), "package/package.json", &its)
		if about.Optional[its.Name] != its.Version || its.OS[0] != p.npm || its.CPU[0] != p.cpu ||
			!strings.Contains(entries["package/bin/accessc"+p.exe()], says) {
			t.Errorf("%s: %+v", file, its)
		}
		if p.os != "windows" && !strings.Contains(unpack(t, read(t, r.out, r.archive(p)), "", nil)[r.base(p)+"/accessc"], says) {
			t.Errorf("%s has no program of its own", r.archive(p))
		}
		wheel := unzip(t, read(t, r.out, "accessc-1.2.3-py3-none-"+p.wheel+".whl"))
		if !strings.Contains(wheel["accessc-1.2.3.data/scripts/accessc"+p.exe()], says) {
			t.Errorf("the wheel of %s has no program of its own", p.wheel)
		}
		record := wheel["accessc-1.2.3.dist-info/RECORD"]
		for name, text := range wheel {
			sum := sha256.Sum256([]byte(text))
			if line := name + ",sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]); !strings.HasSuffix(name, "/RECORD") && !strings.Contains(record, line) {
				t.Errorf("%s: RECORD has no %s", p.wheel, line)
			}
		}
	}
}

// unpack reads a tar archive in gzip's compression, and one file of it as JSON.
func unpack(t *testing.T, data []byte, file string, into any) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := untar(t, z)
	if into != nil {
		if err := json.Unmarshal([]byte(out[file]), into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return out
}

func untar(t *testing.T, in io.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(text)
	}
}

func unzip(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(text)
	}
	return out
}

// TestImage: every descriptor of the image leads to its blob, down to the layer of each architecture.
func TestImage(t *testing.T) {
	type descriptor struct {
		MediaType, Digest string
		Size              int
		Platform          struct{ Architecture string }
	}
	r := fake(t, "1.2.3", 1)
	files := untar(t, bytes.NewReader(read(t, r.out, "accessc-1.2.3-image.tar")))
	get := func(d descriptor, into any) string {
		t.Helper()
		blob := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		sum := sha256.Sum256([]byte(blob))
		if "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || len(blob) != d.Size {
			t.Fatalf("%+v leads to %d bytes", d, len(blob))
		}
		if into != nil {
			if err := json.Unmarshal([]byte(blob), into); err != nil {
				t.Fatal(err)
			}
		}
		return blob
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal([]byte(files["index.json"]), &index); err != nil || len(index.Manifests) != 1 {
		t.Fatalf("%v, %+v", err, index)
	}
	get(index.Manifests[0], &index)
	for _, m := range index.Manifests {
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		var config struct {
			Architecture string
			Rootfs       struct {
				Diffs []string `json:"diff_ids"`
			}
		}
		get(m, &manifest)
		get(manifest.Config, &config)
		layer := []byte(get(manifest.Layers[0], nil))
		z, err := gzip.NewReader(bytes.NewReader(layer))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if config.Architecture != m.Platform.Architecture || config.Rootfs.Diffs[0] != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Errorf("%+v, %+v", m, config)
		}
		if says := "1.2.3 linux/" + m.Platform.Architecture; !strings.Contains(untar(t, bytes.NewReader(text))["usr/bin/accessc"], says) {
			t.Errorf("the image of %s has another program", m.Platform.Architecture)
		}
	}
	if len(index.Manifests) != 2 {
		t.Errorf("%d images", len(index.Manifests))
	}
}

// TestCheck: a release whose files are changed, added or missing, or that another has signed, does not pass.
func TestCheck(t *testing.T) {
	_, public := keyOf(t, 1)
	_, others := keyOf(t, 2)
	r := fake(t, "1.2.3", 1)
	if err := check(r.out, public); err != nil {
		t.Error(err)
	}
	if err := check(r.out, others); err == nil {
		t.Error("the key of another passes")
	}
	for name, change := range map[string]func(dir string) error{
		"is not the file":  func(dir string) error { return os.WriteFile(filepath.Join(dir, checksumsFile), []byte("x"), 0o644) },
		"is not in the":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), []byte("x"), 0o644) },
		"is missing":       func(dir string) error { return os.Remove(filepath.Join(dir, "install.sh")) },
		"not a usable att": func(dir string) error { return os.WriteFile(filepath.Join(dir, provenanceFile), []byte("x"), 0o644) },
	} {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(r.out)); err != nil {
			t.Fatal(err)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if err := check(dir, public); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, expected %q", err, name)
		}
	}
}

// TestVersions: a release has a version that every kind of package can spell, and a section of the changelog; only a trial
// takes the section of what is not released.
func TestVersions(t *testing.T) {
	for tag, ok := range map[string]bool{"v0.2.0": true, "v1.0.0-rc.2": true, "0.2.0": false, "v1": false, "v2.0.0": false, "v1.2.3-beta": false, "v01.2.3": false,
		"v1.2.3;x": false, "v1.2.3\nx": false, "../v1.2.3": false} {
		if tags.MatchString(tag) != ok {
			t.Errorf("%q: expected %v", tag, ok)
		}
	}
	text := "# Changelog\n\n## Unreleased\n\nnew [page](docs/x.md), [other](https://other.example)\n\n## 0.1.0\n\nold\n"
	for _, c := range []struct {
		r    release
		want string
	}{
		{release{tag: "v0.1.0", version: "0.1.0"}, "# accessc 0.1.0\n\nold\n"},
		{release{tag: "v0.2.0", version: "0.2.0"}, ""},
		{release{tag: "v0.2.0", version: "0.2.0", trial: true},
			"# accessc 0.2.0\n\nnew [page](" + repository + "/blob/v0.2.0/docs/x.md), [other](https://other.example)\n"},
	} {
		if got, err := c.r.notes(text); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.r.tag, got, err)
		}
	}
}
