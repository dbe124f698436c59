package winjob

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// sambaScript answers lines {"sddl","sids","mask"} by samba's own access check: another
// implementation of [MS-DTYP] 2.5.3.2, and of the language that lists are written in. It knows no
// AppContainers. The half of the check that is about a package is the same algorithm for a token
// with only the package and the groups of all packages, so these are asked for as ordinary
// identifiers; a file's generic rights are mapped before, as the caller of the check must.
const sambaScript = `
import json, sys
from samba.dcerpc import security
from samba.security import access_check
from samba import NTSTATUSError
for line in sys.stdin:
    q = json.loads(line)
    sd = security.descriptor.from_sddl(q["sddl"], security.dom_sid("S-1-5-21-1-2-3"))
    token = security.token()
    token.sids = [security.dom_sid(s) for s in q["sids"]]
    token.num_sids = len(q["sids"])
    try:
        access_check(sd, token, q["mask"])
        print("true")
    except NTSTATUSError as e:
        if e.args[0] != 0xC0000022:
            raise
        print("false")
`

// sambaQuestion is a question for samba, and this package's answer.
type sambaQuestion struct {
	SDDL string   `json:"sddl"`
	SIDs []string `json:"sids"`
	Mask uint32   `json:"mask"`
	ours bool
}

// python is an interpreter that has samba's modules.
func python(t *testing.T) string {
	t.Helper()
	for _, p := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(p, "-c", "import samba.security").Run() == nil {
			return p
		}
	}
	t.Skip("no samba for Python: apt-get install python3-samba")
	return ""
}

// TestSamba: an access list that this package makes of a random list, by a random entry, gives a
// package exactly the rights that this package reads in it, and that the words of the entry stand
// for, in the eyes of another implementation.
func TestSamba(t *testing.T) {
	p := python(t)
	count, seed := irtest.Times(200_000), epoch.Seed(t)
	t.Logf("%d access lists, seed %d", count, seed)
	rng := epoch.Source(seed, 1)
	questions := make([]sambaQuestion, 0, count)
	allowed := 0
	for len(questions) < count {
		q, ok := sambaDraw(t, rng)
		if !ok {
			continue
		}
		questions = append(questions, q)
		if q.ours {
			allowed++
		}
	}
	if allowed < count/10 || allowed > count*9/10 {
		t.Errorf("%d of %d are allowed", allowed, count)
	}
	for i, theirs := range ask(t, p, questions) {
		if q := questions[i]; theirs != q.ours {
			t.Fatalf("samba says %v, we %v: %+v", theirs, q.ours, q)
		}
	}
}

// TestSambaOfUsers: a protected list leaves users and groups the rights that they had.
func TestSambaOfUsers(t *testing.T) {
	p := python(t)
	seed := epoch.Seed(t)
	rng := epoch.Source(seed, 2)
	var questions []sambaQuestion
	for range irtest.Times(100_000) {
		l := randomList(t, rng)
		set, err := l.With(Entry{Path: `C:\x`, DACL: DACLProtected, Grants: []Grant{GrantOpen, "read"}}, FileAccess{Strip: strip(), Grants: Grants()}, true, sambaPackage)
		if err != nil {
			t.Fatal(err)
		}
		sids := []string{"S-1-5-21-1-2-3-1001", "S-1-1-0"}
		if rng.IntN(2) == 0 {
			sids = []string{"S-1-5-18", "S-1-5-32-544"}
		}
		mask := randomMask(rng)
		for _, sddl := range []string{l.String(), set.String()} {
			questions = append(questions, sambaQuestion{SDDL: full(sddl), SIDs: sids, Mask: mask})
		}
	}
	t.Logf("%d access lists, seed %d", len(questions)/2, seed)
	allowed := 0
	for i, got := range ask(t, p, questions) {
		if i%2 == 0 {
			questions[i+1].ours = got
			continue
		}
		if got != questions[i].ours {
			t.Fatalf("before %v, afterwards %v: %+v", questions[i].ours, got, questions[i-1:i+1])
		}
		if got {
			allowed++
		}
	}
	if allowed == 0 || allowed == len(questions)/2 {
		t.Errorf("%d of %d are allowed", allowed, len(questions)/2)
	}
}

// TestSambaNotices: a wrong mask, a wrong flag or an entry for another identifier would have been noticed.
func TestSambaNotices(t *testing.T) {
	p := python(t)
	const pkg = "S-1-15-2-7"
	lists := []struct{ sddl, wrong string }{
		{"D:(A;;0x120089;;;" + pkg + ")", "D:(A;;0x120088;;;" + pkg + ")"},
		{"D:(A;;0x120089;;;" + pkg + ")", "D:(A;IO;0x120089;;;" + pkg + ")"},
		{"D:(A;;0x120089;;;AC)", "D:(A;;0x120089;;;BU)"},
	}
	var questions []sambaQuestion
	for _, l := range lists {
		for _, sddl := range []string{l.sddl, l.wrong} {
			questions = append(questions, sambaQuestion{SDDL: full(sddl), SIDs: []string{pkg, sidAllPackages}, Mask: 0x120089})
		}
	}
	if got := ask(t, p, questions); !slices.Equal(got, []bool{true, false, true, false, true, false}) {
		t.Errorf("got %v", got)
	}
}

// full is a list as a whole descriptor. samba lets an owner change the list, so its owner is no user of the questions.
func full(dacl string) string {
	return "O:S-1-5-21-9-9-9-9G:S-1-5-21-9-9-9-9" + strings.ReplaceAll(dacl, ";;;AC)", ";;;"+sidAllPackages+")")
}

// sambaDraw draws a list, has an entry of a specification change it, and asks for some rights.
func sambaDraw(t *testing.T, rng *rand.Rand) (sambaQuestion, bool) {
	t.Helper()
	const pkg = sambaPackage
	l := randomList(t, rng)
	e := Entry{Path: `C:\x`, DACL: DACLProtected}
	if rng.IntN(2) == 0 {
		e.DACL = DACLGrant
	}
	words := []Grant{GrantEnter, GrantOpen, "read", "create", "update", "delete", "execute"}
	for _, w := range words {
		if rng.IntN(3) == 0 {
			e.Grants = append(e.Grants, w)
		}
	}
	files, dir := FileAccess{Strip: strip(), Grants: Grants()}, rng.IntN(2) == 0
	set, err := l.With(e, files, dir, pkg)
	if err != nil {
		return sambaQuestion{}, false
	}
	mask := randomMask(rng)
	q := sambaQuestion{SDDL: full(set.String()), SIDs: []string{pkg, sidAllPackages, sidAllRestrictedPackages}, Mask: mask}
	q.ours = set.Allows(mask, pkg)
	if meant := meaning(files, e.Grants, dir)&mask == mask; meant != q.ours {
		t.Fatalf("%v on a directory: %v give %#x: %v, the list %s says %v", dir, e.Grants, mask, meant, set, q.ours)
	}
	return q, true
}

// sambaPackage is the package of the run.
const sambaPackage = "S-1-15-2-1-2-3-4-5-6-7"

// randomList draws the list of an object before a run.
func randomList(t *testing.T, rng *rand.Rand) List {
	t.Helper()
	pick := func(all ...string) string { return all[rng.IntN(len(all))] }
	var b strings.Builder
	b.WriteString("D:" + pick("", "P", "AI"))
	for range rng.IntN(5) {
		fmt.Fprintf(&b, "(A;%s;%s;;;%s)", pick("", "OICI", "OIIO", "CIIO", "ID", "OICIID", "CIIOID"),
			pick("FA", "FR", "FX", "FW", "0x1200a9", "0x1301bf", "RCSD", "0x20089", "CCDC", "LCSWRP", "0x10"),
			pick("WD", "BU", "BA", "SY", "S-1-5-21-1-2-3-1001", sambaPackage, "AC", sidAllRestrictedPackages))
	}
	l, err := ParseList(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// randomMask draws rights to ask for.
func randomMask(rng *rand.Rand) uint32 {
	switch rng.IntN(4) {
	case 0:
		return []uint32{0x10000, 0x20000, 0x40000, 0x80000, 0x100000}[rng.IntN(5)]
	case 1:
		return []uint32{fileGenericRead.value, fileGenericExecute.value, fileAllAccess.value, 0x116, 0x6, 0x120080}[rng.IntN(6)]
	default:
		return uint32(1) << rng.IntN(9)
	}
}

// meaning are the rights that words give on the very object of their entry.
func meaning(f FileAccess, words []Grant, dir bool) uint32 {
	var out uint32
	for _, w := range words {
		n, _ := f.Grants[w].numbers()
		if !dir {
			out |= n.file
			continue
		}
		for _, a := range n.directory {
			if a.flags&inheritOnly.value == 0 {
				out |= a.mask
			}
		}
	}
	return out
}

// ask puts questions to samba.
func ask(t *testing.T, python string, questions []sambaQuestion) []bool {
	t.Helper()
	var in strings.Builder
	enc := json.NewEncoder(&in)
	for _, q := range questions {
		if err := enc.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-c", sambaScript)
	cmd.Stdin, cmd.Stderr = strings.NewReader(in.String()), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(text))
	if len(lines) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(lines), len(questions))
	}
	out := make([]bool, len(lines))
	for i, line := range lines {
		out[i] = line == "true"
	}
	return out
}
