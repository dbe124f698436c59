package shell

import (
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// The scripts of small languages that are understood: all others are doubts.
const (
	// A delimiter in brackets ends an expression for GNU sed, and does not for BSD sed.
	sedClass   = `\[(\[:[a-z]+:\]|[^]\[/|\\\n])+\]`
	sedAddress = `([0-9]+|\$)(,(\+?[0-9]+|\$))?|/([^/\\\n\[]|` + sedClass + `)*/`
	sedCommand = ` *(` + sedAddress + `)? *([pdq=]|s/([^/\\\n\[]|\\[^\n]|` + sedClass +
		`)*/([^/\\\n]|\\[^\n])*/[gIip0-9]*|s\|([^|\\\n\[]|\\[^\n]|` + sedClass +
		`)*\|([^|\\\n]|\\[^\n])*\|[gIip0-9]*) *`
	awkField = `(\$([0-9]+|NF)|NR|NF)`
	awkTest  = `(/[^/\\\n"]*/|NR *(==|>|<|>=|<=) *[0-9]+( *&& *NR *(==|<|<=) *[0-9]+)?)`
)

var sedScript = expression.Once{Text: `^` + sedCommand + `(;` + sedCommand + `)*$`}

var awkScript = expression.Once{Text: `^ *` + awkTest + `? *(\{ *print *(` + awkField + `( *, *` + awkField +
	`)*)? *\})?$`}

var ddOperand = expression.Once{Text: `^(if|bs|ibs|obs|cbs|count|skip|seek|status)=`}

var numberFormat = expression.Once{Text: `%[^A-Za-z%]*[hlLjztq]*n`}

func plainSed(_ int, s string) bool { return sedScript.Get().MatchString(s) }

func plainAwk(_ int, s string) bool {
	return strings.TrimSpace(s) != "" && awkScript.Get().MatchString(s)
}

func plainFormat(_ int, s string) bool { return !numberFormat.Get().MatchString(s) }

// plainTar reads the first word of tar in its old form, where letters are options.
func plainTar(at int, s string) bool { return at > 1 || strings.Trim(s, "tvzjJpf") == "" }
