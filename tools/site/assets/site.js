// The search: words are looked for in the sections of all pages, which a script of the site has.
"use strict";
(function () {
	const up = document.body.dataset.up;
	const box = document.getElementById("search");
	const list = document.getElementById("results");
	const found = document.getElementById("found");
	const most = 12;
	let rows = null;

	// The addresses of scripts are those of this site, whatever a page says.
	const scripts = ["search.js", "docs/playground/worker.js"];
	const make = { createScriptURL: (name) => {
		if (!scripts.includes(name)) { throw new TypeError(name); }
		return up + name;
	} };
	window.accesscScript = window.trustedTypes ? window.trustedTypes.createPolicy("accessc", make) : make;

	window.accesscSearch = (data) => { rows = data; show(); };

	box.addEventListener("focus", () => {
		const script = document.createElement("script");
		script.src = window.accesscScript.createScriptURL("search.js");
		document.head.append(script);
	}, { once: true });
	box.addEventListener("input", show);

	// score is how well a section fits: each word must be there, and counts more in headings and titles.
	function score(row, words) {
		const title = row[1].toLowerCase(), heading = row[2].toLowerCase(), text = row[3].toLowerCase();
		let sum = 0;
		for (const w of words) {
			const one = (title.includes(w) ? 4 : 0) + (heading.includes(w) ? 8 : 0) + (text.includes(w) ? 1 : 0);
			if (one === 0) { return 0; }
			sum += one;
		}
		return sum;
	}

	function show() {
		const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
		list.replaceChildren();
		list.hidden = true;
		found.textContent = "";
		if (!rows || words.length === 0) { return; }
		const hits = rows.map((row) => [score(row, words), row]).filter((hit) => hit[0] > 0).sort((a, b) => b[0] - a[0]);
		found.textContent = hits.length === 1 ? "1 section" : hits.length + " sections";
		for (const [, row] of hits.slice(0, most)) {
			const at = row[3].toLowerCase().indexOf(words[0]);
			const item = document.createElement("li"), link = document.createElement("a");
			const head = document.createElement("b"), text = document.createElement("small");
			link.href = up + row[0];
			head.textContent = row[1] === row[2] ? row[1] : row[1] + " › " + row[2];
			text.textContent = row[3].slice(Math.max(0, at - 30), Math.max(0, at - 30) + 110);
			link.append(head, text);
			item.append(link);
			list.append(item);
		}
		if (hits.length === 0) {
			const none = document.createElement("li");
			none.textContent = "nothing found";
			list.append(none);
		}
		list.hidden = false;
	}

	document.addEventListener("keydown", (e) => {
		const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
		const links = Array.from(list.querySelectorAll("a"));
		const at = links.indexOf(document.activeElement);
		if (e.key === "/" && !typing) {
			e.preventDefault();
			box.focus();
		} else if (e.key === "Escape" && !list.hidden) {
			list.hidden = true;
			box.focus();
		} else if (!list.hidden && e.key === "ArrowDown" && (at >= 0 || document.activeElement === box)) {
			e.preventDefault();
			(links[at + 1] || box).focus();
		} else if (!list.hidden && e.key === "ArrowUp" && at >= 0) {
			e.preventDefault();
			(links[at - 1] || box).focus();
		}
	});
	document.addEventListener("click", (e) => {
		if (!e.target.closest(".search")) { list.hidden = true; }
	});
})();
