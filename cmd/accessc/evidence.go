package main

import (
	"fmt"
	"os"

	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/artifact/evidencecheck"
	"github.com/accessc/accessc/internal/artifact/signers"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/enforce/resolved"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// evidenceFlags are the flags of commands that start a tool.
type evidenceFlags struct {
	EvidenceLog      string `placeholder:"FILE" help:"Append to this evidence log; accessc evidence --help."`
	EvidenceKey      string `placeholder:"FILE" help:"Sign the end of the run in it by this key."`
	EvidenceRequired bool   `help:"Let nothing happen whose line cannot be written. Slower."`
}

func (f *evidenceFlags) check() error {
	if (f.EvidenceRequired || f.EvidenceKey != "") && f.EvidenceLog == "" {
		return usagef("--evidence-required and --evidence-key need --evidence-log")
	}
	return nil
}

// log is the evidence log of a start, nil for none.
func (f *evidenceFlags) log() (*start.EvidenceLog, error) {
	return resolved.EvidenceLog(f.EvidenceLog, f.EvidenceKey, f.EvidenceRequired, programVersion())
}

// evidenceCmd is "accessc evidence".
type evidenceCmd struct {
	Verify evidenceVerifyCmd `cmd:"" help:"Check that a log is whole, and every verdict in it the policy's."`
	Export evidenceExportCmd `cmd:"" help:"Write a log in the form of another program."`
}

// Help implements kong's detailed help.
func (evidenceCmd) Help() string {
	return `An evidence log says what tools did and what the policy said to that: a line of JSON for every operation
that the supervisor or the egress proxy judged. Each line has the hash of the line before; a counter in the
state directory knows the last. Many runs append to one file, which must lie where no tool writes.

  accessc exec --evidence-log ~/evidence.jsonl TOOL      append a run
  accessc evidence verify ~/evidence.jsonl               check all of it
  accessc evidence export --format otlp ~/evidence.jsonl for a collector of OpenTelemetry; ocsf for a SIEM

What the kernel decides by itself is not in it: verify says for each run what was judged. accessc exec --trace has
everything judged, slower. Values of variables, contents of files and requests, credentials and queries are never in
it; paths, hosts, and the arguments of programs that a policy lists are.`
}

// evidenceVerifyCmd is "accessc evidence verify".
type evidenceVerifyCmd struct {
	Key      []string `placeholder:"PUB" help:"One of these keys must have signed the end of each run."`
	Artifact []string `placeholder:"FILE" help:"Judge only by this resolved artifact. Repeatable."`
	Manifest []string `placeholder:"FILE" help:"Judge only by the policies of this manifest. Repeatable."`
	Part     bool     `help:"The log begins with lines that follow others, which are not given."`
	Format   string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Files    []string `arg:"" name:"file" help:"The log; if it was put elsewhere meanwhile, its files in their order."`
}

// Help implements kong's detailed help.
func (evidenceVerifyCmd) Help() string {
	return `Finds lines that were changed, cut out, moved, doubled or added, runs without an end, and verdicts that
do not follow from the policy. On the machine and for the user of the runs it also finds a cut at the end.

  accessc evidence verify evidence.jsonl
  accessc evidence verify --manifest access/manifest.json --key audit.pub evidence.jsonl
  accessc evidence verify evidence.1.jsonl evidence.jsonl    a log that was put elsewhere between two runs

Each run has the policy that it is judged by in its first line. With --manifest or --artifact it must be one of
these; who can write the log and its counter could have made up both, unless --key asks for signatures.

Exit status: 0 the log is whole and each verdict the policy's, 1 it is not.`
}

// evidenceDoc is the JSON form.
type evidenceDoc struct {
	Version int      `json:"format_version"`
	Files   []string `json:"files"`
	*evidencecheck.Report
}

// evidenceVersion is the version of evidenceDoc.
const evidenceVersion = 1

// Run implements the command.
func (c *evidenceVerifyCmd) Run(g *globals) error {
	state, err := userdir.Root()
	if err != nil {
		return err
	}
	keys, err := attested.PublicKeys(c.Key)
	if err != nil {
		return err
	}
	opts := evidencecheck.Options{Part: c.Part, Keys: keys}
	if len(c.Artifact)+len(c.Manifest) > 0 {
		attested, err := c.attested()
		if err != nil {
			return err
		}
		opts.Terms = attested.Terms
	}
	report, err := evidencecheck.Files(c.Files, state, opts)
	if os.IsNotExist(err) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if c.Format == "json" {
		err = g.writeJSON(evidenceDoc{evidenceVersion, c.Files, report})
	} else {
		_, err = fmt.Fprint(g.stdout, visible.Lines(report.Text(c.Files)))
	}
	if err != nil {
		return err
	}
	if n := len(report.Problems) + report.Further; n > 0 {
		fmt.Fprintf(g.stderr, "the log is refused: %s in %s\n", plural.Count(n, "problem"),
			plural.Count(report.Lines, "line"))
		return exit(exitFindings)
	}
	fmt.Fprintf(g.stderr, "%s in %s: whole, and every verdict is the policy's\n", plural.Count(report.Lines, "line"),
		plural.Count(len(report.Runs), "run"))
	return nil
}

// attested are the policies of --artifact and --manifest.
func (c *evidenceVerifyCmd) attested() (*evidencecheck.Attested, error) {
	var out evidencecheck.Attested
	for _, file := range c.Artifact {
		text, err := signers.ReadFile(file, maxArtifact)
		if err == nil {
			err = out.Artifact(text)
		}
		if err != nil {
			return nil, usagef("--artifact %s: %v", file, oserr.Reason(err))
		}
	}
	for _, file := range c.Manifest {
		m, _, err := build.ReadManifest(file)
		if err == nil {
			err = out.Manifest(m)
		}
		if err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// maxArtifact bounds an artifact, in bytes.
const maxArtifact = 64 << 20

// evidenceExportCmd is "accessc evidence export".
type evidenceExportCmd struct {
	Format    string   `enum:"ocsf,otlp" required:"" help:"ocsf or otlp."`
	Part      bool     `help:"As of verify."`
	Unchecked bool     `help:"Also write a log that verify refuses, such as one that a run still writes to."`
	Files     []string `arg:"" name:"file" help:"The log, as of verify."`
}

// Help implements kong's detailed help.
func (evidenceExportCmd) Help() string {
	return `Writes each line of an evidence log as a line of JSON: an event of the Open Cybersecurity Schema Framework
(ocsf), or logs of OpenTelemetry as its file exporter writes them (otlp). The hash of the line before is among the
members of each, so that an event leads back to its line.

  accessc evidence export --format ocsf evidence.jsonl > events.jsonl

Exit status: 0 all was written, 1 verify refuses the log, and nothing was written.`
}

// Run implements the command.
func (c *evidenceExportCmd) Run(g *globals) error {
	if !c.Unchecked {
		state, err := userdir.Root()
		if err != nil {
			return err
		}
		report, err := evidencecheck.Files(c.Files, state, evidencecheck.Options{Part: c.Part})
		if err != nil {
			return err
		}
		if n := len(report.Problems) + report.Further; n > 0 {
			fmt.Fprintf(g.stderr, "the log is refused: %s, which accessc evidence verify lists; nothing was written\n",
				plural.Count(n, "problem"))
			return exit(exitFindings)
		}
	}
	for _, name := range c.Files {
		f, err := os.Open(name)
		if err == nil {
			err = evidencecheck.Export(f, g.stdout, c.Format)
			_ = f.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
