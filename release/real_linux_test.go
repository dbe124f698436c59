package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// place is a directory in which a user runs commands.
type place struct {
	t   *testing.T
	dir string
	env []string
	uid uint32
}

// try runs a command and returns what it prints.
func (p place) try(args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	if p.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: p.uid, Gid: p.uid}}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p place) run(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// needs skips a test whose programs are missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing", name)
		}
	}
}

// firstTool makes a workspace with a tool that may read one of two files.
func firstTool(t *testing.T, dir string) {
	t.Helper()
	write(t, dir+"/accessc.toml", "[tools.show]\nsource = \"local\"\ncommand = \"cat note secret\"\naccess.fs = [{ path = \"note\", read = true }]\n", 0o644)
	write(t, dir+"/note", "noted\n", 0o644)
	write(t, dir+"/secret", "kept\n", 0o644)
}

// works has an installed accessc say its version and hold the first tool.
func (p place) works(accessc ...string) {
	p.t.Helper()
	if out := p.run(append(accessc, "version")...); !strings.HasPrefix(out, "accessc "+version+" ") {
		p.t.Errorf("the version is %q", out)
	}
	out, _ := p.try(append(accessc, "exec", "show")...)
	if !strings.Contains(out, "noted") || strings.Contains(out, "kept") || !strings.Contains(out, "Permission denied") {
		p.t.Errorf("the first tool: %s", out)
	}
}

const version = "0.99.9"

// TestRelease makes a release twice, as two users in two directories with other masks, and compares it file by file. Then it
// installs what it made by every way that docs/install.md has, as far as the programs are there, runs a first tool, and
// removes it. It takes the modules from their proxy and compiles for every platform, which lasts minutes.
func TestRelease(t *testing.T) {
	if os.Getenv("ACCESSC_RELEASE") == "" {
		t.Skip("it lasts: ACCESSC_RELEASE=1, or .ci/nightly release")
	}
	if os.Getuid() != 0 || runtime.GOARCH != "amd64" {
		t.Skip("only root can be two users; the packages are for amd64")
	}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	caches := []string{"GOCACHE=" + dir + "/cache", "GOMODCACHE=" + dir + "/mod", "GOFLAGS=-trimpath"}
	one := place{t, dir + "/one", append(caches, "HOME="+dir+"/home", "GIT_AUTHOR_DATE=@1790000000", "GIT_COMMITTER_DATE=@1790000000"), 0}
	two := place{t, dir + "/two", append(caches, "HOME="+dir+"/home2"), 65534}
	setup := place{t, dir, nil, 0}
	setup.run("git", "clone", "-q", root, one.dir)
	one.run("sed", "-i", "s/^## Unreleased/## "+version+"/", "CHANGELOG.md")
	one.run("git", "-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "-qam", "Release")
	setup.run("git", "clone", "-q", one.dir, two.dir)
	private, public := keyOf(t, 1)
	for n, p := range []place{one, two} {
		at := filepath.Join(dir, "key"+string('1'+rune(n)))
		write(t, at, string(read(t, filepath.Dir(private), filepath.Base(private))), 0o600)
		setup.run("mkdir", "-p", strings.TrimPrefix(p.env[3], "HOME="))
		setup.run("chown", "-R", strings.Repeat("nobody", n)+strings.Repeat("root", 1-n), p.dir, at, strings.TrimPrefix(p.env[3], "HOME="))
		p.run("sh", "-c", "umask 0"+[]string{"22", "77"}[n]+" && go run ./release v"+version+" -key "+at)
		setup.run("find", "cache", "-type", "d", "-exec", "chmod", "777", "{}", "+")
	}
	dist := one.dir + "/dist/v" + version
	files, err := subjects(dist)
	if err != nil {
		t.Fatal(err)
	}
	others, err := subjects(two.dir + "/dist/v" + version)
	if err != nil || len(files) != len(others) || len(files) < 40 {
		t.Fatalf("%d files and %d: %v", len(files), len(others), err)
	}
	for i, f := range files {
		if f != others[i] {
			t.Errorf("%s differs from %s", f.Name, others[i].Name)
		}
	}
	t.Log(one.run("go", "run", "./release", "-check", dist, "-key", public))

	at := func(t *testing.T) place {
		p := place{t, t.TempDir(), nil, 0}
		p.env = []string{"HOME=" + p.dir, "XDG_STATE_HOME=" + p.dir + "/state", "XDG_CONFIG_HOME=" + p.dir + "/config"}
		firstTool(t, p.dir+"/ws")
		p.dir += "/ws"
		return p
	}
	t.Run("archive", func(t *testing.T) {
		p := at(t)
		p.run("tar", "-xzf", dist+"/accessc-"+version+"-linux-amd64.tar.gz", "-C", "..")
		accessc := "../accessc-" + version + "-linux-amd64/accessc"
		p.works(accessc)
		// Whoever has the tag builds the same program by two commands.
		clone := place{t, dir + "/again", caches, 0}
		setup.run("git", "clone", "-q", one.dir, clone.dir)
		clone.run("git", "tag", "v"+version)
		clone.env = append(clone.env, "CGO_ENABLED=0")
		clone.run("go", "build", "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "./cmd/accessc")
		if !bytes.Equal(read(t, clone.dir, "accessc"), read(t, p.dir, accessc)) {
			t.Error("a build in a clone differs")
		}
	})
	t.Run("install.sh", func(t *testing.T) {
		p := at(t)
		server := httptest.NewServer(http.FileServer(http.Dir(dist)))
		defer server.Close()
		p.run("sh", dist+"/install.sh", "--from", server.URL)
		p.works("../.local/bin/accessc")
	})
	t.Run("go install", func(t *testing.T) {
		p := at(t)
		one.run("git", "tag", "v"+version)
		p.env = append(p.env, caches...)
		p.env = append(p.env, "GOBIN="+p.dir+"/bin", "GOPRIVATE="+strings.TrimPrefix(repository, "https://"), "CGO_ENABLED=0",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+one.dir+".insteadOf", "GIT_CONFIG_VALUE_0="+repository)
		p.run("go", "install", strings.TrimPrefix(repository, "https://")+"/cmd/accessc@v"+version)
		if out := p.run("bin/accessc", "version"); !strings.HasPrefix(out, "accessc "+version+"\n") {
			t.Errorf("the version is %q", out)
		}
	})
	t.Run("deb", func(t *testing.T) {
		needs(t, "debootstrap")
		p := at(t)
		system := dir + "/debian"
		p.run("debootstrap", "--variant=minbase", "stable", system)
		p.run("cp", "-r", p.dir, dist+"/accessc_"+version+"_amd64.deb", system+"/root")
		inside := place{t, system, []string{"HOME=/root", "PATH=/usr/bin:/bin:/usr/sbin:/sbin"}, 0}
		inside.run("chroot", system, "dpkg", "-i", "/root/accessc_"+version+"_amd64.deb")
		inside.run("mount", "-t", "proc", "proc", system+"/proc")
		defer inside.run("umount", system+"/proc")
		inside.works("chroot", system, "env", "-C", "/root/ws", "accessc")
		inside.run("chroot", system, "dpkg", "-r", "accessc")
		if left := inside.run("find", system+"/usr", "-name", "*accessc*"); left != "" {
			t.Errorf("after the removal there are %s", left)
		}
	})
	t.Run("rpm", func(t *testing.T) {
		needs(t, "rpm")
		p := place{t, t.TempDir(), nil, 0}
		p.run("rpm", "--root", p.dir, "--nodeps", "-i", dist+"/accessc-"+version+"-1.x86_64.rpm")
		p.run("rpm", "--root", p.dir, "-V", "--nodeps", "accessc")
		if out := p.run(p.dir+"/usr/bin/accessc", "version"); !strings.Contains(out, version) {
			t.Error(out)
		}
		p.run("rpm", "--root", p.dir, "-e", "accessc")
		if _, err := os.Lstat(p.dir + "/usr/bin/accessc"); err == nil {
			t.Error("it is there after the removal")
		}
	})
	t.Run("apk", func(t *testing.T) {
		// Debian has no apk: the format by hand (https://wiki.alpinelinux.org/wiki/Apk_spec), two streams of which the first has the
		// hash of the second.
		data := read(t, dist, "accessc_"+version+"_x86_64.apk")
		in := bytes.NewReader(data)
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false)
		var control bytes.Buffer
		if _, err := control.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data[len(data)-in.Len():])
		for _, line := range []string{"pkgname = accessc", "pkgver = " + version, "arch = x86_64", "datahash = " + hex.EncodeToString(sum[:])} {
			if !strings.Contains(control.String(), line+"\n") {
				t.Errorf("found no %q in %q", line, control.String())
			}
		}
	})
	t.Run("npm", func(t *testing.T) {
		needs(t, "npm")
		p := at(t)
		server := registry(t, dist)
		p.env = append(p.env, "npm_config_registry="+server, "npm_config_cache="+p.dir+"/.npm", "npm_config_update_notifier=false")
		p.run("npm", "install", "--no-audit", "--no-fund", "accessc@"+version)
		found, _ := filepath.Glob(p.dir + "/node_modules/@accessc/*")
		if len(found) != 1 || filepath.Base(found[0]) != "linux-x64" {
			t.Errorf("npm installed %v", found)
		}
		p.works("npx", "accessc")
		if out, _ := p.try("npx", "accessc", "exec", "none"); !strings.Contains(out, "none") {
			t.Error(out)
		}
		out, err := p.try("sh", "-c", "node_modules/.bin/accessc run sh -c 'kill -TERM $$'; echo $?")
		if !strings.Contains(out, "143") {
			t.Errorf("a signal ends it with %s, %v", out, err)
		}
		p.run("npm", "uninstall", "accessc")
	})
	t.Run("pip", func(t *testing.T) {
		p := at(t)
		if out, err := p.try("python3", "-m", "venv", "../venv"); err != nil {
			t.Skip(out)
		}
		p.run("../venv/bin/pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--find-links", dist, "accessc=="+version)
		p.works("../venv/bin/accessc")
		out := p.run("../venv/bin/python", "-c", `
from accessc import Server
with Server(".") as server:
    print(server.can("show", "read", "secret")["verdict"], server.run("show").stdout)`)
		if want := "deny b'noted\\n'\n"; out != want {
			t.Errorf("got %q, expected %q", out, want)
		}
		if _, err := exec.LookPath("mypy"); err == nil {
			p.run("sh", "-c", "cd ../venv/lib/python3*/site-packages && mypy --strict --cache-dir=/dev/null -p accessc")
		}
		p.run("../venv/bin/pip", "uninstall", "-q", "-y", "accessc")
		if _, err := os.Lstat(p.dir + "/../venv/bin/accessc"); err == nil {
			t.Error("it is there after the removal")
		}
	})
	t.Run("image", func(t *testing.T) {
		needs(t, "skopeo", "umoci", "runc")
		p := place{t, t.TempDir(), nil, 0}
		p.run("skopeo", "copy", "-q", "oci-archive:"+dist+"/accessc-"+version+"-image.tar:"+version, "oci:layout:a")
		p.run("umoci", "unpack", "--image", "layout:a", "bundle")
		var config map[string]any
		if err := json.Unmarshal(read(t, p.dir, "bundle/config.json"), &config); err != nil {
			t.Fatal(err)
		}
		process := config["process"].(object)
		for _, args := range [][]any{{"/usr/bin/accessc", "version"}, {"/usr/bin/accessc", "run", "/usr/bin/accessc", "version"}} {
			process["args"], process["terminal"] = args, false
			data, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			write(t, p.dir+"/bundle/config.json", string(data), 0o644)
			if out := p.run("runc", "run", "-b", "bundle", "accessc-release"); !strings.Contains(out, "accessc "+version+" ") {
				t.Errorf("%v: %s", args, out)
			}
		}
	})
	t.Run("formula", func(t *testing.T) {
		needs(t, "ruby")
		place{t, dist, nil, 0}.run("ruby", "-c", "accessc.rb")
	})
}

// registry serves npm packages as a registry does, and returns its address.
func registry(t *testing.T, dist string) string {
	about := map[string]object{}
	var at string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := strings.TrimPrefix(req.URL.Path, "/")
		if its, ok := about[name]; ok {
			json.NewEncoder(w).Encode(its)
			return
		}
		http.ServeFile(w, req, filepath.Join(dist, filepath.Base(name)))
	}))
	t.Cleanup(server.Close)
	at = server.URL
	packages, _ := filepath.Glob(dist + "/npm-*.tgz")
	for _, file := range packages {
		data := read(t, dist, filepath.Base(file))
		var its object
		unpack(t, data, "package/package.json", &its)
		sum := sha512.Sum512(data)
		its["dist"] = object{"tarball": at + "/-/" + filepath.Base(file), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		about[its["name"].(string)] = object{"name": its["name"], "dist-tags": object{"latest": version}, "versions": object{version: its}}
	}
	return at
}
