package shell

// operators are programs that ask clusters, containers, hosts and services.
func operators() []row {
	return []row{
		{
			names: "docker podman", why: "starts containers with files of the host", entry: entry{operands: outside},
			checks: map[string]entry{"build": {operands: near}},
			sub: map[string]string{
				"ps container/ls container/list": "-a --all -q --quiet --no-trunc -n= --last= -l --latest -s --size " +
					"-f= --filter= --format=",
				"images image/ls image/list":     "-a --all -q --quiet --no-trunc --digests -f= --filter= --format=",
				"logs":                           "-f --follow --tail= -n= --since= --until= -t --timestamps",
				"inspect version info":           "-f= --format= -s --size",
				"top port stats history diff":    "--no-stream --no-trunc -a --all --format= -q --quiet",
				"volume/ls network/ls":           "-q --quiet -f= --filter= --format= --no-trunc",
				"volume/inspect network/inspect": "-f= --format=",
				"!build": "-t= --tag= -f< --file< --no-cache --pull -q --quiet --target= --build-arg= --progress= " +
					"--platform= --rm --load",
				"!pull": "-q --quiet --platform=",
				"!start !stop !restart !kill !pause !unpause !rm !rmi": "-f --force -t= --time= -v --volumes",
				"compose/ps compose/images compose/top": "-a --all -q --quiet --format= --services " +
					"--status=",
				"compose/logs": "-f --follow --tail= -n= --since= --until= " +
					"-t --timestamps --no-color --no-log-prefix",
				"compose/config": "-q --quiet --services --volumes --images " +
					"--format=",
				"!compose/up": "-d --detach --build --wait --no-build --force-recreate --remove-orphans --no-deps " +
					"--scale= --pull=",
				"!compose/down !compose/stop !compose/start !compose/restart !compose/pull !compose/build compose/ls " +
					"compose/version": "-v --volumes --remove-orphans -t= --timeout= -q --quiet --no-cache --pull",
			},
		},
		{
			names: "kubectl", why: "runs commands in a cluster, and the programs of a configuration",
			options: "-n= --namespace=",
			sub: map[string]string{
				"get describe top": "-n= --namespace= -o= --output= -A --all-namespaces -w --watch -l= --selector= " +
					"--show-labels --sort-by= --field-selector= --no-headers -L= --containers",
				"logs": "-n= --namespace= -f --follow --tail= --since= -c= --container= -p --previous --timestamps " +
					"-l= --selector= --all-containers",
				"version explain api-resources api-versions cluster-info": "-o= --output= --client --recursive",
				"rollout/status rollout/history": "-n= --namespace= -w --watch --timeout= " +
					"--revision= -l= --selector=",
				"auth/can-i auth/whoami": "-n= --namespace= --list -A " +
					"--all-namespaces -q --quiet -o= --output=",
				"config/view config/current-context config/get-contexts": "-o= --output= --minify --no-headers",
				"wait":   "-n= --namespace= --for= --timeout= -l= --selector= --all",
				"events": "-n= --namespace= -A --all-namespaces -w --watch --for= --types= -o= --output=",
			},
		},
		{
			names: "helm", why: "runs plugins",
			sub: map[string]string{
				"!list !ls": "-n= --namespace= -A --all-namespaces -o= --output= -a --all -q --short --deployed " +
					"--failed",
				"!status !history":        "-n= --namespace= -o= --output= --max= --revision=",
				"!lint":                   "--strict --quiet",
				"!version":                "--short",
				"!repo/list !search/repo": "-o= --output= -l --versions",
				"!get/values !get/manifest !get/notes !get/all": "-n= --namespace= -a --all -o= --output= --revision=",
			},
		},
		{
			names: "terraform tofu", why: "runs providers and provisioners", long: true,
			entry:  entry{operands: outside},
			checks: map[string]entry{"fmt": {operands: outside, inPlace: inPlace{access: Rewrite, without: "-check"}}},
			sub: map[string]string{
				"!plan": "-out> -no-color -input= -lock= -refresh= -target= -compact-warnings " +
					"-detailed-exitcode",
				"!validate":     "-json -no-color",
				"!fmt":          "-check -recursive -diff -list= -write=",
				"!show !output": "-json -raw -no-color",
				"!version !providers !state/list !state/show !workspace/list !workspace/show": "-json",
			},
		},
		{
			names: "gh", why: "runs extensions and aliases",
			sub: map[string]string{
				"pr/list issue/list run/list release/list repo/list workflow/list": "-s= --state= -L= --limit= " +
					"--json= -q= --jq= -l= --label= -A= --author= -a= --assignee= -S= --search= -R= --repo= -H= " +
					"--head= -B= --base= -b= --branch= --workflow= -t= --template=",
				"pr/view pr/status pr/checks issue/view issue/status run/view release/view repo/view": "--json= -q= " +
					"--jq= -c --comments -R= --repo= -t= --template= --log --log-failed -v --verbose -j= --job= " +
					"--required",
				"pr/diff":     "--name-only --patch --color= -R= --repo=",
				"auth/status": "--hostname=",
			},
		},
		{
			names: "systemctl", why: "starts services",
			sub: map[string]string{
				"status show cat is-active is-enabled is-failed list-units list-unit-files list-timers": "--no-pager " +
					"-l --full -n= --lines= --user --all -a -t= --type= --state= -p= --property= -q --quiet " +
					"--no-legend --failed",
			},
			options: "--user --no-pager",
		},
		{names: "journalctl", why: "starts a pager by its options, and removes files",
			options: "-u= --unit= -n= --lines= -f --follow --no-pager -b --boot? -S= --since= -U= --until= -p= " +
				"--priority= -k --dmesg -r --reverse -o= --output= -x --user -q --quiet -t= --grep= -g="},
		{names: "apt", why: "runs maintainers' scripts",
			sub: map[string]string{"list": "--installed --upgradable -a", "search show policy": "--names-only"}},
		{names: "apt-cache", why: "reads options that name programs",
			sub: map[string]string{"search show policy madison depends rdepends": "--names-only -n"}},
		{names: "dpkg", why: "runs maintainers' scripts",
			options: "-l --list -L --listfiles -s --status -S --search --get-selections --print-architecture"},
		{names: "brew", why: "runs scripts", entry: entry{operands: unpublished},
			sub: map[string]string{"list ls info search outdated deps leaves config": "--versions --cask --formula " +
				"-q --quiet -v --json? --installed"}},
		{names: "pip pip2 pip3", why: "runs the build of packages", entry: entry{operands: distribution},
			options: "-q --quiet -v --verbose --no-input --disable-pip-version-check --no-color",
			sub: map[string]string{
				"!list": "-o --outdated -u --uptodate -l --local --user --format= --not-required -q --quiet -v " +
					"--verbose",
				"!show":          "-f --files -v --verbose",
				"!freeze !check": "-l --local --user --all",
				"!install": "-r< --requirement< -c< --constraint< -U --upgrade -q --quiet -v --verbose --user " +
					"--no-deps --dry-run --no-cache-dir --pre --no-input --disable-pip-version-check " +
					"--force-reinstall --ignore-installed --require-hashes",
				"!uninstall":             "-y --yes -q --quiet",
				"!download !wheel !hash": "--no-deps -q --quiet",
			}},
	}
}
