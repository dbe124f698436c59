package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/internal/text/visible"
)

// grantsCmd is "accessc grants".
type grantsCmd struct {
	List   grantsListCmd   `cmd:"" default:"withargs" help:"List the grants that are in force and the questions that wait."`
	Revoke grantsRevokeCmd `cmd:"" help:"Take grants back. When it returns, nothing uses them any more."`
	Answer grantsAnswerCmd `cmd:"" help:"Answer a question: once, run, rule, write, no or never."`
}

// Help implements kong's detailed help.
func (grantsCmd) Help() string {
	return `For tools that run under accessc exec --ask. A refused operation that access.may covers waits for an answer, at the
terminal of the tool or by this command from another one.

  accessc grants                     list the grants and the questions of running tools
  accessc grants answer 4 once       permit the call of question 4, and no other
  accessc grants answer 4 run        permit that operation until the run ends
  accessc grants answer 4 run --for 10m    the same for ten minutes; --uses 3 for three calls
  accessc grants answer 4 rule       permit all that the rule of access.may covers until the run ends
  accessc grants answer 4 write      as run, and write it to .accessc/local.toml
  accessc grants answer 4 no         refuse it for this run; never refuses all further questions as well
  accessc grants revoke 4            take the grant back: the next such operation is refused

With several runs --run names one by its process. A file that the tool has opened stays open when a grant is revoked;
connections to a host are closed.`
}

// runOption selects a run.
type runOption struct {
	Run int `placeholder:"PID" help:"The run, by the process number that accessc grants shows."`
}

// act sends a request to the run, and prints that it was done.
func (o runOption) act(g *globals, req live.Request, done string) error {
	dir, err := userdir.Live()
	if err != nil {
		return err
	}
	socket, err := live.Socket(dir, o.Run)
	if err != nil {
		return err
	}
	reply, err := live.Talk(socket, req)
	if err != nil {
		return err
	}
	if reply.Error != "" {
		return usagef("%d: %s", req.ID, visible.Text(reply.Error))
	}
	fmt.Fprintf(g.stderr, "%s %d\n", done, req.ID)
	return nil
}

// grantsListCmd is "accessc grants list".
type grantsListCmd struct {
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
	runOption
}

// grantsDoc is the list for programs.
type grantsDoc struct {
	Version int           `json:"format_version"`
	Runs    []live.Status `json:"runs"`
}

// Run implements the command.
func (c *grantsListCmd) Run(g *globals) error {
	dir, err := userdir.Live()
	if err != nil {
		return err
	}
	all, err := live.Running(dir, c.runOption.Run)
	if err != nil {
		return err
	}
	doc := grantsDoc{Version: 1, Runs: []live.Status{}}
	var rows [][]string
	for _, s := range slices.Sorted(maps.Keys(all)) {
		r := all[s]
		doc.Runs = append(doc.Runs, r.Status)
		run := []string{r.Tool, strconv.Itoa(r.PID)}
		for _, q := range r.Pending {
			rows = append(rows, append(run, "asks", strconv.Itoa(q.ID), q.Operation, q.Path, "may: "+q.Rule))
		}
		for _, x := range r.Grants {
			rows = append(
				rows,
				append(
					run,
					string(x.Answer),
					strconv.Itoa(x.ID),
					strings.Join(x.Rules, ", "),
					x.Given.Local().Format("15:04:05"),
					"may: "+x.May,
					ending(x),
				),
			)
		}
		if len(r.Pending)+len(r.Grants) == 0 {
			rows = append(rows, append(run, "nothing granted"))
		}
	}
	if c.Format == "json" {
		return g.writeJSON(doc)
	}
	if len(all) == 0 {
		fmt.Fprintln(g.stderr, "no tool is running under exec --ask")
	}
	fmt.Fprint(g.stdout, explain.Table(rows))
	return nil
}

// ending says when a grant ends by itself, empty for never.
func ending(x live.Granted) string {
	switch {
	case x.Uses > 0:
		return "ends after " + plural.Count(x.Left, "call")
	case x.For > 0:
		return "ends " + x.Given.Local().Add(x.For).Format("15:04:05")
	}
	return ""
}

// grantsRevokeCmd is "accessc grants revoke".
type grantsRevokeCmd struct {
	runOption
	ID []int `arg:"" help:"The numbers of the grants."`
}

// Run implements the command.
func (c *grantsRevokeCmd) Run(g *globals) error {
	for _, id := range c.ID {
		if err := c.act(g, live.Request{Command: "revoke", ID: id}, "revoked"); err != nil {
			return err
		}
	}
	return nil
}

// grantsAnswerCmd is "accessc grants answer".
type grantsAnswerCmd struct {
	runOption
	ID     int    `arg:"" help:"The number of the question."`
	Answer string `arg:"" enum:"once,run,rule,write,no,never" help:"once, run, rule, write, no or never."`

	For  time.Duration `placeholder:"DURATION" help:"With run and rule: the grant ends after this time, such as 10m."`
	Uses int           `placeholder:"N" help:"With run and rule: the grant ends after so many calls."`
}

// Run implements the command.
func (c *grantsAnswerCmd) Run(g *globals) error {
	end := live.End{For: c.For, Uses: c.Uses}
	return c.act(g, live.Request{Command: "answer", ID: c.ID, Answer: live.Answer(c.Answer), End: end}, "answered")
}
