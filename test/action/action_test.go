// Package action_test runs the steps of action.yml on pull requests of a local repository. A server plays GitHub: its
// releases and its comments.
package action_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/accessc/accessc/test/testbuild"
)

const (
	repository = "someone/project"
	bot        = "github-actions[bot]"
	secret     = "ghs_example"
	narrow     = `[tools.edit]
source = "local"
command = "tee"
access.fs = [{ path = "src", read = true, write = true }]
`
)

// wide is the policy of narrow with a larger region.
var wide = strings.Replace(narrow, `"src"`, `"."`, 1)

// TestOneComment: the pushes of a pull request have one comment, which says what the last of them changes.
func TestOneComment(t *testing.T) {
	r := newRequest(t)
	// One of its author, with the marker, could say anything later. It is not on the last page.
	r.hub.comments = []comment{{ID: 1, Login: "author", Body: "<!-- accessc . -->"}}
	for i := range 100 {
		r.hub.comments = append(r.hub.comments, comment{ID: i + 2, Login: "author", Body: "text"})
	}
	r.push(map[string]string{"accessc.toml": narrow + "# a remark\n"})
	if r.run() != 0 || len(r.hub.comments) != 101 {
		t.Errorf("a change of no permission has a comment, or fails: %s", r.log)
	}
	r.push(map[string]string{"accessc.toml": wide})
	if status := r.run(); status != 1 {
		t.Errorf("what permits more ends with %d: %s", status, r.log)
	}
	r.said("### accessc: 1 tool may do more")
	if !strings.Contains(r.log, "::error file=accessc.toml,line=4") {
		t.Errorf("no annotation: %s", r.log)
	}
	r.push(map[string]string{"accessc.toml": "[tools."})
	if r.run() != 1 {
		t.Errorf("mistakes pass: %s", r.log)
	}
	r.said("### accessc: the change cannot be compared")
	r.push(map[string]string{"accessc.toml": narrow})
	if r.run() != 0 {
		t.Errorf("a change that was taken back fails: %s", r.log)
	}
	r.said("### accessc: every tool may do what it could do before")
	if first := r.hub.comments[0]; first.Body != "<!-- accessc . -->" {
		t.Errorf("another's comment was changed: %v", first)
	}
	if want := []string{"POST 102", "PATCH 102", "PATCH 102"}; !slices.Equal(r.hub.writes, want) {
		t.Errorf("the server was asked for %v, expected %v", r.hub.writes, want)
	}
}

// TestFork: the run of a fork asks for no comment, with whatever token, and its summary has the same text.
func TestFork(t *testing.T) {
	r := newRequest(t)
	r.values["github.event.pull_request.head.repo.full_name"] = "other/project"
	r.push(map[string]string{"accessc.toml": wide})
	if status := r.run(); status != 1 {
		t.Errorf("what permits more ends with %d: %s", status, r.log)
	}
	if r.hub.asked != 0 || !strings.Contains(r.summary, "### accessc: 1 tool may do more") {
		t.Errorf("%d requests for comments, and the summary says %q", r.hub.asked, r.summary)
	}
}

// TestTokenThatReads: a token without the right, as of a bot's request, costs the comment and not the verdict.
func TestTokenThatReads(t *testing.T) {
	r := newRequest(t)
	r.hub.refuses = true
	r.push(map[string]string{"accessc.toml": wide})
	r.values["inputs.fail-on"] = "none"
	if status := r.run(); status != 0 || !strings.Contains(r.log, "::warning title=accessc::the token may not comment") {
		t.Errorf("status %d: %s", status, r.log)
	}
}

// TestHostileRequest: a directory with the name of the base took its place, so that the change compared with itself;
// and nothing that a request brings is run.
func TestHostileRequest(t *testing.T) {
	r := newRequest(t)
	program := "#!/bin/sh\ntouch " + filepath.Join(r.dir, "ran") + "\n"
	r.push(map[string]string{
		"accessc.toml": wide, r.base + "/accessc.toml": wide, r.base + "^{commit}/accessc.toml": wide,
		"accessc": program, "git": program, "jq": program, "accessc-backend-x": program,
		".github/action/review.sh": program,
	})
	if status := r.run(); status != 1 {
		t.Errorf("status %d: %s", status, r.log)
	}
	r.said("| `edit` | read create update delete | `. but src, protected paths` |")
	if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
		t.Error("a program of the request ran")
	}
}

// TestArtifacts: artifacts that are out of date fail the step, and so does their removal.
func TestArtifacts(t *testing.T) {
	r := newRequest(t)
	r.must(r.origin, r.program, "build")
	r.must(r.origin, "git", "add", ".")
	r.must(r.origin, "git", "commit", "-q", "-m", "artifacts")
	r.base = r.must(r.origin, "git", "rev-parse", "HEAD")
	r.values["inputs.fail-on"] = "none"
	r.push(map[string]string{"src/x": ""})
	if status := r.run(); status != 0 {
		t.Errorf("status %d: %s", status, r.log)
	}
	r.push(map[string]string{"accessc.toml": wide})
	if status := r.run(); status != 1 || !strings.Contains(r.log, "differ from the configuration") {
		t.Errorf("artifacts out of date: status %d: %s", status, r.log)
	}
	r.must(r.clone, "git", "checkout", "-q", "request")
	r.must(r.clone, "git", "rm", "-q", "-r", "access")
	r.push(map[string]string{"accessc.toml": narrow})
	if status := r.run(); status != 1 || !strings.Contains(r.log, "nothing is built in") {
		t.Errorf("artifacts that are gone: status %d: %s", status, r.log)
	}
}

// TestInstallsWhatIsNamed: only an archive runs whose checksum follows from the workflow.
func TestInstallsWhatIsNamed(t *testing.T) {
	for name, spoil := range map[string]func(r *request){
		"checksums": func(r *request) { r.hub.files["checksums.txt"] = append(r.hub.files["checksums.txt"], '\n') },
		"archive":   func(r *request) { a := r.hub.files[r.archive]; r.hub.files[r.archive] = append(a, 0) },
		"gone":      func(r *request) { delete(r.hub.files, r.archive) },
		"version":   func(r *request) { r.values["inputs.version"] = "../../x" },
		"no input":  func(r *request) { r.values["inputs.checksums"] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRequest(t)
			r.push(map[string]string{"accessc.toml": wide})
			spoil(r)
			if status := r.run(); status != 1 || !strings.Contains(r.log, "::error title=accessc::") || r.values["steps.install.outputs.accessc"] != "" {
				t.Errorf("status %d: %s", status, r.log)
			}
		})
	}
}

// comment is a comment of the pull request, by its login.
type comment struct {
	ID          int
	Login, Body string
}

// hub plays the services of GitHub that the action asks.
type hub struct {
	files    map[string][]byte // of the release
	mu       sync.Mutex
	comments []comment
	writes   []string
	asked    int
	refuses  bool
}

// ServeHTTP implements http.Handler.
func (h *hub) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if q.Host == "github.com" {
		data, ok := h.files[path.Base(q.URL.Path)]
		if !ok || path.Dir(q.URL.Path) != "/accessc/accessc/releases/download/v1.2.3" || q.Header.Get("Authorization") != "" {
			http.NotFound(w, q)
			return
		}
		_, _ = w.Write(data)
		return
	}
	h.asked++
	var sent struct{ Body string }
	if q.Method != http.MethodGet && json.NewDecoder(q.Body).Decode(&sent) != nil || q.Header.Get("Authorization") != "Bearer "+secret {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	at := strings.TrimPrefix(q.URL.Path, "/repos/"+repository+"/issues/")
	id, _ := strconv.Atoi(strings.TrimPrefix(at, "comments/"))
	switch {
	case h.refuses && q.Method != http.MethodGet:
		http.Error(w, "{}", http.StatusForbidden)
	case q.Method == http.MethodGet && at == "7/comments":
		n, _ := strconv.Atoi(q.URL.Query().Get("page"))
		size, _ := strconv.Atoi(q.URL.Query().Get("per_page"))
		page := []map[string]any{}
		for _, c := range h.comments[min((n-1)*size, len(h.comments)):min(n*size, len(h.comments))] {
			page = append(page, map[string]any{"id": c.ID, "body": c.Body, "user": map[string]any{"login": c.Login}})
		}
		_ = json.NewEncoder(w).Encode(page)
	case q.Method == http.MethodPost && at == "7/comments":
		h.comments = append(h.comments, comment{len(h.comments) + 1, bot, sent.Body})
		h.writes = append(h.writes, fmt.Sprint("POST ", len(h.comments)))
		w.WriteHeader(http.StatusCreated)
	case q.Method == http.MethodPatch && id > 0 && id <= len(h.comments):
		h.comments[id-1].Body = sent.Body
		h.writes = append(h.writes, fmt.Sprint("PATCH ", id))
	default:
		http.NotFound(w, q)
	}
}

// request is a pull request, and the runner that runs the action for it.
type request struct {
	*testing.T
	hub *hub
	// dir is the runner's; origin has the base, clone the branch of the request and then what was checked out.
	dir, origin, clone string
	program, archive   string
	base               string
	env                []string
	// values are the expressions of action.yml.
	values       map[string]string
	log, summary string
}

func newRequest(t *testing.T) *request {
	t.Helper()
	for _, program := range []string{"git", "curl", "jq", "tar", "gzip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs ", program)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("the action is for other systems")
	}
	dir := t.TempDir()
	r := &request{T: t, dir: dir, origin: dir + "/origin", clone: dir + "/clone", program: dir + "/accessc"}
	packed, err := release()
	if err != nil {
		t.Fatal(err)
	}
	if err := testbuild.WriteFile(r.program, packed.program, 0o755); err != nil {
		t.Fatal(err)
	}
	r.archive = "accessc-1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz" // docs/install.md
	sums := fmt.Appendf(nil, "%x  %s\n%x  other.tar.gz\n", sha256.Sum256(packed.archive), r.archive, sha256.Sum256(nil))
	r.hub = &hub{files: map[string][]byte{r.archive: packed.archive, "checksums.txt": sums}}
	r.env = append(os.Environ(), "GITHUB_ACTION_PATH="+root(t), "GITHUB_WORKSPACE="+r.clone, "RUNNER_TEMP="+dir,
		"GITHUB_REPOSITORY="+repository, "GITHUB_API_URL=https://api.github.com", "GITHUB_STEP_SUMMARY="+dir+"/summary",
		"GITHUB_OUTPUT="+dir+"/output", "HOME="+dir+"/home", "XDG_STATE_HOME="+dir+"/state", "XDG_CONFIG_HOME="+dir+"/config",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=nobody",
		"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=nobody@example.com",
		"RUNNER_OS="+map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS],
		"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH])
	r.serve()
	r.must(dir, "git", "init", "-q", "-b", "main", r.origin)
	if err := os.WriteFile(r.origin+"/accessc.toml", []byte(narrow), 0o644); err != nil {
		t.Fatal(err)
	}
	r.must(r.origin, "git", "add", ".")
	r.must(r.origin, "git", "commit", "-q", "-m", "base")
	r.base = r.must(r.origin, "git", "rev-parse", "HEAD")
	r.values = map[string]string{
		"inputs.version": "1.2.3", "inputs.checksums": fmt.Sprintf("%x", sha256.Sum256(sums)), "github.token": secret,
		"github.event.pull_request.number": "7", "github.event.pull_request.head.repo.full_name": repository,
	}
	return r
}

// serve starts the services, as the hosts that they are of to whoever asks through the proxy.
func (r *request) serve() {
	own, err := certificate()
	if err != nil {
		r.Fatal(err)
	}
	services := httptest.NewUnstartedServer(r.hub)
	services.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	services.StartTLS()
	r.Cleanup(services.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodConnect || q.Host != "github.com:443" && q.Host != "api.github.com:443" {
			http.Error(w, "no such host", http.StatusForbidden)
			return
		}
		up, err := net.Dial("tcp", services.Listener.Addr().String())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		down, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, down); up.Close() }()
		go func() { _, _ = io.Copy(down, up); down.Close() }()
	}))
	r.Cleanup(proxy.Close)
	ca := r.dir + "/ca.pem"
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]})
	if err := os.WriteFile(ca, block, 0o644); err != nil {
		r.Fatal(err)
	}
	r.env = append(r.env, "https_proxy="+proxy.URL, "CURL_CA_BUNDLE="+ca)
}

// push commits files to the branch of the request, and checks out its merge with the base as actions/checkout does.
func (r *request) push(files map[string]string) {
	r.Helper()
	if _, err := os.Stat(r.clone); err != nil {
		r.must(r.dir, "git", "clone", "-q", r.origin, r.clone)
		r.must(r.clone, "git", "checkout", "-q", "-b", "request")
	}
	r.must(r.clone, "git", "checkout", "-q", "request")
	for name, text := range files {
		file := filepath.Join(r.clone, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.Fatal(err)
		}
		if err := testbuild.WriteFile(file, []byte(text), 0o755); err != nil {
			r.Fatal(err)
		}
	}
	r.must(r.clone, "git", "add", ".")
	r.must(r.clone, "git", "commit", "-q", "-m", "push")
	r.values["github.event.pull_request.head.sha"] = r.must(r.clone, "git", "rev-parse", "HEAD")
	r.values["github.event.pull_request.base.sha"] = r.base
	r.must(r.clone, "git", "checkout", "-q", "--detach", r.base)
	r.must(r.clone, "git", "merge", "-q", "--no-ff", "-m", "merge", "request")
}

// run runs the steps of action.yml, and returns the status of the last that ran.
func (r *request) run() int {
	r.Helper()
	var action metadata
	decode(r.T, filepath.Join(root(r.T), "action.yml"), &action)
	for name, in := range action.Inputs {
		if _, given := r.values["inputs."+name]; !given {
			r.values["inputs."+name] = r.expand(in.Default)
		}
	}
	r.log = ""
	for _, name := range []string{"summary", "output"} {
		_ = os.Remove(filepath.Join(r.dir, name))
	}
	for _, step := range action.Runs.Steps {
		if step.ID == "install" && r.values["steps.install.outputs.accessc"] != "" {
			continue // a runner begins anew each time, which only takes longer
		}
		cmd := exec.Command(step.Shell, "-e", "-c", step.Run)
		cmd.Dir, cmd.Env = r.clone, slices.Clone(r.env)
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+r.expand(value))
		}
		out, err := cmd.CombinedOutput()
		r.log += string(out)
		if strings.Contains(r.log, secret) {
			r.Errorf("the log has the token")
		}
		data, _ := os.ReadFile(r.dir + "/output")
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			r.values["steps."+step.ID+".outputs."+name] = value
		}
		if err != nil {
			r.finish()
			return cmd.ProcessState.ExitCode()
		}
	}
	r.finish()
	return 0
}

// finish reads what the steps left.
func (r *request) finish() {
	r.Helper()
	summary, _ := os.ReadFile(r.dir + "/summary")
	r.summary = string(summary)
	name := r.values["steps.review.outputs.sarif"]
	if name == "" {
		return
	}
	var log struct {
		Version string
		Runs    []struct{ AutomationDetails struct{ ID string } }
	}
	data, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(data, &log) != nil || log.Version != "2.1.0" {
		r.Fatalf("no SARIF log: %v, %s", err, data)
	}
	ids := map[string]bool{}
	for _, run := range log.Runs {
		ids[run.AutomationDetails.ID] = true
	}
	if len(ids) != len(log.Runs) || !ids["accessc/findings/"] {
		r.Errorf("the categories of %d runs are %v", len(log.Runs), ids)
	}
}

// said expects a text in the last comment and in the summary.
func (r *request) said(want string) {
	r.Helper()
	var last comment
	if n := len(r.hub.comments); n > 0 {
		last = r.hub.comments[n-1]
	}
	if !strings.Contains(last.Body, want) || last.Login != bot || !strings.Contains(r.summary, want) {
		r.Errorf("the comment %q and the summary %q do not have %q; the log: %s", last.Body, r.summary, want, r.log)
	}
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand puts the values of expressions into a text.
func (r *request) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		if _, known := r.values[name]; !known && !strings.HasPrefix(name, "steps.") {
			r.Errorf("%s is no value", name)
		}
		return r.values[name]
	})
}

func (r *request) must(dir string, args ...string) string {
	r.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("%v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// packed is the program, and its archive.
type packed struct{ program, archive []byte }

// release makes the archive of a release, with the program in a directory beside another file.
var release = sync.OnceValues(func() (p packed, err error) {
	dir, err := os.MkdirTemp("", "accessc-release-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	if err = testbuild.Program(dir+"/accessc", "cmd/accessc"); err == nil {
		p.program, err = os.ReadFile(dir + "/accessc")
	}
	if err != nil {
		return p, err
	}
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	w := tar.NewWriter(z)
	for name, data := range map[string][]byte{"accessc_1.2.3/LICENSE": []byte("x"), "accessc_1.2.3/accessc": p.program} {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}))
		_, e := w.Write(data)
		err = errors.Join(err, e)
	}
	err = errors.Join(err, w.Close(), z.Close())
	p.archive = out.Bytes()
	return p, err
})

// certificate is that of the services, signed by itself.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "services"}, DNSNames: []string{"github.com", "api.github.com"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})

// root is the repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// metadata is action.yml.
type metadata struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Shell, Run string
			Env            map[string]string
		}
	}
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
