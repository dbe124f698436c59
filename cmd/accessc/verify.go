package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/attested"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/sides"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/plural"
)

// verifyCmd is "accessc verify".
type verifyCmd struct {
	Key         []string `placeholder:"PUB" help:"Also check that this public key has signed the build. Repeatable: any of them, or as many as --threshold says."`
	Threshold   int      `placeholder:"N" help:"With --key: how many of the keys must have signed; otherwise one."`
	Signers     bool     `help:"Also check that somebody has signed the build who may, as attestation.toml says for this workspace."`
	Attestation string   `placeholder:"FILE" help:"The attestation; otherwise attestation.json beside the manifest."`
	Summary     string   `placeholder:"FILE" help:"Also check that the same signers attest that a kernel held all tests of these policies (accessc test --kernel --sign)."`
	Certificate bool     `help:"Also check certificate.json, which build --certify writes."`
	Project     string   `placeholder:"NAME" help:"The attestation must be for this project."`
	Revision    string   `placeholder:"REV" help:"The attestation must be for this commit: a revision of this repository, or a full commit id."`
	MinSerial   int      `placeholder:"N" help:"The attestation must have this serial or a higher one."`
	Against     string   `placeholder:"OLD" help:"Also list wider permissions than in OLD, by class: OLD is a manifest.json, a directory or a git revision."`
	Target      []string `placeholder:"NAME" help:"Also check what this backend of others has made, by running it, as build --target does. Repeatable."`
	Format      string   `enum:"text,json" default:"text" help:"Output format: text or json."`
	Manifest    string   `arg:"" name:"manifest" help:"The manifest.json of a build, or its directory."`
}

// Help implements kong's detailed help.
func (verifyCmd) Help() string {
	return `Checks a manifest against itself and the artifacts beside it: every hash, the summary of each policy, and
for a portable build that the policy compiles to exactly these artifacts and this ledger. It reads only
the manifest's directory; the configuration need not be there. With --key or --signers also who has
signed it, that every file of the directory is attested as it is, and nothing else.

  accessc verify access/manifest.json
  accessc verify access/manifest.json --against release/manifest.json
  accessc verify access --key release.pub --revision HEAD

Exit status: 0 everything matches, 1 something does not, 4 everything matches and a permission is
wider than in OLD.`
}

// verifyDoc is the JSON form.
type verifyDoc struct {
	Version   int    `json:"format_version"`
	Manifest  string `json:"manifest"`
	Form      string `json:"form"`
	Tools     int    `json:"tools"`
	Artifacts int    `json:"artifacts"`
	// Attested is the attestation that holds, with its signers; absent where none was asked for, or none holds.
	Attested  *attested.Attested    `json:"attested,omitempty"`
	Problems  []problemDoc          `json:"problems"`
	Widenings []explain.WideningDoc `json:"widenings,omitempty"`
}

type problemDoc struct {
	Class  build.Class `json:"class"`
	Tool   string      `json:"tool,omitempty"`
	Detail string      `json:"detail"`
}

// Run implements the command.
func (c *verifyCmd) Run(g *globals) error {
	if info, err := os.Stat(c.Manifest); err == nil && info.IsDir() {
		c.Manifest = filepath.Join(c.Manifest, build.ManifestFile)
	}
	if err := config.Direct(c.Manifest); err != nil {
		return usagef("%v", err)
	}
	m, text, err := build.ReadManifest(c.Manifest)
	if err != nil {
		return err
	}
	_, others, err := selectTargets(c.Target)
	if err != nil {
		return err
	}
	if err := others.outside(filepath.Dir(c.Manifest)); err != nil {
		return err
	}
	problems, err := build.Verify(m, filepath.Dir(c.Manifest), registry.Every, others.builders()...)
	if err != nil {
		return usagef("%s: %v", c.Manifest, err)
	}
	said, unattested, err := c.attested(g, m, build.Hash(text))
	if err != nil {
		return err
	}
	problems = append(problems, unattested...)
	if c.Certificate {
		uncertified, err := c.certified(g)
		if err != nil {
			return err
		}
		problems = append(problems, uncertified...)
	}
	var wider []explain.Widening
	if c.Against != "" && len(problems) == 0 {
		if wider, err = c.wider(g, m); err != nil {
			return err
		}
	}
	if err := c.print(g, m, said, problems, wider); err != nil {
		return err
	}
	switch {
	case len(problems) > 0:
		return exit(exitFindings)
	case len(wider) > 0:
		return exit(exitWidened)
	default:
		return nil
	}
}

// wider compares the manifest with another side.
func (c *verifyCmd) wider(g *globals, m *build.Manifest) ([]explain.Widening, error) {
	old, err := reader(g).Read(c.Against)
	if err != nil {
		return nil, g.refused(err)
	}
	new, err := sides.Manifest(m, c.Manifest)
	if err != nil {
		return nil, err
	}
	found, err := sides.Changes(old, new)
	return explain.Widenings(found), err
}

func (c *verifyCmd) print(
	g *globals,
	m *build.Manifest,
	said *attested.Attested,
	problems []build.Problem,
	wider []explain.Widening,
) error {
	files := 0
	for _, e := range m.Tools {
		files += len(e.Artifacts)
	}
	if c.Format == "json" {
		doc := verifyDoc{
			Version: explain.FormatVersion, Manifest: c.Manifest, Form: m.Form, Tools: len(m.Tools), Artifacts: files,
			Attested: said,
			Problems: []problemDoc{}, Widenings: explain.WideningsJSON(wider),
		}
		for _, p := range problems {
			doc.Problems = append(doc.Problems, problemDoc(p))
		}
		return g.writeJSON(doc)
	}
	var rows [][]string
	for _, p := range problems {
		rows = append(rows, []string{p.Tool, string(p.Class), p.Detail})
	}
	fmt.Fprint(g.stdout, explain.Table(rows), explain.WideningsText(wider))
	what := plural.Count(len(m.Tools), "tool") + ", " + plural.Count(files, "artifact")
	if len(problems) == 0 {
		c.sayAttested(g, said)
	}
	switch {
	case len(problems) > 0:
		do := "does"
		if len(problems) > 1 {
			do = "do"
		}
		fmt.Fprintf(g.stderr, "%s: %s %s not match; build again, or find out why it changed\n", c.Manifest,
			plural.Count(len(problems), "thing"), do)
	case len(wider) > 0:
		fmt.Fprintf(g.stderr, "%s: %s match; %s wider than in %s\n", c.Manifest, what, are(len(wider), "thing"),
			c.Against)
	default:
		fmt.Fprintf(g.stderr, "%s: %s match\n", c.Manifest, what)
	}
	return nil
}

// certified checks the certificate, and says what it assumes.
func (c *verifyCmd) certified(g *globals) ([]build.Problem, error) {
	report, problems, err := build.Certified(filepath.Dir(c.Manifest))
	if err != nil {
		return nil, usagef("%s: %v", filepath.Dir(c.Manifest), oserr.Reason(err))
	}
	if c.Format == "text" && len(problems) == 0 {
		fmt.Fprint(g.stdout, report)
	}
	return problems, nil
}

func are(n int, word string) string {
	if n == 1 {
		return plural.Count(n, word) + " is"
	}
	return plural.Count(n, word) + " are"
}
