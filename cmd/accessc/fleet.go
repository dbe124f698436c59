package main

import (
	"fmt"
	"strings"

	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/review/fleet"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
)

// fleetCmd is "accessc fleet".
type fleetCmd struct {
	Who    string   `placeholder:"QUESTION" help:"List the tools that may do something, such as 'write ~/.ssh' or 'connect api.example.com:443'."`
	Risk   string   `enum:",low,medium,high" default:"" placeholder:"RISK" help:"List the tools of a risk or a higher one: low, medium or high."`
	Hosts  []string `placeholder:"FILE" sep:"none" help:"Also say which rules a host does not hold, by the output of accessc doctor --format json there. Repeatable."`
	Save   string   `placeholder:"FILE" help:"Write a snapshot, to compare with later."`
	Since  string   `placeholder:"FILE" help:"Also say what has changed since a snapshot."`
	Verify bool     `help:"Compile every policy of a portable build anew, and compare it with the hashes of the artifacts and the ledger."`
	FailOn string   `enum:"none,granted,unenforced,widened" default:"none" help:"Exit 1 if --who finds a tool (granted), 3 if a host of --hosts does not start one (unenforced), 4 if one may do more or a manifest is new (widened, with --since)."`
	Format string   `enum:"text,json,html,sarif" default:"text" help:"Output format: text, json, sarif, or html: a page for a browser, which needs nothing else."`
	Dirs   []string `arg:"" name:"dir" help:"The directories to search."`
}

// Help implements kong's detailed help.
func (fleetCmd) Help() string {
	return `Searches directories for the manifest.json of accessc build, and says what all of their tools may touch. Each
manifest is checked against itself and against the artifacts beside it. Nothing of a repository is run or compiled,
but for policies with --verify; symlinks are not followed.

  accessc fleet repos                                     numbers: risks, sensitive paths, hosts, artifacts
  accessc fleet repos --who 'write ~/.ssh'                who may change something at or below it
  accessc fleet repos --who 'connect *'                   who reaches the network
  accessc fleet repos --hosts build-01.json               which tools do not start there, and why
  accessc fleet repos --save monday.snapshot              and a week later:
  accessc fleet repos --since monday.snapshot --fail-on widened

Questions are those of accessc can about one place (read, create, update, delete and execute PATH, connect URL,
listen ADDRESS:PORT, env NAME, run PROG ARG...), and write PATH, connect HOST[:PORT], connect *. A relative path is one of
each workspace; ~ is the user's home. A path stands for all that is below it.

Manifests that were read before are known by their hash, from a record in your state directory. Exit status 1 if
a manifest cannot be read or does not match, 0 otherwise; --fail-on adds to that.`
}

// The most lines of each list, on a page and in text.
const mostText, mostHTML = 20, 2000

// Run implements the command.
func (c *fleetCmd) Run(g *globals) error {
	req, err := c.request(g)
	if err != nil {
		return err
	}
	f, err := fleet.Survey(req)
	if err != nil {
		return usageError{Err: err}
	}
	if f.KeepErr != nil {
		fmt.Fprintf(g.stderr, "no record was kept, so the next run reads everything anew: %v\n", f.KeepErr)
	}
	if err := c.write(g, f, req.Question); err != nil {
		return err
	}
	return c.status(g, f)
}

func (c *fleetCmd) request(g *globals) (*fleet.Request, error) {
	req := &fleet.Request{Dirs: c.Dirs, Snapshot: c.Save, Since: c.Since, Backends: registry.Every, Compile: c.Verify}
	switch {
	case c.FailOn == "granted" && c.Who == "":
		return nil, usagef("--fail-on granted needs --who QUESTION")
	case c.FailOn == "unenforced" && len(c.Hosts) == 0:
		return nil, usagef("--fail-on unenforced needs --hosts FILE")
	case c.FailOn == "widened" && c.Since == "":
		return nil, usagef("--fail-on widened needs --since FILE")
	case c.Who != "" && c.Risk != "":
		return nil, usagef("--who and --risk are different questions")
	}
	if c.Who != "" {
		var err error
		if req.Question, err = fleet.ParseQuestion(c.Who); err != nil {
			return nil, usagef("--who %s: %v", c.Who, err)
		}
	}
	for _, name := range c.Hosts {
		h, err := fleet.ReadHost(name)
		if err != nil {
			return nil, usagef("--hosts %s: %v", name, err)
		}
		req.Hosts = append(req.Hosts, h)
	}
	if dir := req.Remember(); dir != "" {
		fmt.Fprintf(g.stderr, "no record is kept, since it would lie in %s, where others may write\n", dir)
	}
	return req, nil
}

func (c *fleetCmd) write(g *globals, f *fleet.Fleet, q *fleet.Question) error {
	out := fleet.Output{Style: g.style(g.stdout), Question: q, Risk: ir.ParseRisk(c.Risk), Most: mostText}
	switch c.Format {
	case "json":
		return g.writeJSON(f.JSON(q))
	case "html":
		out.Most = mostHTML
		return f.HTML(g.stdout, out)
	case "sarif":
		return f.SARIF(g.stdout, q, fleet.FromHere)
	default:
		_, err := fmt.Fprint(g.stdout, f.Text(out))
		return err
	}
}

// status is that of the result: problems first.
func (c *fleetCmd) status(g *globals, f *fleet.Fleet) error {
	s := f.Summary()
	stops := 0
	for _, h := range f.Hosts {
		stops += h.Stops
	}
	switch {
	case s.Problems > 0:
		fmt.Fprintf(g.stderr, "%s in %s; accessc verify says more about one of them\n",
			plural.Count(s.Problems, "problem"), strings.Join(c.Dirs, ", "))
		return exit(exitFindings)
	case c.FailOn == "granted" && len(f.Answers) > 0:
		return exit(exitFindings)
	case c.FailOn == "unenforced" && stops > 0:
		return exit(exitUnenforced)
	case c.FailOn == "widened" && f.Since.Widened():
		return exit(exitWidened)
	case s.Manifests == 0:
		return usagef("there is no manifest.json of accessc build in %s", strings.Join(c.Dirs, ", "))
	}
	return nil
}
