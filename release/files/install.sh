#!/bin/sh
# Installs accessc {{.Version}} for one user: into ~/.local/bin, or where --to says. It fetches an archive, compares it with the
# release's checksums, whose signature it checks, and only then puts programs into place. It writes nowhere else but below
# $TMPDIR. To remove accessc, remove the programs.
{ # A shell reads all of it before it runs any of it: a script that was cut off does nothing.
set -eu
umask 022

version={{.Version}}
from={{.Downloads}}
key='{{.Key}}'
pem='{{.PEM}}'
to=${HOME:-}/.local/bin
accept=

say() { printf 'accessc: %s\n' "$*" >&2; }
stop() {
	say "not installed: $*"
	exit 1
}
usage() {
	cat >&2 <<END
usage: install.sh [--to DIRECTORY] [--from URL] [--accept unsigned]
  --to DIRECTORY      for the programs, otherwise ~/.local/bin
  --from URL          the files of the release, otherwise $from
  --accept unsigned   install also where no program can check the signature
END
	exit 2
}

while [ $# -gt 0 ]; do
	[ $# -gt 1 ] || usage
	case $1 in
	--to) to=$2 ;;
	--from) from=$2 ;;
	--accept) [ "$2" = unsigned ] && accept=$2 || usage ;;
	*) usage ;;
	esac
	shift 2
done
case $to in /*) ;; *) to=$PWD/$to ;; esac
{{if .Trial}}
say "this is a trial of a release: whoever made it has thrown its key away"
{{end}}
case $(uname -s)/$(uname -m) in
{{- range .Platforms}}
{{.Pattern}}) platform={{.Name}} ;;
{{- end}}
*) stop "there are no programs for $(uname -s) on $(uname -m)" ;;
esac
name=accessc-$version-$platform

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

# No file is larger than 200 MB.
ulimit -f 409600 2>/dev/null || :

# fetch FILE
fetch() {
	if command -v curl >/dev/null; then
		case $from in
		https://*) curl -fsSL --proto =https --proto-redir =https --tlsv1.2 -o "$1" "$from/$1" ;;
		*) curl -fsSL -o "$1" "$from/$1" ;;
		esac
	elif command -v wget >/dev/null; then
		wget -q -t 1 -O "$1" "$from/$1"
	else
		stop "it needs curl or wget"
	fi || stop "$from/$1 was not fetched whole"
}

# hash FILE: the SHA-256 in hexadecimal digits.
hash() {
	if command -v sha256sum >/dev/null; then
		sha256sum <"$1"
	elif command -v shasum >/dev/null; then
		shasum -a 256 <"$1"
	elif command -v openssl >/dev/null; then
		openssl dgst -sha256 -r <"$1"
	else
		stop "it needs sha256sum, shasum or openssl"
	fi | cut -d ' ' -f 1
}

# signature: checks the signature of checksums.txt by what can: OpenSSH from 8.1, or OpenSSL from 3, which is given the text
# that OpenSSH signs for a file (PROTOCOL.sshsig of OpenSSH).
signature() {
	if command -v ssh-keygen >/dev/null && ssh-keygen -Y verify </dev/null 2>&1 | grep -q namespace; then
		printf 'release %s\n' "$key" >signers
		ssh-keygen -Y verify -f signers -I release -n {{.Namespace}} -s checksums.txt.sig <checksums.txt >/dev/null 2>&1 ||
			stop "the signature of checksums.txt is not one of the release's key (ssh-keygen)"
	elif command -v openssl >/dev/null && openssl pkeyutl -help 2>&1 | grep -q -e -rawin; then
		printf '%s\n' "$pem" >key.pem
		grep -v -e ----- checksums.txt.sig | openssl base64 -d | tail -c 64 >raw
		printf 'SSHSIG\0\0\0\{{.Length}}{{.Namespace}}\0\0\0\0\0\0\0\006sha512\0\0\0\100' >text
		openssl dgst -sha512 -binary <checksums.txt >>text
		openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in text -sigfile raw >/dev/null 2>&1 ||
			stop "the signature of checksums.txt is not one of the release's key (openssl)"
	elif [ "$accept" = unsigned ]; then
		say "the signature was not checked: this system has neither OpenSSH 8.1 nor OpenSSL 3; the checksums are as the server gave them"
	else
		stop "nothing here can check the signature: install OpenSSH from 8.1 or OpenSSL from 3, or accept that with --accept unsigned"
	fi
}

fetch checksums.txt
fetch checksums.txt.sig
signature
want=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' checksums.txt)
[ -n "$want" ] || stop "checksums.txt does not name $name.tar.gz: it is of another release"
fetch "$name.tar.gz"
[ "$(hash "$name.tar.gz")" = "$want" ] || stop "$name.tar.gz has another checksum than the release: it was changed, or cut off"
tar -xzf "$name.tar.gz"

mkdir -p "$to"
for program in {{range $i, $p := .Programs}}{{if $i}} {{end}}{{$p}}{{end}}; do
	new=$to/.$program.$$
	cp "$name/$program" "$new"
	chmod 755 "$new"
	mv -f "$new" "$to/$program"
	say "$to/$program: $version"
done
case :$PATH: in
*:"$to":*) ;;
*) say "$to is not on your PATH" ;;
esac
}
