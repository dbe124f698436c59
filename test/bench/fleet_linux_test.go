package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// fleetTools is how many tools the fleet of BenchmarkFleet has: in repositories of one to five.
const fleetTools = 100_000

// fleetConfig is the tools that repositories of the fleet have: of every repository the first ones.
const fleetConfig = `
[tools.check]
source = "local"
command = "make check"
access.fs = [{ path = ".", read = true }, { path = "build", read = true, write = true, execute = true }, { path = ".env" }]
access.limits = { wall_time = "5m" }

[tools.fetch]
source = "local"
command = "fetch"
access.fs = [{ path = "vendor", read = true, write = true }]
access.net = [{ host = "packages.example.com", scheme = "https", allow = true }, { host = "*.cdn.example.com", port = 443, allow = true }]

[tools.edit]
source = "local"
command = "edit"
access.fs = [{ path = "src", read = true, write = true }, { path = "docs", read = true }]
access.env = [{ name = "EDITOR", read = true }]

[tools.search]
source = "local"
command = "rg"
access.fs = [{ path = ".", read = true }, { path = "secrets" }]

[tools.issues]
source = "mcp.tracker.issues"
`

// repository is the text of a manifest, in which each policy names its repository in a path of fixed length.
type repository struct {
	text string
	// bare are the hashed forms of the policies, hashes the hashes that stand in the text, and heads the name and source
	// of each tool, which are hashed besides.
	bare, hashes, heads []string
	sum                 string // over all tools
}

// nameless is the name of a repository in the text.
const nameless = "parts/of-0000000"

// repositories returns the text of one with a single tool, one with two, and so on.
func repositories(b *testing.B) []repository {
	var out []repository
	blocks := strings.Split(strings.TrimSpace(fleetConfig), "\n\n")
	for n := 1; n <= len(blocks); n++ {
		res := front(b, workspaceOf(b, strings.ReplaceAll(strings.Join(blocks[:n], "\n\n"), "access.fs = [", `access.fs = [{ path = "`+nameless+`" }, `)))
		dir := filepath.Join(b.TempDir(), "access")
		if _, findings, err := build.Write(request(res), dir); err != nil || findings.Failed() {
			b.Fatal(err, findings)
		}
		data, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
		if err != nil {
			b.Fatal(err)
		}
		m, err := build.ParseManifest(data)
		if err != nil {
			b.Fatal(err)
		}
		r := repository{text: string(data), sum: m.Policy}
		for i, e := range m.Tools {
			bare := []byte(nil)
			if e.Hash != "" {
				if bare, err = irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{res.Program.Tools[i]}}); err != nil || build.Hash(bare) != e.Hash {
					b.Fatal(e.Name, err)
				}
			}
			r.bare, r.hashes, r.heads = append(r.bare, string(bare)), append(r.hashes, e.Hash), append(r.heads, e.Name+" "+e.Source+" ")
		}
		out = append(out, r)
	}
	return out
}

// named is the manifest of the repository of a number.
func (r *repository) named(number int) string {
	name := fmt.Sprintf("parts/of-%07d", number)
	swap, all := []string{nameless, name}, ""
	for i, bare := range r.bare {
		hash := ""
		if bare != "" {
			hash = build.Hash([]byte(strings.ReplaceAll(bare, nameless, name)))
			swap = append(swap, r.hashes[i], hash)
		}
		all += r.heads[i] + hash + "\n"
	}
	return strings.NewReplacer(append(swap, r.sum, build.Hash([]byte(all)))...).Replace(r.text)
}

// fleetOf lays out repositories with manifests alone. No two policies are alike.
func fleetOf(b *testing.B, dir string, tools int) (manifests int, bytes int64) {
	all := repositories(b)
	for n := 0; n < tools; manifests++ {
		some := min(manifests%len(all)+1, tools-n)
		text := all[some-1].named(manifests)
		repo := filepath.Join(dir, fmt.Sprintf("team%03d/repo%d/access", manifests%200, manifests))
		if err := os.MkdirAll(repo, 0o755); err != nil {
			b.Fatal(err)
		}
		write(b, filepath.Join(repo, build.ManifestFile), text)
		n, bytes = n+some, bytes+int64(len(text))
	}
	return manifests, bytes
}

// BenchmarkFleet looks at a hundred thousand tools: at first, again with one manifest changed, again unchanged, and with a question. Each
// line has its time, its processor time and the memory that it had at most.
func BenchmarkFleet(b *testing.B) {
	dir := b.TempDir()
	accessc, repos, state := filepath.Join(dir, "accessc"), filepath.Join(dir, "repos"), filepath.Join(dir, "state")
	command(b, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", accessc, "../../cmd/accessc")
	for _, k := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		b.Setenv(k, state)
	}
	n, size := fleetOf(b, repos, fleetTools)
	b.Logf("%d tools in %d manifests of %d MB", fleetTools, n, size>>20)
	all := repositories(b)
	for b.Loop() {
		if err := os.RemoveAll(state); err != nil {
			b.Fatal(err)
		}
		spend(b, "first", accessc, "fleet", repos)
		write(b, filepath.Join(repos, "team000/repo0/access", build.ManifestFile), all[0].named(n+int(time.Now().Unix()%1000)))
		spend(b, "one", accessc, "fleet", repos)
		spend(b, "none", accessc, "fleet", repos)
		spend(b, "question", accessc, "fleet", repos, "--who", "write ~/.ssh")
		spend(b, "json", accessc, "fleet", repos, "--format", "json")
		records, err := filepath.Glob(filepath.Join(state, "accessc/fleet/*"))
		if err != nil || len(records) != 1 {
			b.Fatal(records, err)
		}
		info, err := os.Stat(records[0])
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size()>>20), "MB-record")
	}
	b.ReportMetric(0, "ns/op")
}

// spend runs a program and reports its costs.
func spend(b *testing.B, name string, args ...string) {
	c := exec.Command(args[0], args[1:]...)
	c.Stderr = os.Stderr
	start := time.Now()
	if err := c.Run(); err != nil {
		b.Fatal(err)
	}
	use := c.ProcessState.SysUsage().(*syscall.Rusage)
	b.ReportMetric(time.Since(start).Seconds(), "s-"+name)
	b.ReportMetric(time.Duration(use.Utime.Nano()+use.Stime.Nano()).Seconds(), "cpu-s-"+name)
	b.ReportMetric(float64(use.Maxrss>>10), "MB-"+name)
}
