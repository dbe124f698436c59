package shell

// ccOptions are the options of compilers for C, C++ and Fortran. A comma in an option hands it to the linker or the
// assembler, and is in no family.
const ccOptions = "-c -S -E -o> -pipe -pthread -shared -static -static-libgcc -static-libstdc++ -rdynamic -v -w -x= " +
	"-s -P -C -H -dM -ansi -pedantic -pedantic-errors -nostdlib -nostdinc -nodefaultlibs -M -MM -MD -MMD -MP -MF> " +
	"-MT= -MQ= -g -g0 -g1 -g2 -g3 -ggdb* -gdwarf* -O* -W* -std* -I* -I= -L* -L= -l* -l= -D* -D= -U* -U= -isystem= " +
	"-idirafter= -iquote= -include< -m32 -m64 -march* -mtune* -mcpu* -mavx* -msse* -mfma -mfpu* -mfloat-abi* -mthumb " +
	"-mno-* -fPIC -fpic -fPIE -fpie -pie -no-pie -fno-* -fsanitize= -fstack-* -fvisibility* -fomit-frame-pointer " +
	"-fcolor-diagnostics -fdiagnostics-color* -ffast-math -fexceptions -frtti -fopenmp -flto* -fcommon -fsyntax-only " +
	"-funroll-loops -fstrict-* -fwrapv -fdata-sections -ffunction-sections -fmax-errors* -finline-functions " +
	"-ffreestanding -fsigned-char -funsigned-char -fmodules -fcoroutines -dumpversion -dumpmachine"

// compilers are programs that build the code of a project by rules of its own. Their targets are for a rule to spell
// out.
func compilers() []row {
	return []row{
		{names: "gcc g++ cc c++ clang clang++ gfortran c89 c99",
			why: "loads plugins and starts programs by its options", long: true, options: ccOptions,
			entry: entry{operands: given}},
		{
			names: "javac", why: "runs annotation processors, which its arguments name", long: true,
			entry: entry{operands: given, inPlace: inPlace{access: Rewrite, without: "-d", ends: ".java",
				to: ".class"}},
			options: "-d> -cp/ -classpath/ --class-path/ -sourcepath/ --source-path/ -source= --source= -target= " +
				"--target= -release= --release= -encoding= -g -nowarn -verbose -parameters -deprecation -Werror " +
				"-Xlint -Xlint:* -proc:none -implicit:none -implicit:class",
		},
		{
			names: "make gmake bsdmake", why: "runs recipes, and text in its arguments", entry: entry{spelled: true},
			options: "-j? --jobs? -k --keep-going -s --silent --quiet -n --dry-run --just-print -B --always-make -i " +
				"-q --question -w --print-directory --no-print-directory -O? --output-sync? --trace -l?",
		},
		{
			names: "ninja samu", why: "runs the commands of a file", entry: entry{spelled: true},
			options: "-C/ -j= -k= -v --verbose --quiet -n -l= -d=",
		},
		{
			names: "cmake", why: "runs commands by its options", long: true, entry: entry{operands: outside},
			options: "-S/ -B& -G= --build/ --config= -j= -j* " +
				"--parallel? --preset= --list-presets --fresh --clean-first --verbose -v -Wno-dev -Wdev --log-level= " +
				"-DCMAKE_BUILD_TYPE= -DCMAKE_EXPORT_COMPILE_COMMANDS= -DBUILD_SHARED_LIBS= -DBUILD_TESTING= " +
				"-DCMAKE_CXX_STANDARD= -DCMAKE_C_STANDARD= -DCMAKE_VERBOSE_MAKEFILE= " +
				"-DCMAKE_POSITION_INDEPENDENT_CODE=",
		},
		{
			names: "ctest", why: "runs scripts by its options", long: true, entry: entry{operands: always},
			options: "--test-dir/ --output-on-failure -j= --parallel= -R= -E= -L= -j* -V -VV -N -C= --build-config= " +
				"--timeout= --rerun-failed --stop-on-failure -Q --quiet --repeat= --progress --preset=",
		},
		{
			names: "meson", why: "runs the commands of a file", entry: entry{operands: outside},
			checks: map[string]entry{"setup": {inPlace: inPlace{access: Replace}}},
			sub: map[string]string{
				"!setup": "--buildtype= --reconfigure --wipe", "!compile": "-C/ -j= --jobs= -v --verbose --clean",
				"!test": "-C/ -v --verbose --print-errorlogs --suite= --no-rebuild --list -q --quiet -t= --repeat= " +
					"--num-processes=",
			},
		},
		{
			names: "gradle gradlew", why: "runs build scripts", whole: true, entry: entry{spelled: true},
			options: "-q --quiet -i --info -w --warn -s --stacktrace -S --full-stacktrace --offline --no-daemon " +
				"--parallel --no-parallel --continue -x= --exclude-task= --tests= -m --dry-run --rerun-tasks " +
				"--build-cache --no-build-cache --console= --warning-mode= --configuration-cache " +
				"--no-configuration-cache --profile -a -v",
		},
		{
			names: "mvn mvnw", why: "runs plugins", long: true, entry: entry{spelled: true},
			options: "-q --quiet -B --batch-mode -U -o --offline -e -X -T= -pl= -am -amd -P= -fae -ff -ntp " +
				"--no-transfer-progress -DskipTests? -Dmaven.test.skip= -Dtest= -v",
		},
		{
			names: "dotnet", why: "runs programs of packages", long: true, entry: entry{operands: given},
			options: "--info --list-sdks --list-runtimes",
			sub: map[string]string{
				"!build !test !restore !clean": "-c= --configuration= --no-restore --no-build -v= --verbosity= " +
					"--nologo -f= --framework= --filter= -t --list-tests --no-incremental",
			},
		},
		{
			names: "bazel bazelisk", why: "runs programs", whole: true, entry: entry{operands: label},
			sub: map[string]string{
				"!build !test !query !cquery !info": "-k --keep_going --test_output= -c= --compilation_mode= " +
					"--verbose_failures --jobs= --output= --nocache_test_results --test_filter= --noshow_progress",
			},
		},
	}
}
