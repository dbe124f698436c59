package start_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/irtest"
)

// A contest is rounds of starts while a rival acts on what is started. A round is met when the rival got some of its
// starts refused, and others came through.
const (
	contestStarts = 16
	// contestRests is how many of the starts of a round have the rival rest.
	contestRests = contestStarts / 8
)

// contest has the worker start programs, about n at full count, and returns the words that these printed, each with
// its number, and the least number of starts that came through.
func (s *shop) contest(t *testing.T, op string, n int) (said map[string]int, least int) {
	t.Helper()
	rounds := irtest.Times(n / contestStarts)
	met := rounds / 2
	if irtest.Full() {
		met = rounds
	}
	all := map[string]int{}
	irtest.Race(t, met, rounds, func(int) bool {
		e := s.tool.exchange(t, attempt{Op: op, A: "out", B: strconv.Itoa(contestStarts)})[0]
		if e != 0 {
			t.Fatal(e)
		}
		data, err := os.ReadFile(filepath.Join(s.root, "out.counts"))
		s.must(err)
		counts := map[string]int{}
		s.must(json.Unmarshal(data, &counts))
		for how, times := range counts {
			all[how] += times
		}
		least += contestRests
		return counts["refused"]+counts["killed"] > 0 && counts["started"] > 0
	})
	data, err := os.ReadFile(filepath.Join(s.root, "out"))
	s.must(err)
	said = map[string]int{}
	for line := range strings.Lines(string(data)) {
		said[strings.TrimSuffix(line, "\n")]++
	}
	fmt.Printf("answers %s: %v\n", t.Name(), all)
	return said, least
}

// onlyListed wants nothing but what the listed programs print, "yes" at least as often as the rival rested.
func onlyListed(t *testing.T, said map[string]int, least int) {
	t.Helper()
	for line := range said {
		// echo prints its first argument behind the name that it was started by.
		if line != "yes" && line != "not" {
			t.Errorf("printed %q", line)
		}
	}
	if said["yes"] < least {
		t.Errorf("%d were started of the %d where the other thread rests", said["yes"], least)
	}
}
