// Runs the compiler beside the page, so that typing never waits. The page sends requests and gets replies in order.
"use strict";
importScripts("wasm_exec.js");

// load takes the smaller file where the browser can expand it, and where no server has done so on the way.
async function load(go) {
	if (self.DecompressionStream) {
		const small = await fetch("accessc.wasm.gz");
		if (small.ok && !small.headers.get("Content-Encoding")) {
			const body = small.body.pipeThrough(new DecompressionStream("gzip"));
			const whole = new Response(body, { headers: { "Content-Type": "application/wasm" } });
			return WebAssembly.instantiateStreaming(whole, go.importObject);
		}
	}
	const whole = await fetch("accessc.wasm");
	if (!whole.ok) { throw new Error("accessc.wasm: " + whole.status); }
	return WebAssembly.instantiate(await whole.arrayBuffer(), go.importObject);
}

const go = new Go();
go.env = { GOGC: "400" }; // the heap is a few megabytes, and its collection would take half of an answer's time
const ready = load(go).then(({ instance }) => {
	// The program ends only by a fault, and then there is no worker to go on with.
	go.run(instance).finally(() => postMessage({ ended: true }));
});
ready.then(() => postMessage({ ready: true }), (err) => postMessage({ failed: String(err) }));

onmessage = async ({ data }) => {
	await ready;
	postMessage({ id: data.id, reply: self.accessc(data.request) });
};
