package main

import "fmt"

// completeCommand is the hidden command that the scripts ask for candidates.
const completeCommand = "__complete"

// completionCmd is "accessc completion".
// See decision D103.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell,nushell" help:"bash, zsh, fish, powershell or nushell."`
}

// Help implements kong's detailed help.
func (completionCmd) Help() string {
	return `  bash: accessc completion bash > ~/.local/share/bash-completion/completions/accessc
  zsh:  accessc completion zsh > "${fpath[1]}/_accessc"
  fish: accessc completion fish > ~/.config/fish/completions/accessc.fish
  PowerShell: accessc completion powershell >> $PROFILE
  Nushell:    accessc completion nushell | save ($nu.user-autoload-dirs.0 | path join accessc.nu)`
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
	// Windows PowerShell passes no empty words to programs; "=" is one for us.
	"powershell": `Register-ArgumentCompleter -Native -CommandName accessc -ScriptBlock {
  param($word, $ast, $at)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $at } |
    ForEach-Object { $_.Extent.Text.Trim([char[]]@(34, 39)) })
  $words += if ($word) { $word } else { '=' }
  accessc __complete @words 2>$null | ForEach-Object {
    $name, $help = $_ -split [char]9, 2
    if (-not $help) { $help = $name }
    [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $help)
  }
}
`,
	// The completer is one for all programs: one that is there keeps the others. No candidates have it offer files.
	"nushell": `$env.config.completions.external.completer = do {
  let before = $env.config.completions.external.completer
  {|spans|
    if ($spans.0 | path parse | get stem) != accessc {
      if $before != null { do $before $spans }
    } else {
      let found = ^accessc __complete ...($spans | skip 1) e> /dev/null | lines | each {|line|
        let parts = $line | split row -n 2 (char tab)
        { value: $parts.0, description: ($parts.1? | default '') }
      }
      if ($found | is-not-empty) { $found }
    }
  }
}
`,
}

// Run implements the command.
func (c *completionCmd) Run(g *globals) error {
	_, err := fmt.Fprint(g.stdout, completionScripts[c.Shell])
	return err
}
