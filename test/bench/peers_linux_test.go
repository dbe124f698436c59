package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// peerTools are the policies that the other sandboxes get as well: the workspace with .env taken back, for
// a tool that writes and for one that only reads.
const peerTools = `
[tools.writer]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]

[tools.reader]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, execute = true }, { path = ".env" }]
`

// peers are the sandboxes that are installed, each with a policy of its own that takes .env back from
// a program that may write the workspace. None of them closes .env when the host replaces it.
func (x *bed) peers(words ...string) []contender {
	env := filepath.Join(x.dir, ".env")
	policy := filepath.Join(x.dir, "../landstrip.json")
	write(x.b, policy, fmt.Sprintf(`{"filesystem": {"allowRead": ["/"], "allowWrite": [%q], "denyRead": [%q]}}`, x.dir, env))
	var sides []contender
	for _, p := range []struct{ name, program, with string }{
		{"landstrip", "landstrip", "run -p " + policy + " --"},
		{"bwrap", "bwrap", "--ro-bind / / --dev /dev --proc /proc --bind " + x.dir + " " + x.dir +
			" --ro-bind /dev/null " + env + " --unshare-all --"},
		{"firejail", "firejail", "--quiet --noprofile --caps.drop=all --nonewprivs --net=none --blacklist=" + env + " --"},
	} {
		path, err := exec.LookPath(p.program)
		if err != nil {
			x.b.Logf("without %s, which is not installed", p.name)
			continue
		}
		sides = append(sides, side(p.name, append(append([]string{path}, strings.Fields(p.with)...), words...)))
	}
	return sides
}

// contenders are the same words without a sandbox, under accessc and under its peers.
func (x *bed) contenders(words ...string) []contender {
	typed := []string{x.accessc, "exec", "-C", x.dir, "writer", "--"}
	return append([]contender{
		side("plain", words),
		side("writer", x.exec("writer", words...)),
		side("reader", x.exec("reader", words...)),
		side("typed", append(typed, words...)),
	}, x.peers(words...)...)
}

// BenchmarkPeerStart starts /bin/true where .env is denied: from an artifact, for a tool that writes
// and for one that reads, from a configuration, and under the peers.
func BenchmarkPeerStart(b *testing.B) {
	x := newBed(b)
	write(b, filepath.Join(x.dir, "accessc.toml"), peerTools)
	x.compile()
	race(b, x.contenders("/bin/true")...)
}

// BenchmarkPeerSearch searches 20,000 files where .env, which ripgrep passes over, is denied.
func BenchmarkPeerSearch(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("needs ripgrep")
	}
	x := newBed(b)
	write(b, filepath.Join(x.dir, "accessc.toml"), peerTools)
	for d := range 200 {
		dir := filepath.Join(x.dir, "d"+strconv.Itoa(d%20), strconv.Itoa(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 100 {
			write(b, filepath.Join(dir, strconv.Itoa(f)), "a line of text\nand another one\n")
		}
	}
	write(b, filepath.Join(x.dir, "file"), "needle\n")
	x.compile()
	race(b, x.contenders(rg, "--threads=2", "needle", x.dir)...)
}
