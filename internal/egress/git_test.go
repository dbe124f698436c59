package egress_test

import (
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/internal/egress/clients"
	"github.com/accessc/accessc/ir"
)

// TestGit: rules about paths and methods let git fetch and not push, with a credential that git
// does not have.
func TestGit(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	served := t.TempDir()
	run := git(t, nil)
	run("", "init", "-q", "--bare", "-b", "main", filepath.Join(served, "project.git"))
	run(filepath.Join(served, "project.git"), "config", "http.receivepack", "true")
	work := filepath.Join(t.TempDir(), "work")
	run("", "init", "-q", "-b", "main", work)
	run(work, "commit", "-q", "--allow-empty", "-m", "first")
	run(work, "push", "-q", filepath.Join(served, "project.git"), "main")
	run(work, "commit", "-q", "--allow-empty", "-m", "second")

	backend := &cgi.Handler{Path: program, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"}}
	answer := func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "git" || password != secretValue {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "expected a user", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}
	may := func(method string, path ...string) ir.NetRule {
		return allow("git.example.com", func(r *ir.NetRule) {
			r.Scheme, r.Inspect, r.Path, r.Methods = "https", true, append([]string{"project.git"}, path...), []string{method}
			r.Credential = &ir.Credential{Env: "TOKEN", As: "basic", Name: "git"}
		})
	}
	fetch := []ir.NetRule{may("GET", "info", "refs"), may("POST", "git-upload-pack")}
	for _, test := range []struct {
		name    string
		rules   []ir.NetRule
		push    bool
		refused int
	}{
		{"fetch", fetch, false, 1},
		{"fetch and push", append(fetch, may("POST", "git-receive-pack")), true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := &vault{}
			w, roots := v.serve(t, test.rules, false, answer)
			trust := filepath.Join(t.TempDir(), "roots.pem")
			if err := os.WriteFile(trust, roots, 0o600); err != nil {
				t.Fatal(err)
			}
			env := clients.Environ(clients.Setup{Proxy: bridge(t, w), PEM: trust}, ir.Linux, func(string) string { return "" })
			confined := git(t, env)
			clone := filepath.Join(t.TempDir(), "clone")
			confined("", "clone", "-q", "https://git.example.com/project.git", clone)
			if log := run(clone, "log", "--format=%s"); log != "first\n" {
				t.Errorf("cloned %q", log)
			}
			before := run(filepath.Join(served, "project.git"), "rev-parse", "main")
			confined(clone, "fetch", "-q")
			out, err := command(work, env, "push", "-q", "https://git.example.com/project.git", "main").CombinedOutput()
			pushed := run(filepath.Join(served, "project.git"), "rev-parse", "main") != before
			if (err == nil) != test.push || pushed != test.push || len(v.refused) != test.refused {
				t.Errorf("pushed %v: %v: %s, refused %q", pushed, err, out, v.refused)
			}
			if !test.push && !strings.Contains(string(out), "403") {
				t.Errorf("git says %s", out)
			}
		})
	}
}

// bridge is an address that git takes for the proxy: connections to the proxy itself are announced.
func bridge(t *testing.T, w *world) *url.URL {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			to := w.connect(egress.Origin{})
			go func() { _, _ = io.Copy(to, conn); _ = to.Close() }()
			go func() { _, _ = io.Copy(conn, to); _ = conn.Close() }()
		}
	}()
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// command is git without this account's configuration.
func command(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}, env...)
	return cmd
}

// git runs git, which must succeed, and returns its output.
func git(t *testing.T, env []string) func(dir string, args ...string) string {
	return func(dir string, args ...string) string {
		t.Helper()
		out, err := command(dir, env, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
}
