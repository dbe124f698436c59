package otlp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/accessc/accessc/internal/artifact/evidencecheck"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/denial/evidencelog"
	"github.com/accessc/accessc/ir"
)

// TestExport: the published types know every member of an exported log, and each record has its time, severity and run.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	l, err := evidencelog.New(evidencelog.Options{File: f, Counter: filepath.Join(dir, "counter"), Tool: "t"})
	if err == nil {
		err = l.Begin(evidencelog.Begin{Supervised: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	bind := &ir.Bindings{Workspace: "/ws"}
	rule := &ir.FSRule{At: ir.In("a"), Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 3}}}
	to := ir.Endpoint{Scheme: "https", Host: ir.Host{Kind: ir.HostName, Name: "a.test"}, Port: 443, Path: []string{"x"}}
	for _, op := range []ir.Operation{
		ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("a"))}, ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("\xff\n"))},
		ir.Rename{Src: ir.Direct(ir.In("a")), Dst: ir.Direct(ir.In("b"))}, ir.Connect{To: to, Method: "GET"}, ir.Listen{Port: 80},
		ir.Run{Program: "git", Args: []string{"x"}}, ir.Start{On: ir.Direct(ir.In("a"))},
	} {
		l.Operation(&denial.Denial{By: denial.ByPolicy, Operation: op, Roots: bind, PID: 7, Name: "\xffsh", Errno: "EACCES",
			Verdict: ir.Verdict{Effect: ir.Allow, Reason: ir.ReasonRule, Rule: rule}})
		l.Operation(&denial.Denial{By: denial.BySupervisor, Operation: op, Roots: bind, Why: "not here"})
	}
	l.Change(evidencelog.Grants{Change: "answer", ID: 1, Answer: "run", State: 1})
	if err := l.End(evidencelog.End{Status: 1}); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := evidencecheck.Export(bytes.NewReader(log), &out, evidencecheck.OTLP); err != nil {
		t.Fatal(err)
	}
	records := 0
	for line := range bytes.Lines(out.Bytes()) {
		var data logs.LogsData
		if err := protojson.Unmarshal(line, &data); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, r := range data.ResourceLogs[0].ScopeLogs[0].LogRecords {
			records++
			if r.TimeUnixNano == 0 || r.SeverityNumber == 0 || r.Body.GetStringValue() == "" || r.EventName == "" ||
				r.Attributes[0].Key != "accessc.run" || r.Attributes[0].Value.GetStringValue() == "" {
				t.Errorf("incomplete: %v", r)
			}
		}
	}
	if want := bytes.Count(log, []byte("\n")); records != want || records != 17 {
		t.Errorf("%d records of %d lines", records, want)
	}
}
