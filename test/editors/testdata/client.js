// What the library of VS Code's language client makes of the server.
const { spawn } = require("child_process");
const { pathToFileURL } = require("url");
const path = require("path");
const rpc = require("vscode-jsonrpc/node");
const lsp = require("vscode-languageserver-protocol");

const file = process.env.POLICY, uri = pathToFileURL(file).href;
const server = spawn(process.env.ACCESSC, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const c = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
let waiting = [];
c.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  waiting = waiting.filter((w) => !(p.uri === uri && w.fits(p) && (w.done(p), true)));
});
const shown = (fits) => new Promise((done) => waiting.push({ fits, done }));
c.onRequest(lsp.RegistrationRequest.type, () => null);
c.onRequest("workspace/inlayHint/refresh", () => null);
c.listen();

(async () => {
  const text = require("fs").readFileSync(file, "utf8");
  const folder = pathToFileURL(path.dirname(file)).href;
  await c.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: folder, workspaceFolders: [{ uri: folder, name: "x" }],
    capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true }, inlayHint: { refreshSupport: true } } },
  });
  await c.sendNotification(lsp.InitializedNotification.type, {});
  let told = shown((p) => p.diagnostics.length > 0);
  await c.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "toml", version: 1, text },
  });
  for (const d of (await told).diagnostics) {
    console.log(`${d.range.start.line}:${d.range.start.character}-${d.range.end.character} ${d.code}`);
  }
  told = shown((p) => p.version === 2 && p.diagnostics.length === 0);
  await c.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line: 6, character: 0 }, end: { line: 6, character: 4 } }, text: "read" }],
  });
  await told;
  const at = { textDocument: { uri }, position: { line: 6, character: 1 } };
  const hover = await c.sendRequest(lsp.HoverRequest.type, at);
  console.log(hover.contents.value.match(/accessc.toml:\d+/)[0]);
  const hints = await c.sendRequest(lsp.InlayHintRequest.type, { textDocument: { uri }, range: { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } } });
  console.log(hints.map((h) => h.label).join());
  await c.sendRequest(lsp.ShutdownRequest.type);
  await c.sendNotification(lsp.ExitNotification.type);
  server.on("exit", (code) => { console.log("exit " + code); c.dispose(); });
})().catch((err) => { console.error(err); process.exit(1); });
