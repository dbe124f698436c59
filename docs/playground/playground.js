// The page of the playground. Whatever comes from a policy or from a link is text: it is shown by textContent and value
// only, and the page's own policy refuses anything that would be taken for HTML.
"use strict";
(function () {
	const $ = (id) => document.getElementById(id);
	const fields = ["policy", "before", "ask", "show", "system", "tool", "target", "abi"];
	const most = 64 * 1024; // bytes of a text, as the compiler takes it
	const mostLink = 32 * 1024; // characters of a link
	const patience = 30000; // ms for one answer
	const pause = 40; // ms without a key before a question

	const examples = {
		"A tool without secrets": { policy: `# A tool that edits sources: no secrets, and generated files stay as they are.
[tools.edit]
source = "local"
command = "tee -- {{tool.arguments.path}}"

[[tools.edit.access.fs]]
path = "."
read = true

[[tools.edit.access.fs]]
path = "src"
read = true
write = true

[[tools.edit.access.fs]]
path = "src/generated"
read = true

[[tools.edit.access.fs]]
path = ".env"

[[tools.edit.access.tests]]
allow = ["read .env.example", "update src/main.c"]
deny = ["read .env", "update src/generated/a.c", "connect https://example.com"]
` },
		"An agent with presets": { policy: `# Secrets are closed by their names, in every directory.
extends = ["preset:secrets"]

[tools.agent]
source = "local"
command = "claude"
access.fs = [{ path = ".", read = true, write = true, execute = true }]

[[tools.agent.access.net]]
host = "api.anthropic.com"
scheme = "https"
allow = true

[[tools.agent.access.net]]
host = "*.npmjs.org"
scheme = "https"
allow = true
`, show: "ask", ask: "read packages/web/.env.local" },
		"A build that one host serves": { policy: `# One host by one method, two programs, 2 GiB and ten minutes.
[tools.build]
source = "local"
command = "make"
access.fs = [{ path = ".", read = true }, { path = "out", read = true, write = true, execute = true }]
access.commands = [{ program = "make" }, { program = "cc" }]

[[tools.build.access.net]]
host = "packages.example.com"
scheme = "https"
path = "/mirror/**"
methods = ["GET"]
inspect = true
allow = true

[tools.build.access.limits]
memory = "2GiB"
wall_time = "10m"
`, show: "holds" },
		"A change in a pull request": { before: `[tools.deploy]
source = "local"
command = "./deploy"
access.fs = [{ path = ".", read = true }, { path = ".env" }]
`, policy: `[tools.deploy]
source = "local"
command = "./deploy"
access.fs = [{ path = ".", read = true }, { path = "infra", read = true, write = true }]

[[tools.deploy.access.net]]
host = "api.example.com"
allow = true
`, show: "compare" },
		"Mistakes": { policy: `[tools.a]
source = "lokal"

[tools.b]
source = "local"
access.fs = [{ path = "../x", read = true, wrte = true }]
` },
	};

	let worker = null, ready = false, waiting = null, current = null, timer = 0, alarm = 0, count = 0;

	function state(text) { $("state").textContent = text; }

	// start makes a worker, anew when the former one has ended or takes too long.
	function start() {
		ready = false;
		current = null;
		try {
			worker = new Worker(window.accesscScript.createScriptURL("docs/playground/worker.js"));
		} catch (err) {
			unable(err);
			return;
		}
		worker.onerror = (e) => unable(e.message || "no program");
		worker.onmessage = ({ data }) => {
			if (data.failed) { unable(data.failed); return; }
			if (data.ended) { again("The compiler failed and was started again."); return; }
			if (data.ready) {
				ready = true;
				state("");
			} else if (current && data.id === current.id) {
				clearTimeout(alarm);
				const done = current;
				current = null;
				render(done, JSON.parse(data.reply));
			}
			next();
		};
	}

	function unable(err) {
		ready = false;
		const disk = location.protocol === "file:" ? " A page from a disk may not start it: let any server of files show this directory, such as python3 -m http.server." : "";
		state("The compiler does not run here (" + err + ")." + disk);
	}

	// again ends a worker and starts another; its question is not asked again.
	function again(why) {
		worker.terminate();
		clearTimeout(alarm);
		start();
		state(why);
	}

	function next() {
		if (!ready || current || !waiting) { return; }
		current = waiting;
		waiting = null;
		current.began = performance.now();
		alarm = setTimeout(() => again("No answer within 30 seconds; the question was given up."), patience);
		worker.postMessage({ id: current.id, request: current.request });
	}

	// columns is how many characters of code fit beside each other.
	function columns() {
		const text = $("text"), style = getComputedStyle(text);
		const room = text.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
		const pen = document.createElement("canvas").getContext("2d");
		pen.font = style.fontSize + " " + style.fontFamily;
		return Math.max(60, Math.floor(room / pen.measureText("0").width));
	}

	function ask() {
		clearTimeout(timer);
		const r = {};
		for (const f of fields) { r[f] = $(f).value; }
		r.abi = Number(r.abi);
		r.width = columns();
		if (r.show === "ask" && r.ask.trim() === "") { r.show = "explain"; }
		$("ask-part").hidden = $("show").value !== "ask";
		$("before-part").hidden = r.show !== "compare";
		$("target-part").hidden = r.show !== "artifact";
		$("abi-part").hidden = r.system !== "linux";
		$("text").classList.add("old");
		waiting = { id: ++count, show: r.show, system: r.system, request: JSON.stringify(r) };
		next();
	}

	function soon() {
		clearTimeout(timer);
		timer = setTimeout(ask, pause);
	}

	// choices fills a list, and keeps what is chosen if it is still there.
	function choices(id, first, values) {
		const list = $(id), chosen = list.value, has = Array.from(list.options, (o) => o.value).slice(1);
		if (has.length === values.length && has.every((v, i) => v === values[i])) { return; }
		list.replaceChildren(first);
		for (const v of values) {
			const o = document.createElement("option");
			o.value = v;
			o.textContent = v;
			list.append(o);
		}
		list.value = values.includes(chosen) ? chosen : first.value;
	}

	function render(asked, reply) {
		if (!reply.failed && !reply.error) { choices("tool", $("tool").options[0], reply.tools); }
		choices("target", $("target").options[0], reply.targets);
		choices("abi", $("abi").options[0], Array.from({ length: reply.max_abi }, (_, i) => String(i + 1)));
		if (chosen && asked.id >= chosen.from) {
			for (const f of ["tool", "target", "abi"]) { pick(f, chosen[f]); }
			chosen = null;
			ask();
			return;
		}
		$("findings").hidden = reply.findings === "";
		$("findings").textContent = reply.findings;
		$("text").hidden = reply.failed;
		$("text").textContent = reply.error ? reply.error : (reply.file ? reply.file + "\n\n" : "") + (reply.text || "");
		$("text").classList.toggle("old", asked.id !== count); // a newer question is on its way
		const v = $("verdict");
		v.className = "";
		v.textContent = "";
		if (reply.error) {
			v.className = "no";
			v.textContent = "no answer";
		} else if (reply.failed) {
			v.className = "no";
			v.textContent = "the policy has mistakes";
		} else if ("allowed" in reply) {
			v.className = reply.allowed ? "yes" : "no";
			v.textContent = reply.allowed ? "allowed" : "denied";
		} else if (asked.show === "compare") {
			v.className = reply.wider ? "no" : "yes";
			v.textContent = reply.wider ? "a tool may do more" : "no tool may do more";
		}
		const data = document.documentElement.dataset;
		data.request = asked.request;
		data.took = (performance.now() - asked.began).toFixed(1);
		data.first ||= performance.now().toFixed(0);
	}

	// pick chooses a value of a list, if the list has it.
	function pick(id, value) {
		if (typeof value === "string" && Array.from($(id).options).some((o) => o.value === value)) { $(id).value = value; }
	}

	// fill puts the values of an example or a link into the fields. Lists of the policy's own come with its answer.
	let chosen = null;
	function fill(from) {
		for (const f of ["policy", "before", "ask"]) {
			if (typeof from[f] === "string" && from[f].length <= most) { $(f).value = from[f]; }
		}
		pick("show", from.show || "explain");
		pick("system", from.system);
		chosen = { from: count + 1, tool: from.tool, target: from.target, abi: from.abi };
		$("tool").value = "";
		ask();
	}

	// A link has all fields as JSON, compressed (deflate-raw), in the letters of base64url, behind the #: no server sees it.
	async function pack(text) {
		const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
		const data = new Uint8Array(await new Response(stream).arrayBuffer());
		let letters = "";
		for (const b of data) { letters += String.fromCharCode(b); }
		return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
	}

	// unpack reads no more than the fields may hold: a small link can expand to any size.
	async function unpack(letters) {
		const data = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
		const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
		const parts = [];
		for (let size = 0; ;) {
			const { value, done } = await reader.read();
			if (done) { break; }
			size += value.length;
			if (size > 3 * most) {
				reader.cancel();
				throw new Error("it is too large");
			}
			parts.push(value);
		}
		return new TextDecoder("utf-8", { fatal: true }).decode(await new Blob(parts).arrayBuffer());
	}

	async function open() {
		if (!location.hash.startsWith("#p=")) { return false; }
		try {
			if (location.hash.length > mostLink) { throw new Error("it is too long"); }
			const from = JSON.parse(await unpack(location.hash.slice(3)));
			if (from === null || typeof from !== "object" || Array.isArray(from)) { throw new Error("it has no fields"); }
			fill({ policy: "", before: "", ...from });
			$("shared").textContent = "";
			return true;
		} catch (err) {
			$("shared").textContent = "The link cannot be read: " + err.message;
			return false;
		}
	}

	async function share() {
		const all = {};
		for (const f of fields) { if ($(f).value) { all[f] = $(f).value; } }
		const hash = "#p=" + await pack(JSON.stringify(all));
		if (hash.length > mostLink) {
			$("shared").textContent = "The policy is too long for a link.";
			return;
		}
		history.replaceState(null, "", hash);
		try {
			await navigator.clipboard.writeText(location.href);
			$("shared").textContent = "The link is copied.";
		} catch {
			$("shared").textContent = "The link is in the address.";
		}
	}

	for (const name of Object.keys(examples)) {
		const o = document.createElement("option");
		o.value = name;
		o.textContent = name;
		$("example").append(o);
	}
	$("example").addEventListener("change", () => fill(examples[$("example").value]));
	$("share").addEventListener("click", share);
	for (const f of ["policy", "before", "ask"]) { $(f).addEventListener("input", soon); }
	for (const f of ["show", "system", "tool", "target", "abi"]) { $(f).addEventListener("change", ask); }
	window.addEventListener("resize", soon);
	window.addEventListener("hashchange", open);
	start();
	open().then((linked) => { if (!linked) { fill(Object.values(examples)[0]); } });
})();
