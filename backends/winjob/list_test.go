package winjob

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

const someRun = "S-1-15-2-1-2-3-4-5-6-7"

// TestParseList covers the system's forms of a list, and texts that are none.
func TestParseList(t *testing.T) {
	for in, want := range map[string]List{
		"":                       {Null: true},
		"D:NO_ACCESS_CONTROL":    {Null: true},
		"D:P":                    {Protected: true},
		"D:AI(A;OICIID;FA;;;SY)": {ACEs: []ListACE{{Type: "A", Flags: "OICIID", Rights: "FA", SID: "SY"}}},
		"D:PAI(D;;0x1;;;BU)(A;;FR;;;AC)": {Protected: true, ACEs: []ListACE{
			{Type: "D", Rights: "0x1", SID: "BU"}, {Type: "A", Rights: "FR", SID: "AC"},
		}},
		`D:(XA;;FX;;;WD;(@User.Project Any_of {"a)","b"}))(A;;FA;;;SY)`: {ACEs: []ListACE{
			{Type: "XA", Rights: "FX", SID: "WD", Further: `;(@User.Project Any_of {"a)","b"})`}, {Type: "A", Rights: "FA", SID: "SY"},
		}},
	} {
		got, err := ParseList(in)
		if err != nil || got.Null != want.Null || got.Protected != want.Protected || !slices.Equal(got.ACEs, want.ACEs) {
			t.Errorf("%s: got %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"D:X", "D:(A;;FA;;;SY", "D:(A;;FA)", "D:(A;;FA;;;SY)x", "D:(A;;FA;;;SY))", "D:P x", `D:(A;;FA;;;"SY)`} {
		if got, err := ParseList(in); err == nil {
			t.Errorf("%s became %+v", in, got)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add(`D:PAI(D;;0x1;;;BU)(XA;OICIID;FX;;;WD;(@User.a Any_of {"a)"}))`)
	f.Fuzz(func(t *testing.T, in string) {
		l, err := ParseList(in)
		if err != nil {
			return
		}
		again, err := ParseList(l.String())
		if err != nil || again.String() != l.String() {
			t.Errorf("%q became %q, which became %q, %v", in, l, again, err)
		}
	})
}

// TestWith covers the effect of an entry on a list.
func TestWith(t *testing.T) {
	f := FileAccess{Strip: strip(), Grants: Grants()}
	read := []Grant{grantOf(ir.Read)}
	const user = "(A;;FA;;;S-1-5-21-1)"
	for _, c := range []struct {
		name, before string
		dacl         DACL
		words        []Grant
		dir          bool
		want         string
	}{
		{
			"protected: nothing is inherited, groups of packages go, users stay", "D:AI" + user + "(A;OICIID;0x1200a9;;;AC)(A;ID;FR;;;S-1-15-2-2)(A;OICIID;FA;;;SY)",
			DACLProtected, nil, true, "D:P" + user + "(A;OICI;FA;;;SY)",
		},
		{
			"protected with a word", "D:AI(A;OICIID;FA;;;SY)", DACLProtected, read, true,
			"D:P(A;OICI;FA;;;SY)(A;OICI;0x120089;;;" + someRun + ")",
		},
		{"granted: what is inherited is the system's to add", "D:AI" + user + "(A;OICIID;FA;;;SY)", DACLGrant, read, false, "D:" + user + "(A;;0x120089;;;" + someRun + ")"},
		{"granted on a list that is cut off already", "D:PAI" + user, DACLGrant, read, false, "D:P" + user + "(A;;0x120089;;;" + someRun + ")"},
		{"an older entry of the run goes", "D:P(A;;FA;;;" + someRun + ")" + user, DACLProtected, nil, false, "D:P" + user},
		{"entries of other runs stay", "D:P(A;;FA;;;S-1-15-2-9)", DACLProtected, nil, false, "D:P(A;;FA;;;S-1-15-2-9)"},
		{"the words of a file are one entry", "D:P", DACLProtected, []Grant{GrantOpen, "update"}, false, "D:P(A;;0x120196;;;" + someRun + ")"},
		{"open to packages below a grant", "D:AI(A;ID;FR;;;AC)", DACLGrant, read, false, ""},
		{"open to restricted packages below a grant", "D:(A;;FR;;;S-1-15-2-2)", DACLGrant, nil, false, ""},
		{"no list", "", DACLProtected, read, true, ""},
	} {
		before, err := ParseList(c.before)
		if err != nil {
			t.Fatal(err)
		}
		got, err := before.With(Entry{Path: "x", DACL: c.dacl, Grants: c.words}, f, c.dir, someRun)
		if c.want == "" && err != nil {
			continue
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

// TestListsAreTheModels: the text that a loader hands to the system means the same as in the
// model by which specifications are compared with policies.
func TestListsAreTheModels(t *testing.T) {
	f := FileAccess{Strip: strip(), Grants: Grants()}
	v := &Volume{grants: map[Grant]granted{}}
	for word, l := range f.Grants {
		g, err := l.numbers()
		if err != nil {
			t.Fatal(err)
		}
		v.grants[word] = g
	}
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		caps, listed := irtest.Caps(rt), rapid.Bool().Draw(rt, "listed")
		words := wordsFor(caps, listed)
		kind := irtest.Kind(rt, ir.File, ir.Dir)
		got, err := List{}.With(Entry{DACL: DACLProtected, Grants: words}, f, kind == ir.Dir, someRun)
		if err != nil {
			rt.Fatal(err)
		}
		read, err := ParseList(got.String())
		if err != nil {
			rt.Fatal(err)
		}
		by := map[uint32]uint32{}
		for _, a := range read.ACEs {
			mask, ok := a.mask()
			var flags uint32
			for _, fl := range a.aceFlags() {
				flags |= map[string]uint32{"OI": 1, "CI": 2, "NP": 4, "IO": 8}[fl]
			}
			if !ok || a.SID != someRun || a.Type != "A" {
				rt.Fatalf("%+v", a)
			}
			by[flags] |= mask
		}
		want := map[uint32]uint32{}
		for _, a := range v.list(words, kind) {
			if a.mask != 0 {
				want[a.flags] |= a.mask
			}
		}
		for flags := range 16 {
			if by[uint32(flags)] != want[uint32(flags)] {
				rt.Fatalf("%v as %v: flags %x: text %#x, model %#x", words, kind, flags, by[uint32(flags)], want[uint32(flags)])
			}
		}
	})
}

// TestHolds: entries that the system joins, sorts or spells otherwise are the same; an entry that is missing, weaker or
// for another identifier is not.
func TestHolds(t *testing.T) {
	set := "D:P(A;;FA;;;SY)(A;OICI;0x120089;;;RUN)(A;CI;0x6;;;RUN)(A;OICIIO;SD;;;RUN)"
	for have, want := range map[string]bool{
		set: true,
		"D:PAI(A;CI;CCDCLC;;;SY)(A;CI;0x6;;;RUN)(A;OICIIO;SD;;;RUN)(A;CIOI;FR;;;RUN)":    true,
		"D:PAI(A;CI;0x2;;;RUN)(A;CI;0x4;;;RUN)(A;OICIIO;0x10000;;;RUN)(A;OICI;FR;;;RUN)": true,
		strings.Replace(set, "D:P", "D:", 1):                                             false,
		strings.Replace(set, "(A;CI;0x6;;;RUN)", "", 1):                                  false,
		strings.Replace(set, "0x6", "0x2", 1):                                            false,
		strings.Replace(set, "0x6", "0x46", 1):                                           false,
		strings.Replace(set, "CI;0x6", "CIIO;0x6", 1):                                    false,
		strings.Replace(set, "A;CI", "D;CI", 1):                                          false,
		set + "(A;;FR;;;AC)":                                                             false,
		set + "(A;;??;;;RUN)":                                                            false,
		"D:P(A;;FA;;;SY)":                                                                false,
		"":                                                                               false,
	} {
		got, err1 := ParseList(strings.ReplaceAll(have, "RUN", someRun))
		wanted, err2 := ParseList(strings.ReplaceAll(set, "RUN", someRun))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if got.Holds(wanted, someRun, sidAllPackages, sidAllRestrictedPackages) != want {
			t.Errorf("%s: want %v", have, want)
		}
	}
}

// TestTakenBack: a list without a run's entries, and as it is handed back.
func TestTakenBack(t *testing.T) {
	l, err := ParseList("D:AI(A;;FA;;;SY)(A;;FR;;;" + someRun + ")(A;ID;FR;;;BU)")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Without(someRun).Explicit().String(); got != "D:(A;;FA;;;SY)" {
		t.Errorf("got %s", got)
	}
}

// TestOpened: entries for all packages come before inherited entries, and the others stay as they are.
func TestOpened(t *testing.T) {
	for sddl, want := range map[string]string{
		"D:":                    "D:(A;;0x120088;;;S-1-15-2-2)(A;;0x120088;;;S-1-15-2-1)",
		"D:PAI(A;OICI;FA;;;BA)": "D:ARAIP(A;OICI;FA;;;BA)(A;;0x120088;;;S-1-15-2-2)(A;;0x120088;;;S-1-15-2-1)",
		"D:AI(A;;FR;;;WD)(A;OICIID;FA;;;SY)": "D:ARAI(A;;FR;;;WD)(A;;0x120088;;;S-1-15-2-2)(A;;0x120088;;;S-1-15-2-1)" +
			"(A;OICIID;FA;;;SY)",
	} {
		if got, err := Opened(sddl, 0x120088); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", sddl, got, err, want)
		}
	}
	for _, sddl := range []string{"", "D:NO_ACCESS_CONTROL", "D:(A;;FA)"} {
		if got, err := Opened(sddl, 1); err == nil {
			t.Errorf("%s: got %s", sddl, got)
		}
	}
}

// TestAllows: a package has the rights of entries for it and for all packages that are about the
// object itself.
func TestAllows(t *testing.T) {
	const pkg = "S-1-15-2-7"
	for sddl, want := range map[string]bool{
		"D:(A;;0x1200a9;;;AC)": true, "D:(A;ID;FX;;;S-1-15-2-1)": true, "D:(A;;GX;;;" + pkg + ")": true, "D:(A;;GA;;;" + pkg + ")": true,
		"D:(A;;0x20;;;" + pkg + ")(A;;FR;;;AC)": true, "D:NO_ACCESS_CONTROL": true,
		"D:": false, "D:(A;;FR;;;AC)": false, "D:(A;OIIO;FA;;;AC)": false, "D:(A;;FA;;;BU)": false, "D:(D;;FA;;;AC)": false,
		`D:(XA;;FX;;;AC;(Exists x))`: false, "D:(A;;FA;;;S-1-15-2-8)": false, "D:(A;;ZZ;;;AC)": false, "D:(A;;GR;;;AC)": false,
	} {
		l, err := ParseList(sddl)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.AllowsExecute(pkg); got != want {
			t.Errorf("%s: got %v", sddl, got)
		}
	}
}
