#!/bin/sh
# Installs the program of a release for action.yml: VERSION, whose checksums.txt has the SHA-256 CHECKSUMS. So the
# workflow says which bytes run, and not the place that they come from. Needs curl and tar.
set -eu

fail() {
	printf '::error title=accessc::%s\n' "$1"
	exit 1
}
digest() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1; }

# shellcheck disable=SC2153
version=${VERSION#v}
case $version in '' | *[!0-9A-Za-z.+-]*) fail 'version is that of a release, such as 1.2.3' ;; esac
case $RUNNER_OS in
Linux) os=linux ;;
macOS) os=darwin ;;
*) fail 'the action is for runners of Linux and macOS' ;;
esac
case $RUNNER_ARCH in
X64) arch=amd64 ;;
ARM64) arch=arm64 ;;
*) fail 'the action is for runners of X64 and ARM64' ;;
esac

dir=$(mktemp -d "$RUNNER_TEMP/accessc.XXXXXX")
get() {
	curl -fsSL --proto '=https' --retry 3 --max-time 300 -o "$dir/$1" \
		"https://github.com/accessc/accessc/releases/download/v$version/$1" || fail "$1 of the release cannot be loaded"
}
get checksums.txt
found=$(digest <"$dir/checksums.txt")
[ "$found" = "$CHECKSUMS" ] || fail "checksums.txt of the release has the SHA-256 $found, not that of the input checksums"
archive=accessc-$version-$os-$arch.tar.gz
want=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$dir/checksums.txt")
[ -n "$want" ] || fail "checksums.txt has no $archive"
get "$archive"
[ "$(digest <"$dir/$archive")" = "$want" ] || fail "$archive has another checksum than the release says"

# The program alone, wherever the archive has it.
name=$(tar -tzf "$dir/$archive" | grep -E '(^|/)accessc$')
mkdir "$dir/bin"
tar -xzOf "$dir/$archive" "$name" >"$dir/bin/accessc"
chmod +x "$dir/bin/accessc"
"$dir/bin/accessc" version
printf 'accessc=%s\n' "$dir/bin/accessc" >>"$GITHUB_OUTPUT"
