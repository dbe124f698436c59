package shell

// logOptions are the options of git commands that show commits.
const logOptions = "-p -u -U? --unified? --stat? --numstat --shortstat --name-only --name-status --cached --staged " +
	"-w -b --color? --no-color --word-diff? --no-ext-diff --no-textconv --oneline -n= -# --pretty? --format= --graph " +
	"--decorate? --no-decorate --all --since= --until= --after= --before= --author= --committer= --grep= -S= -G= -i " +
	"--follow --merges --no-merges --first-parent --reverse --date= -M -C -R --abbrev-commit --abbrev? --patch --raw " +
	"--summary --check --exit-code --quiet -q --relative? --diff-filter= --topo-order --left-right -L= --no-patch -s " +
	"--full-index --minimal --patience --histogram --ignore-all-space --ignore-space-change --ignore-blank-lines " +
	"--max-count= --skip= --tags? --branches? --remotes? --compact-summary --dirstat? --no-prefix -z --cherry-pick " +
	"--cherry-mark --merge-base --invert-grep --all-match -E -F -P --count --objects --left-only --right-only -r " +
	"--root --no-commit-id -t"

// git is the table of git, which runs programs by aliases, options, and names of remotes.
func git() row {
	return row{
		names: "git", why: "an argument names a program that git starts",
		options: "--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects -C@",
		entry:   entry{obeys: true, operands: transport},
		values:  signs,
		checks: map[string]entry{
			"clone": {operands: foreign}, "init": {operands: foreign}, "push": {operands: transport, script: remote},
			"worktree/add": {operands: foreign},
			"checkout": {
				operands: pathspec,
				inPlace:  inPlace{access: Replace, without: "-b -B --orphan -d --detach", refs: true},
			},
			"restore": {operands: pathspec, inPlace: inPlace{access: Replace, with: "-W --worktree",
				without: "-S --staged"}},
			"rm":     {operands: pathspec, inPlace: inPlace{access: Replace, without: "--cached -n --dry-run"}},
			"mv":     {operands: pathspec, inPlace: inPlace{access: Replace, without: "-n --dry-run"}},
			"clean":  {operands: pathspec, inPlace: inPlace{access: Replace, without: "-n --dry-run"}},
			"config": {last: 1, operands: func(s string) bool { return s == "edit" }},
		},
		sub: map[string]string{
			"status": "-s --short -b --branch --porcelain? --long -u? -v --ignored? -z --show-stash --column? " +
				"--no-renames --ahead-behind --no-ahead-behind --untracked-files?",
			"diff log show whatchanged": logOptions,
			"rev-list reflog diff-tree": logOptions,
			"diff-index diff-files":     logOptions,
			"branch": "-a -r -v --list --all --remotes --verbose --show-current --contains= --no-contains= --merged? " +
				"--no-merged? --sort= --format= --column? --color? --no-color -i -d -D -m -M -c -f --delete --move " +
				"--copy --force --track? -t --no-track -u= --set-upstream-to= --unset-upstream -q",
			"remote": "-v --verbose",
			"tag": "-l --list -n? --contains= --sort= --format= -i --points-at= --merged= --no-merged= -a --annotate " +
				"-m= --message= -f --force -d --delete",
			"add": "-A --all -u --update -v --verbose -n --dry-run -f --force -N --intent-to-add --ignore-errors",
			"commit": "-m= --message= -a --all -q --quiet -v --verbose --amend --no-edit --allow-empty -s --signoff " +
				"-F< --file< --author= --date= --dry-run --short --allow-empty-message --fixup= --squash= -n " +
				"--no-verify",
			"push": "-u --set-upstream -f --force --force-with-lease? --tags --all --dry-run -n --delete -d -q " +
				"--quiet -v --verbose --follow-tags --no-verify --atomic --prune --progress",
			"fetch": "--all --tags -t --prune -p --depth= --dry-run -q --quiet -v --verbose --no-tags --unshallow -f " +
				"--force --progress -j= --jobs=",
			"pull": "--rebase? --no-rebase --ff-only --no-ff --ff -q --quiet -v --verbose --tags --all --prune -p " +
				"--autostash --depth=",
			"clone": "--depth= --branch= -b= --single-branch --bare --no-checkout -n -q --quiet -v --verbose " +
				"--mirror --no-tags --progress -o= --origin=",
			"ls-remote": "--heads --tags -h -t -q --quiet --refs --symref --sort= --get-url --exit-code",
			"checkout":  "-b= -B= -f --force -q --quiet --track -t --no-track --detach -d --ours --theirs --orphan=",
			"switch":    "-c= -C= --create= -d --detach -f --force -q --quiet -t --track --orphan=",
			"restore":   "--staged -S --worktree -W -s= --source= -q --quiet --ours --theirs",
			"reset":     "--hard --soft --mixed --merge --keep -q --quiet",
			"stash":     "-u --include-untracked -a --all -k --keep-index -q --quiet -m= --message= --stat --index",
			"merge": "--no-ff --ff-only --ff --squash --abort --continue --no-commit --commit -m= -q --quiet " +
				"--no-edit --stat",
			"rebase":             "--abort --continue --skip --quit --onto= -q --quiet --autostash --keep-base",
			"cherry-pick revert": "-n --no-commit -x --abort --continue --skip --quit -m= --no-edit",
			"rm":                 "-r -f --force --cached -q --quiet -n --dry-run",
			"mv":                 "-f --force -n --dry-run -k -v",
			"init":               "-q --quiet --bare -b= --initial-branch=",
			"blame annotate": "-L= -w -C -M -e -l -s -t -p --porcelain --line-porcelain --date= --abbrev? --since= " +
				"--reverse",
			"grep": "-n -i -l -L -w -v -c -e= -E -F -P -A= -B= -h -H --cached --untracked --name-only --count " +
				"--line-number --ignore-case --break --heading -p --show-function -W --or --and --not -q --color? " +
				"--max-depth=",
			"ls-files": "-c -d -m -o -i -s -u -k -z -t -v --cached --deleted --modified --others --ignored --stage " +
				"--exclude-standard --error-unmatch --full-name --exclude= -x=",
			"ls-tree": "-r -d -t -l -z --name-only --full-tree --full-name --abbrev? --long",
			"rev-parse": "--abbrev-ref? --short? --show-toplevel --git-dir --verify -q --quiet --is-inside-work-tree " +
				"--show-prefix --symbolic-full-name --git-common-dir --absolute-git-dir --all",
			"describe": "--tags --always --long --dirty? --abbrev? --match= --exclude= --exact-match " +
				"--all --contains",
			"shortlog": "-s -n -e -c --summary --numbered --email --group= --since= --until= " +
				"--no-merges",
			"show-ref":                 "--heads --tags --verify -q --quiet --hash? -s -d --dereference",
			"merge-base":               "--is-ancestor -a --all --fork-point --octopus --independent",
			"name-rev":                 "--name-only --tags --all --always",
			"cat-file":                 "-p -t -s -e",
			"for-each-ref":             "--format= --sort= --count= --contains= --merged? --no-merged? --points-at=",
			"count-objects cherry":     "-v -H --abbrev?",
			"check-ignore check-attr":  "-v -q -n --no-index --non-matching -a --cached",
			"symbolic-ref var version": "--short -q",
			"!archive":                 "--format= --prefix= -l --list -v --verbose -#",
			"!worktree/list":           "--porcelain -v --verbose -z",
			"!worktree/add":            "-b= -B= -d --detach -f --force -q --quiet --track",
			"!worktree/prune":          "-n --dry-run -v --verbose",
			"!worktree/remove":         "-f --force",
			"!submodule/status":        "--recursive --cached",
			"!submodule/update":        "--init --recursive --depth= -j= --jobs= -q --quiet --no-fetch",
			"!bisect/start !bisect/good !bisect/bad !bisect/skip !bisect/reset bisect/log": "",
			"!notes/list !notes/show": "",
			"!clean":                  "-n --dry-run -d -x -X -f --force -q --quiet -e= --exclude=",
			"!gc !fsck":               "--auto -q --quiet --full --no-dangling",
			"!range-diff":             "--stat --no-color --color? -s --creation-factor=",
			"!config": "-l --list --get= --get-all= --get-regexp= --global --local --system --show-origin " +
				"--show-scope --name-only -z --bool --int --default=",
			"!format-patch": "--stdout -o& --output-directory& -# -n --numbered " +
				"--cover-letter --subject-prefix= -v= --signoff -s",
		},
	}
}

// cargoOptions are the options of commands that build. Behind "--" are options of another program.
const cargoOptions = "--release -r --all --workspace --all-targets --all-features --no-default-features --features= " +
	"-F= -p= --package= --lib --bins --bin= --tests --test= --examples --example= --benches --bench= -v --verbose -q " +
	"--quiet -j= --jobs= --locked --offline --frozen --no-run --no-fail-fast --message-format= --color= --keep-going " +
	"--doc --exclude= --profile= --no-deps --document-private-items"

// builders are programs that build, test and fetch the code of a project.
func builders() []row {
	return []row{
		{
			names: "go", why: "an argument names a program that go starts, or code of another project", long: true,
			options: "-C@", entry: entry{operands: outside},
			checks: map[string]entry{
				"install": {operands: fetched}, "run": {grammar: grammar{early: true}, operands: fetched},
				"fmt": {operands: outside, inPlace: inPlace{access: Rewrite, without: "-n"}},
			},
			sub: map[string]string{
				"!run":          "-v -x -n -race -tags= -trimpath -mod= -p=",
				"!generate":     "-v -x -n -run= -skip=",
				"!tool/cover":   "-func<",
				"build install": "-v -x -n -a -race -tags= -trimpath -p= -mod= -o> -buildvcs=",
				"vet":           "-v -x -n -tags= -json -race -mod=",
				"test": "-v -race -run= -count= -short -timeout= -cover -coverprofile> -covermode= -coverpkg= " +
					"-bench= -benchtime= -benchmem -cpu= -failfast -json -list= -parallel= -p= -tags= " +
					"-shuffle= -skip= -vet= -x -n -o> -c -fuzz= -fuzztime= -mod= -cpuprofile> -memprofile> -trimpath",
				"list":    "-m -json? -f= -deps -test -e -u -versions -tags= -mod=",
				"mod":     "-v -x -json -compat= -go=",
				"fmt":     "-n -x -mod=",
				"doc":     "-all -short -src -u -c -cmd",
				"version": "-m -v",
				"get":     "-u -t -v -x -tags=",
				"clean":   "-cache -testcache -modcache -fuzzcache -n -x",
				"env":     "-json",
			},
		},
		{
			names: "cargo", why: "an argument names a program that cargo starts",
			checks:  map[string]entry{"fmt": {inPlace: inPlace{access: Rewrite, without: "--check"}}},
			options: "-v --verbose -q --quiet --color= --locked --offline --frozen -V",
			sub: map[string]string{
				"build b check c clippy doc d": cargoOptions +
					" -- -D= -W= -A= -F= --deny= --warn= --allow= --forbid= --no-deps",
				"!run !r": cargoOptions,
				"test t bench": cargoOptions +
					" -- --nocapture --no-capture --ignored --include-ignored --exact --skip= --test-threads= --list " +
					"--show-output -q --quiet --color=",
				"tree": "-p= --package= -i= --invert? -e= --edges= --depth= -d --duplicates --prefix= --all-features " +
					"--workspace --locked --offline",
				"metadata":          "--format-version= --no-deps --offline --locked",
				"fmt":               "--all --check -v -q -p= --package= -- --check -l --files-with-diff -v -q",
				"update":            "-p= --package= --precise= --dry-run --offline --workspace -w",
				"add remove rm":     "--dev --features= -F= --no-default-features --optional --build --dry-run",
				"clean":             "--release -p= --doc",
				"search info pkgid": "-v -q --limit=",
			},
		},
		{
			names: "npm pnpm yarn", why: "an argument names a program that is started, or code of another project",
			passes: true, whole: true,
			entry: entry{operands: outside},
			checks: each(entry{operands: unnamed},
				"view info show v pack ci install i add remove rm uninstall update"),
			options: "-s --silent -q --quiet --no-color --json -v",
			sub: map[string]string{
				"ls list ll la outdated why explain": "-a --all --depth= -g --global --json --long -l --omit= --prod " +
					"--dev",
				"view info show v search ping root prefix": "--json",
				"audit": "--json --omit= --audit-level=",
				"test t tst run run-script !start !stop !restart": "-s --silent --if-present -w= --workspace= " +
					"--workspaces",
				"ci install i add remove rm uninstall update": "--save-dev -D --save -S --save-exact -E --no-save " +
					"--ignore-scripts --legacy-peer-deps --omit= --production --no-audit --no-fund " +
					"--prefer-offline --frozen-lockfile -g --global --dry-run --package-lock-only --silent",
				"pack": "--dry-run --json",
			},
		},
	}
}
