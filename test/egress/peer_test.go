//go:build linux

package egress_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// bulk is the size of the body that the path /bulk of every web site has.
const bulk = 1 << 28

// curls fetches a small page by a new connection each time, through a tunnel if there is a proxy,
// and then a large one. It prints seconds, and then bytes per second.
const curls = `curl -sSp -H 'Connection: close' -o /dev/null -w '%{time_total}\n' "http://a.example.test/[1-200]" &&
curl -sSp -o /dev/null -w '%{speed_download}\n' http://a.example.test/bulk`

// BenchmarkCurl compares curl under accessc with curl under srt (npm: @anthropic-ai/sandbox-runtime),
// which tells it of its proxy by variables, and with curl alone, in turns.
func BenchmarkCurl(b *testing.B) {
	if has("curl") != "" {
		b.Skip("curl is not installed")
	}
	toml, _ := policy(b, []grant{{host: "a.example.test"}, {host: "a.example.test", scheme: ir.Stream, port: portHTTP}})
	p := newPlace(b, need(b), root, toml)
	p.holds(b)
	p.write("../srt.json", `{"network":{"allowedDomains":["a.example.test"],"deniedDomains":[]},
"filesystem":{"denyRead":[],"allowWrite":["."],"denyWrite":[]}}`)
	ways := map[string][]string{"none": {}, "accessc": {accessc(b, p.w), "exec", "-C", p.ws, "--no-prompt", "t", "--"}}
	if _, err := exec.LookPath("srt"); err == nil {
		ways["srt"] = []string{"srt", "--settings", p.dir + "/srt.json"}
	}
	latency, rate := map[string][]int{}, map[string][]int{}
	for b.Loop() {
		for name, way := range ways {
			cmd := p.command(b.Context(), "", append(way, "sh", "-c", curls)...)
			cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
			var complaints strings.Builder
			cmd.Stderr = &complaints
			out, err := cmd.Output()
			lines := strings.Fields(string(out))
			if err != nil || len(lines) != 201 {
				b.Fatalf("%s: %v: %d lines, %.1000s", name, err, len(lines), complaints.String())
			}
			for i, line := range lines {
				n, _ := strconv.ParseFloat(line, 64)
				if i < 200 {
					latency[name] = append(latency[name], int(n*1e6))
				} else {
					rate[name] = append(rate[name], int(n/1e6))
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of all ways together, and so without a meaning
	for name := range ways {
		b.ReportMetric(median(latency[name]), name+"-µs")
		b.ReportMetric(median(rate[name]), name+"-MB/s")
	}
}
