class Accessc < Formula
  desc "{{.Description}}"
  homepage "{{.Repository}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Architectures}}
    on_{{.Name}} do
      url "{{$.Downloads}}/{{.File}}"
      sha256 "{{.Hash}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install {{range $i, $p := .Programs}}{{if $i}}, {{end}}"{{$p}}"{{end}}
    man1.install "accessc.1"
    bash_completion.install "completions/accessc.bash" => "accessc"
    zsh_completion.install "completions/_accessc"
    fish_completion.install "completions/accessc.fish"
  end

  test do
    assert_match "accessc #{version}", shell_output("#{bin}/accessc version")
  end
end
