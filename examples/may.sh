#!/bin/sh
# may.sh TOOL OPERATION: prints those paths of the standard input, one a line, on which
# the tool may do it. One process answers for all of them.
#
#   git ls-files | examples/may.sh edit update
set -eu
tool=$1 operation=$2

paths=$(mktemp)
trap 'rm -f "$paths"' EXIT
cat >"$paths"

# A quote and a backslash are escaped in JSON. A line with another control character is
# no JSON then, which is answered by an error, which is not "allow". A path cannot write
# the verdict itself: its quotes come back escaped.
sed 's/[\\"]/\\&/g; s/.*/{"operation":"'"$operation"'","target":"&"}/' "$paths" |
	accessc can --stdin "$tool" |
	while IFS= read -r answer; do
		IFS= read -r path <&3
		case $answer in
		*'"verdict":"allow"'*) printf '%s\n' "$path" ;;
		esac
	done 3<"$paths"
