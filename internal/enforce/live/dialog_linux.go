package live

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/text/visible"
)

// Dialog asks the questions of a session at the controlling terminal, one after the other, until
// done is closed. Say gets messages if the terminal cannot be used. Interrupted is told of each
// control-C: it refuses the question that stands there.
func (s *Session) Dialog(done <-chan struct{}, interrupted <-chan os.Signal, say func(string)) {
	said := false
	for {
		select {
		case <-done:
			return
		default:
		}
		pending, due := s.Pending()
		if len(pending) == 0 {
			select {
			case <-done:
				return
			case <-due:
			case <-interrupted:
			}
			continue
		}
		t, err := prompt.Open()
		if err != nil {
			if !said {
				said = true
				say("--ask: " + err.Error() + "; operations of access.may are refused")
			}
			s.unasked(pending[0])
			continue
		}
		s.converse(t, pending[0], done, interrupted)
		_ = t.Close()
	}
}

// converse asks one question until it is answered.
// See decision D201.
func (s *Session) converse(t *prompt.Terminal, q *Question, done <-chan struct{}, interrupted <-chan os.Signal) {
	note, stop := "", either(q.Done, done, interrupted)
	for {
		code := newCode()
		line, err := t.Ask(note+s.text(q, code), stop)
		switch {
		case errors.Is(err, prompt.ErrGone):
			select {
			case <-q.Done:
				t.Tell("accessc: question " + strconv.Itoa(q.ID) + " needs no answer any more\n")
			default:
				s.unasked(q)
			}
			return
		case err != nil:
			s.unasked(q)
			return
		}
		over := false
		if note, over = s.heard(q, line, code); over {
			t.Tell(note)
			return
		}
	}
}

// either is closed when one of the channels is or has something.
func either(gone, done <-chan struct{}, interrupted <-chan os.Signal) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		select {
		case <-gone:
		case <-done:
		case <-interrupted:
		}
		close(out)
	}()
	return out
}

// codeDigits is how many digits a grant is confirmed by.
const codeDigits = 4

// newCode is a number that the tool does not know.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1e4))
	if err != nil {
		return "" // no line has it
	}
	return fmt.Sprintf("%0*d", codeDigits, n)
}

// text is the question as the user reads it.
func (s *Session) text(q *Question, code string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\naccessc: %s asks: %s\n", visible.Name(s.o.Tool), visible.Name(operation(q.Ops)))
	if to, ok := target(q.Ops); ok {
		fmt.Fprintf(&b, "  host   %s\n", visible.Name(hostPort(to)))
	} else {
		fmt.Fprintf(&b, "  file   %s\n", visible.Name(s.path(q.Ops)))
	}
	fmt.Fprintf(&b, "  by     process %d (%s)\n", q.Call.PID, visible.Name(q.Call.Name))
	fmt.Fprintf(&b, "  grant  %s\n", strings.Join(grantTexts(q.Grants, visible.Name), ", "))
	fmt.Fprintf(&b, "  may    %s\n", ruleText(q.By, visible.Name))
	for _, g := range s.Grants() {
		fmt.Fprintf(&b, "  given  %d: %s\n", g.ID, strings.Join(grantTexts(g.Rules, visible.Name), ", "))
	}
	write := ":\n  "
	if s.o.Write != nil {
		write = ",\n  write (run, and to .accessc/local.toml): "
	}
	fmt.Fprintf(&b, "  once, run (until it ends), rule (all of the line may, until it ends)%swith the code %s\n", write, code)
	b.WriteString("  no, never (asks nothing more), revoke N: without\n")
	fmt.Fprintf(&b, "accessc: question %d: ", q.ID)
	return b.String()
}

// heard acts by a line that the user typed. over is true where the question is answered.
func (s *Session) heard(q *Question, line, code string) (note string, over bool) {
	words := strings.Fields(line)
	word, number := "", ""
	switch len(words) {
	case 2:
		word, number = words[0], words[1]
	case 1:
		word = words[0]
	}
	a := Answer(word)
	switch {
	case word == "revoke":
		id, err := strconv.Atoi(number)
		if err == nil {
			err = s.Revoke(id)
		}
		if err != nil {
			return "accessc: there is no grant " + visible.Text(number) + "\n", false
		}
		return "accessc: revoked " + number + "\n", false
	case number == "" && (a == No || a == Never):
	case a.grants() && len(code) == codeDigits && number == code:
	default:
		return "accessc: not an answer\n", false
	}
	if err := s.Answer(q.ID, a); err != nil {
		return "accessc: " + visible.Text(err.Error()) + "\n", errors.Is(err, ErrUnknown)
	}
	if !a.grants() {
		return "accessc: refused\n", true
	}
	return "accessc: granted " + strconv.Itoa(q.ID) + "; accessc grants revoke takes it back\n", true
}
