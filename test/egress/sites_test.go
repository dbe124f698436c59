//go:build linux

package egress_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// sites serves every web site of the world, chosen by the first label of the request's host.
func (w *world) sites() (http.Handler, error) {
	git, err := w.repository()
	if err != nil {
		return nil, err
	}
	by := map[string]http.Handler{
		"git": git, "npm": npmRegistry(), "pypi": pythonIndex(), "goproxy": moduleProxy(), "crates": crateRegistry(),
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		a := arrival{server: "http", host: r.Host, method: r.Method, path: r.URL.EscapedPath()}
		a.to, _ = r.Context().Value(localKey{}).(netip.AddrPort)
		if r.TLS != nil {
			a.server, a.sni = "https", r.TLS.ServerName
		}
		w.arrive(a)
		label, _, _ := strings.Cut(r.Host, ".")
		if h := by[label]; h != nil {
			h.ServeHTTP(rw, r)
			return
		}
		if r.URL.Path == "/bulk" {
			rw.Header().Set("Content-Length", strconv.Itoa(bulk))
			part := make([]byte, 1<<18)
			for range bulk / len(part) {
				_, _ = rw.Write(part)
			}
			return
		}
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		fmt.Fprintf(rw, "hello from %s: %s %s\n", host, r.Method, r.URL.EscapedPath())
	}), nil
}

// repository makes a git repository that git's own server serves, if git is there.
func (w *world) repository() (http.Handler, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return http.NotFoundHandler(), nil
	}
	script := `set -e
git init -q -b main "$1/work" && cd "$1/work" && echo content >file && git add file
git -c user.name=t -c user.email=t@t commit -q -m first
git clone -q --bare . "$1/repo.git" && git -C "$1/repo.git" update-server-info
git -C "$1/repo.git" config http.receivepack true`
	root := w.file("git")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", script, "sh", root)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git: %w: %s", err, out)
	}
	return &cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "REMOTE_USER=t"},
	}, nil
}

// tarball is a compressed archive of files.
func tarball(files map[string]string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for name, content := range files {
		_ = t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		_, _ = io.WriteString(t, content)
	}
	_, _ = t.Close(), z.Close()
	return b.Bytes()
}

// zipped is a zip archive of files, in the order of their names and contents.
func zipped(files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		f, _ := z.Create(files[i])
		_, _ = io.WriteString(f, files[i+1])
	}
	_ = z.Close()
	return b.Bytes()
}

// npmRegistry has one package, hello.
func npmRegistry() http.Handler {
	archive := tarball(map[string]string{"package/package.json": `{"name":"hello","version":"1.0.0"}`, "package/index.js": "module.exports = 1\n"})
	sum := sha512.Sum512(archive)
	m := http.NewServeMux()
	m.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"hello","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"hello","version":"1.0.0","dist":{"tarball":"https://%s/hello.tgz","integrity":"sha512-%s"}}}}`,
			r.Host, base64.StdEncoding.EncodeToString(sum[:]))
	})
	m.HandleFunc("GET /hello.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	return m
}

// pythonIndex has one package, hello (PEP 503).
func pythonIndex() http.Handler {
	wheel := zipped("hello.py", "x = 1\n", "hello-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n",
		"hello-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"hello-1.0.dist-info/RECORD", "hello.py,,\nhello-1.0.dist-info/METADATA,,\nhello-1.0.dist-info/WHEEL,,\nhello-1.0.dist-info/RECORD,,\n")
	sum := sha256.Sum256(wheel)
	m := http.NewServeMux()
	m.HandleFunc("GET /simple/hello/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		const name = "hello-1.0-py3-none-any.whl"
		fmt.Fprintf(w, `<!DOCTYPE html><html><body><a href="/files/%s#sha256=%s">%s</a></body></html>`, name, hex.EncodeToString(sum[:]), name)
	})
	m.HandleFunc("GET /files/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wheel) })
	return m
}

// moduleProxy has one module, example.test/hello (https://go.dev/ref/mod#goproxy-protocol).
func moduleProxy() http.Handler {
	const mod = "module example.test/hello\n\ngo 1.20\n"
	archive := zipped("example.test/hello@v1.0.0/go.mod", mod, "example.test/hello@v1.0.0/h.go", "package hello\n")
	m := http.NewServeMux()
	serve := func(path, content string) {
		m.HandleFunc("GET /example.test/hello/@v/"+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, content) })
	}
	serve("list", "v1.0.0\n")
	serve("v1.0.0.info", `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`)
	serve("v1.0.0.mod", mod)
	serve("v1.0.0.zip", string(archive))
	return m
}

// crateRegistry is a sparse registry with one crate, hello.
func crateRegistry() http.Handler {
	archive := tarball(map[string]string{
		"hello-1.0.0/Cargo.toml": "[package]\nname = \"hello\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "hello-1.0.0/src/lib.rs": "",
	})
	sum := sha256.Sum256(archive)
	m := http.NewServeMux()
	m.HandleFunc("GET /config.json", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"dl":"https://%s/dl"}`, r.Host)
	})
	m.HandleFunc("GET /he/ll/hello", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"name":"hello","vers":"1.0.0","deps":[],"cksum":"%s","features":{},"yanked":false}`+"\n", hex.EncodeToString(sum[:]))
	})
	m.HandleFunc("GET /dl/hello/1.0.0/download", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	return m
}
