// Answers each line of the standard input as the page does: node lines.js WASM_EXEC_JS PROGRAM.
"use strict";
const fs = require("fs");
require(process.argv[2]);
const go = new Go();
go.env = { GOGC: "400" };
const began = performance.now();
WebAssembly.instantiate(fs.readFileSync(process.argv[3]), go.importObject).then(({ instance }) => {
	go.run(instance);
	for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
		const start = performance.now();
		fs.writeSync(1, accessc(line) + "\n");
		fs.writeSync(2, `${(start - began).toFixed(0)} ${(performance.now() - start).toFixed(1)}\n`);
	}
	process.exit(0);
});
