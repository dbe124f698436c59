package resolve

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a form that is equal for paths that some systems cannot tell apart: full case folding
// and canonical composition (Unicode, CaseFolding.txt and UAX #15).
// See decision D97.
func Fold(p string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(p) {
		if r < utf8.RuneSelf || !strings.ContainsRune(long, r) {
			b.WriteRune(short(r))
			continue
		}
		before, _, _ := strings.Cut(long, string(r))
		b.WriteString(strings.Fields(longer)[utf8.RuneCountInString(before)])
	}
	return norm.NFC.String(b.String())
}

// long are the letters that are folded to several, in composed form, and longer those that each of them becomes (status
// F in CaseFolding.txt).
const (
	long = "ßİŉǰΐΰևẖẗẘẙẚẞὐὒὔὖᾀᾁᾂᾃᾄᾅᾆᾇᾈᾉᾊᾋᾌᾍᾎᾏᾐᾑᾒᾓᾔᾕᾖᾗᾘᾙᾚᾛᾜᾝᾞᾟᾠᾡᾢᾣᾤᾥᾦᾧᾨᾩᾪ" +
		"ᾫᾬᾭᾮᾯᾲᾳᾴᾶᾷᾼῂῃῄῆῇῌῒΐῖῗῢΰῤῦῧῲῳῴῶῷῼﬀﬁﬂﬃﬄﬅﬆﬓﬔﬕﬖﬗ"
	longer = "ss i\u0307 ʼn j\u030c ι\u0308\u0301 υ\u0308\u0301 եւ h\u0331 t\u0308 w\u030a y\u030a aʾ ss υ\u0313 " +
		"υ\u0313\u0300 υ\u0313\u0301 υ\u0313\u0342 ἀι ἁι ἂι ἃι ἄι ἅι ἆι ἇι ἀι " +
		"ἁι ἂι ἃι ἄι ἅι ἆι ἇι ἠι ἡι ἢι ἣι ἤι ἥι ἦι ἧι ἠι ἡι ἢι ἣι ἤι ἥι ἦι ἧι ὠι ὡι ὢι " +
		"ὣι ὤι ὥι ὦι ὧι ὠι ὡι ὢι ὣι ὤι ὥι ὦι ὧι ὰι αι άι α\u0342 α\u0342ι αι ὴι ηι ήι η\u0342 η\u0342ι ηι " +
		"ι\u0308\u0300 ι\u0308\u0301 ι\u0342 ι\u0308\u0342 υ\u0308\u0300 υ\u0308\u0301 ρ\u0313 υ\u0342 υ\u0308\u0342 " +
		"ὼι ωι ώι " +
		"ω\u0342 ω\u0342ι ωι ff fi fl ffi ffl st st մն մե մի վն մխ"
)

// short folds a letter to another letter.
func short(r rune) rune {
	switch {
	case r == 'ı': // its large form is another letter's
		return r
	case unicode.Is(unicode.Cherokee, r): // its small letters came later
		return unicode.ToUpper(r)
	}
	return unicode.ToLower(unicode.ToUpper(r))
}
