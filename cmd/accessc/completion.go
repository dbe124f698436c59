package main

import "fmt"

// completeCommand is the hidden command that the scripts ask for candidates.
const completeCommand = "__complete"

// completionCmd is "accessc completion".
// See decision D103.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help implements kong's detailed help.
func (completionCmd) Help() string {
	return `  bash: accessc completion bash > ~/.local/share/bash-completion/completions/accessc
  zsh:  accessc completion zsh > "${fpath[1]}/_accessc"
  fish: accessc completion fish > ~/.config/fish/completions/accessc.fish`
}

var completionScripts = map[string]string{
	"bash": `_accessc() {
  local IFS=$'\n'
  COMPREPLY=($(accessc __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _accessc accessc
`,
	"zsh": `#compdef accessc
_accessc() {
  local -a lines
  lines=("${(@f)$(accessc __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local -a candidates
  local line
  for line in $lines; do candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); done
  _describe accessc candidates || _files
}
compdef _accessc accessc
`,
	"fish": `function __accessc_complete
  set -l words (commandline -opc) (commandline -ct)
  accessc __complete $words[2..-1] 2>/dev/null
end
complete -c accessc -a '(__accessc_complete)'
`,
}

// Run implements the command.
func (c *completionCmd) Run(g *globals) error {
	_, err := fmt.Fprint(g.stdout, completionScripts[c.Shell])
	return err
}
