//go:build linux

package egress_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/test/await"
)

// livingCells are clients that the user is asked about: those that wait for connections and those that do
// not, of web and of other protocols, told of the proxy or not.
var livingCells = []struct {
	client string
	told   bool
	most   bool // an everyday run leaves it out
}{
	{"curl https", false, false}, {"curl https", true, false}, {"curl http", true, true}, {"wget http", false, true},
	{"node fetch", false, true}, {"git ssh", false, false}, {"psql", false, true},
	{"static C, getaddrinfo", false, false}, {"java HttpClient", false, true},
}

// asked is the state of a run as accessc grants prints it.
type asked struct {
	Runs []struct {
		Pending []struct {
			ID        int
			Operation string
		}
	}
}

// answerer gives one answer to all questions of a place's run until a context ends, and returns the questions.
func (p *place) answerer(ctx context.Context, t *testing.T, answer string) (questions []string) {
	bin := accessc(p.TB, p.w)
	looks := time.NewTicker(50 * time.Millisecond) // nothing tells of a question but a look
	defer looks.Stop()
	for ctx.Err() == nil {
		out, _ := p.command(ctx, "", bin, "grants", "list", "--format", "json").Output()
		var now asked
		_ = json.Unmarshal(out, &now) // nothing at the end
		for _, r := range now.Runs {
			for _, q := range r.Pending {
				out, err := p.command(ctx, "", bin, "grants", "answer", strconv.Itoa(q.ID), answer).CombinedOutput()
				if err == nil {
					questions = append(questions, q.Operation)
				} else if ctx.Err() == nil && !bytes.Contains(out, []byte("no such question")) && !bytes.Contains(out, []byte("no tool is running")) {
					t.Errorf("answer: %v: %s", err, out)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-looks.C:
		}
	}
	return questions
}

// living runs a client under exec --ask.
func (p *place) living(t *testing.T, c cell, in, answer string) (own string, questions []string, err error) {
	ctx := await.Context(t)
	script := "{ " + c.c.run + "\n} >own 2>&1"
	if c.variables {
		script = variables + script
	}
	cmd := p.command(ctx, in, accessc(p.TB, p.w), "exec", "-C", p.ws, "--ask", "--no-prompt", "--no-summary", "--accept", "process.signal", "t", "--",
		"sh", "-c", script, "sh", c.host, p.ws)
	cmd.Env = append(cmd.Env, "TMPDIR="+p.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p.must(cmd.Start())
	if c.variables {
		p.write(in+"/port", fmt.Sprintln(proxyPort(t, cmd.Process.Pid)))
	}
	over, stop := context.WithCancel(ctx)
	heard := make(chan []string)
	go func() { heard <- p.answerer(over, t, answer) }()
	err = cmd.Wait()
	stop()
	text, _ := os.ReadFile(filepath.Join(p.ws, in, "own"))
	return string(text) + out.String(), <-heard, err
}

// TestLive has real clients reach hosts that the user grants when they are asked for, and not reach those that the user
// refuses.
func TestLive(t *testing.T) {
	w := need(t)
	for _, u := range users() {
		var rules strings.Builder
		rules.WriteString("[[tools.t.access.may]]\nhost = \"*.example.test\"\nallow = true\n")
		for _, port := range []int{portSSH, portPostgres, portEcho} {
			fmt.Fprintf(&rules, "[[tools.t.access.may]]\nhost = \"*.example.test\"\nscheme = \"tcp\"\nport = %d\nallow = true\n", port)
		}
		p := newPlace(t, w, u, rules.String()+externalRules())
		p.holds(t)
		p.programs()
		p.approve()
		for i, l := range livingCells {
			c := clients[slices.IndexFunc(clients, func(c client) bool { return c.name == l.client })]
			t.Run(fmt.Sprintf("%s %s told=%v", u, c.name, l.told), func(t *testing.T) {
				if l.most && !everything() {
					t.Skip("at full count")
				}
				if why := c.lacks(); why != "" {
					t.Skipf("%s is not installed", why)
				}
				for _, answer := range []string{"no", "run"} {
					before := len(w.arrivals(0))
					in := fmt.Sprintf("cells/%d-%s", i, answer)
					own, questions, err := p.living(t, cell{&c, c.label + ".example.test", l.told}, in, answer)
					reached, came := strings.Contains(own, c.want), len(w.arrivals(before))
					if len(questions) == 0 || !strings.Contains(questions[0], c.label+".example.test") {
						t.Errorf("%s: asked %q", answer, questions)
					}
					if answer == "run" && (!reached || err != nil || came == 0) || answer == "no" && (reached || came > 0) {
						t.Errorf("%s: reached %v, %d arrivals, %v, asked %q\n%s", answer, reached, came, err, questions, own)
					}
				}
			})
		}
	}
}
