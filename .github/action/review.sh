#!/bin/sh
# Reviews what is checked out, for action.yml: findings and artifacts, and what differs from the base, in annotations,
# a SARIF log, the summary of the job and one comment on the pull request, which is updated. Needs git, curl and jq.
#
# What is checked out is hostile and stays data: nothing of it runs, and it is not the working directory of accessc,
# where a directory with the name of a revision would take the place of the base. Without the right to comment, as in a
# fork, the summary says the same: a second workflow with more rights would publish what the fork's run made up.
set -u

workspace=$GITHUB_WORKSPACE/$DIRECTORY
dir=$(mktemp -d "$RUNNER_TEMP/review.XXXXXX") && mkdir "$dir/empty" && cd "$dir/empty" || exit
fail() {
	printf '::error title=accessc::%s\n' "$1"
	exit 1
}
accessc() { "$ACCESSC" -C "$workspace" "$@"; }
commit() { git -C "$workspace" rev-parse --quiet --verify --end-of-options "$1^{commit}"; }

# What the request itself changes: GitHub's merge commit has the present base as its first parent.
base=
if [ -n "$BASE" ]; then
	base=$(commit "$BASE")
elif [ -n "$NUMBER" ] && [ "$(commit HEAD^2)" = "$HEAD_SHA" ]; then
	base=$(commit HEAD^1)
elif [ -n "$NUMBER" ]; then
	base=$(git -C "$workspace" merge-base "$BASE_SHA" HEAD)
fi
[ -n "$base" ] || [ -z "$BASE$NUMBER" ] || fail 'the base is not in the checkout: actions/checkout needs fetch-depth: 0'

status=0
# Text of the policies is printed meanwhile, and must be no command to the runner.
quiet=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
said() {
	printf '::stop-commands::%s\n' "$quiet"
	"$@"
	set -- $?
	printf '::%s::\n' "$quiet"
	return "$1"
}

accessc check --shared --format github || status=1
accessc check --shared --format sarif >"$dir/findings.sarif"
manifest=$ARTIFACTS/manifest.json
if [ -e "$workspace/$manifest" ] ||
	{ [ -n "$base" ] && git -C "$workspace" cat-file -e "$base:./$manifest" 2>/dev/null; }; then
	said accessc build --check --out "$workspace/$ARTIFACTS" || status=1
fi

differs=0
if [ -n "$base" ]; then
	accessc explain --diff "$base" --format markdown --fail-on any,settings >"$dir/changes.md" 2>"$dir/notes" || differs=$?
	said cat "$dir/notes"
	case $differs in
	0 | 4)
		accessc explain --diff "$base" --format sarif >"$dir/changes.sarif" 2>/dev/null || status=1
		accessc explain --diff "$base" --format github --fail-on "$FAIL_ON" 2>/dev/null || status=1
		;;
	*)
		status=1
		printf '### accessc: the change cannot be compared\n\nThe log of the job says why.\n' >"$dir/changes.md"
		;;
	esac
fi

# One log, and a category for each of its runs: two runs of one category replace each other.
log=$dir/accessc.sarif
jq -n '[inputs | .runs[0].automationDetails.id = "accessc/" + (input_filename | split("/")[-1] | rtrimstr(".sarif")) + "/"]
	| .[0] + {runs: map(.runs[0])}' "$dir"/*.sarif >"$log" || fail 'the SARIF log cannot be written'
printf 'sarif=%s\n' "$log" >>"$GITHUB_OUTPUT"
[ -n "$base" ] || exit "$status"

# GitHub's limit is 65536 characters, and what permits more stands first.
marker="<!-- accessc $DIRECTORY -->"
most=60000
{
	printf '%s\n' "$marker"
	if [ "$(wc -c <"$dir/changes.md")" -gt $most ]; then
		printf '**Cut: the summary of the job has all of it.**\n\n'
		head -c $most "$dir/changes.md" | sed '$d'
	else
		cat "$dir/changes.md"
	fi
	printf '\n%s compared with %s\n' "${HEAD_SHA:-$(commit HEAD)}" "$base"
} >"$dir/comment.md"
head -c 1000000 "$dir/changes.md" >>"$GITHUB_STEP_SUMMARY" # the limit is 1 MiB
if [ -z "$NUMBER" ] || [ -z "$TOKEN" ] || [ "$HEAD_REPOSITORY" != "$GITHUB_REPOSITORY" ]; then
	exit "$status"
fi

# api METHOD PATH [FILE]: the status is printed and the answer kept. The token is no argument, which others could list.
api() {
	printf 'header = "Authorization: Bearer %s"\n' "$TOKEN" | curl -sS --config - --proto '=https' --retry 3 --max-time 60 \
		-X "$1" -H 'Accept: application/vnd.github+json' -H 'X-GitHub-Api-Version: 2022-11-28' \
		${3:+--data-binary "@$3"} -o "$dir/answer" -w '%{http_code}' "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2"
}
written() {
	case $1 in
	2*) ;;
	403 | 404) printf '::warning title=accessc::%s\n' 'the token may not comment; the summary of the job has the changes' ;;
	*) fail "the comment was not written: status $1" ;;
	esac
}

id=
page=1
while [ -z "$id" ]; do
	code=$(api GET "issues/$NUMBER/comments?per_page=100&page=$page")
	[ "$code" = 200 ] || { written "$code" && exit "$status"; }
	# Anybody can write the marker, and change a comment of their own later.
	id=$(jq -r --arg marker "$marker" --arg login "$COMMENT_AS" \
		'[.[] | select(.user.login == $login and (.body | startswith($marker)))][0].id // empty' "$dir/answer")
	[ "$(jq length "$dir/answer")" = 100 ] || break
	page=$((page + 1))
done
jq -Rs '{body: .}' "$dir/comment.md" >"$dir/comment.json"
if [ -n "$id" ]; then
	written "$(api PATCH "issues/comments/$id" "$dir/comment.json")"
elif [ "$differs" != 0 ]; then
	written "$(api POST "issues/$NUMBER/comments" "$dir/comment.json")"
fi
exit "$status"
