"use strict";
// Shows the tools that the words and the chosen capabilities leave, and marks in them
// the lines that grant what was chosen. Without it the page shows everything.
(function () {
	var form = document.querySelector(".filter");
	var words = form.querySelector("input[type=search]");
	var boxes = Array.prototype.slice.call(form.querySelectorAll("input[type=checkbox]"));
	var tools = Array.prototype.slice.call(document.querySelectorAll(".tool"));
	var links = Array.prototype.slice.call(document.querySelectorAll("nav li"));
	var none = document.querySelector(".empty");

	function has(row, wanted) {
		var grants = (row.getAttribute("data-grants") || "").split(" ");
		return wanted.every(function (w) { return grants.indexOf(w) >= 0; });
	}

	// A tool is left if it holds every word, and if some line grants all that is chosen.
	function apply() {
		var wanted = boxes.filter(function (b) { return b.checked; }).map(function (b) { return b.value; });
		var text = words.value.toLowerCase().split(/\s+/).filter(Boolean);
		var shown = 0;
		tools.forEach(function (tool) {
			var rows = Array.prototype.slice.call(tool.querySelectorAll("[data-grants]"));
			var granted = wanted.length === 0;
			rows.forEach(function (row) {
				var match = wanted.length > 0 && has(row, wanted);
				row.classList.toggle("match", match);
				granted = granted || match;
			});
			var content = tool.textContent.toLowerCase();
			var show = granted && text.every(function (w) { return content.indexOf(w) >= 0; });
			tool.hidden = !show;
			links.forEach(function (link) {
				if (link.getAttribute("data-tool") !== tool.id) { return; }
				link.hidden = !show;
				shown += show ? 1 : 0;
			});
		});
		form.querySelector("output").textContent = shown + " of " + links.length;
		none.hidden = shown > 0;
	}

	form.hidden = false;
	form.addEventListener("submit", function (e) { e.preventDefault(); });
	form.addEventListener("input", apply);
	apply();
})();
