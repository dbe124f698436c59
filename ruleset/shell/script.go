package shell

import (
	"regexp"
	"strings"
	"sync"
)

// The scripts of small languages that are understood: all others are doubts.
var (
	// A delimiter in brackets ends an expression for GNU sed, and does not for that of BSD.
	sedClass   = `\[(\[:[a-z]+:\]|[^]\[/|\\\n])+\]`
	sedAddress = `([0-9]+|\$)(,(\+?[0-9]+|\$))?|/([^/\\\n\[]|` + sedClass + `)*/`
	sedScript  = sync.OnceValue(func() *regexp.Regexp {
		one := ` *(` + sedAddress + `)? *([pdq=]|s/([^/\\\n\[]|\\[^\n]|` + sedClass + `)*/([^/\\\n]|\\[^\n])*/[gIip0-9]*|s\|([^|\\\n\[]|\\[^\n]|` + sedClass + `)*\|([^|\\\n]|\\[^\n])*\|[gIip0-9]*) *`
		return regexp.MustCompile(`^` + one + `(;` + one + `)*$`)
	})
	awkScript = sync.OnceValue(func() *regexp.Regexp {
		field := `(\$([0-9]+|NF)|NR|NF)`
		return regexp.MustCompile(`^ *(/[^/\\\n"]*/|NR *(==|>|<|>=|<=) *[0-9]+( *&& *NR *(==|<|<=) *[0-9]+)?)? *(\{ *print *(` + field + `( *, *` + field + `)*)? *\})?$`)
	})
	ddOperand    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(if|bs|ibs|obs|cbs|count|skip|seek|status)=`) })
	numberFormat = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[^A-Za-z%]*[hlLjztq]*n`) })
)

func plainSed(_ int, s string) bool { return sedScript().MatchString(s) }

func plainAwk(_ int, s string) bool {
	return strings.TrimSpace(s) != "" && awkScript().MatchString(s)
}

func plainFormat(_ int, s string) bool { return !numberFormat().MatchString(s) }

// plainTar reads the first word of tar in its old form, where letters are options.
func plainTar(at int, s string) bool { return at > 1 || strings.Trim(s, "tvzjJpf") == "" }
