package shell

// checkers are programs that test and check the code of a project, and run what it configures.
func checkers() []row {
	return []row{
		{
			names: "pytest py.test", why: "runs the code that its arguments name", entry: entry{operands: given},
			// It looks for -p behind -- as well.
			options: "-q --quiet -v --verbose -s -x --exitfirst -k= -m= -l --showlocals -r= --lf --last-failed --ff " +
				"--failed-first --nf --sw --stepwise --maxfail= --tb= --durations= --co --collect-only --no-header " +
				"--no-summary --disable-warnings --strict-markers -n= --dist= --cov? --timeout= --color= " +
				"--setup-show --junitxml> --junit-xml> -- -q",
		},
		{
			names: "jest vitest", why: "runs the code that its arguments name", whole: true,
			entry: entry{operands: given},
			options: "--coverage --no-coverage --ci --silent --verbose -t= --testNamePattern= --bail -i --runInBand " +
				"-u --updateSnapshot -o --onlyChanged --passWithNoTests --run --maxWorkers= --listTests --color " +
				"--colors --no-cache",
		},
		{
			names: "eslint", why: "runs the configuration beside the files that its arguments name",
			entry: entry{operands: globbed, inPlace: inPlace{access: Rewrite, with: "--fix"}},
			options: "--ext= --fix --fix-dry-run --quiet --max-warnings= --cache --color --no-color " +
				"--no-error-on-unmatched-pattern",
		},
		{
			names: "prettier", why: "runs the configuration beside the files that its arguments name",
			entry: entry{operands: globbed, inPlace: inPlace{access: Replace, with: "-w --write"}},
			options: "--check -c --write -w --list-different -l --log-level= --cache --color --no-color " +
				"--ignore-unknown -u --no-error-on-unmatched-pattern",
		},
		{
			names: "tsc", why: "writes files beside its operands", long: true,
			entry: entry{operands: given, inPlace: inPlace{access: Rewrite, without: "--noEmit", ends: ".ts .tsx",
				to: ".js"}},
			options: "--noEmit --watch -w -b --build --pretty --strict --skipLibCheck --listFiles -v -p< --project<",
		},
		{
			names: "mypy", why: "runs plugins, and writes files, by its options", entry: entry{operands: given},
			options: "--strict --ignore-missing-imports --show-error-codes --pretty --no-error-summary " +
				"--check-untyped-defs --disallow-untyped-defs -v --verbose",
		},
		{
			names: "black", why: "runs plugins, and writes its operands",
			entry:   entry{operands: given, inPlace: inPlace{access: Rewrite, without: "--check --diff"}},
			options: "--check --diff -q --quiet -v --verbose -l= --line-length= -S",
		},
		{
			names: "isort", why: "runs plugins, and writes its operands", whole: true,
			entry:   entry{operands: given, inPlace: inPlace{access: Rewrite, without: "--check --check-only --diff"}},
			options: "--check --check-only --diff -q --quiet -v --verbose -l= --line-length= --profile=",
		},
		{
			names: "flake8 pylint", why: "runs plugins, and writes files, by its options",
			entry: entry{operands: given},
			options: "--max-line-length= --select= --ignore= --extend-ignore= --exclude= --count --statistics " +
				"--show-source --max-complexity= -E --errors-only --disable= --enable= -j= --jobs= --score= -q " +
				"--quiet -v --verbose",
		},
		{
			names: "ruff", why: "writes its operands", entry: entry{operands: given},
			checks: map[string]entry{
				"check":  {operands: given, inPlace: inPlace{access: Rewrite, with: "--fix"}},
				"format": {operands: given, inPlace: inPlace{access: Rewrite, without: "--check --diff"}},
			},
			sub: map[string]string{
				"check": "--fix --diff --select= --ignore= -q --quiet -v --show-fixes --statistics --no-cache " +
					"--output-format=",
				"format": "--check --diff -q --quiet -v --no-cache",
			},
		},
		{
			names: "gofmt goimports", why: "writes its operands by its options", whole: true,
			entry:   entry{operands: given, inPlace: inPlace{access: Rewrite, with: "-w"}},
			options: "-l -d -w -s -e -r= -v",
		},
		{
			names: "rustfmt", why: "writes its operands",
			entry:   entry{operands: given, inPlace: inPlace{access: Rewrite, without: "--check"}},
			options: "--check -l -v -q --edition=",
		},
		{
			names: "golangci-lint", why: "runs plugins", entry: entry{operands: given},
			checks: map[string]entry{
				"run": {operands: given, inPlace: inPlace{access: Rewrite, with: "--fix"}},
				"fmt": {operands: given, inPlace: inPlace{access: Rewrite, without: "-d --diff"}},
			},
			sub: map[string]string{"run": "--timeout= --fix -v --verbose --fast --new --disable= --enable= -E= -D= " +
				"--enable-only= --tests --build-tags= -j= --concurrency=", "linters version": "", "fmt": "-d --diff"},
		},
		{names: "staticcheck", why: "checks the code that its arguments name", long: true,
			options: "-checks= -tests -f= -go= -tags=", entry: entry{operands: outside}},
		{names: "shellcheck", why: "reads further files by its options",
			options: "-s= --shell= -S= --severity= -f= --format= -e= --exclude= -x --external-sources -C --color?",
			entry:   entry{operands: given}},
	}
}
