// Start tools under their policies from TypeScript or JavaScript: a client of accessc serve (docs/hosts.md).
//
//     const server = await Server.start("/path/to/workspace");
//     const done = await server.run("grep", ["main", "src/a"]);
//     console.log(done.exit, done.stdout.toString());
//     server.close();
//
// Node cannot send descriptors, so the server carries the streams in its messages, over pipes. The types are in the
// comments, which tsc checks (tsc -p examples/serve/typescript) and editors read: there is nothing to build. It needs Node 18.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * @typedef {{ action?: "run" | "format_arguments", arguments?: object, answers?: object, options?: object,
 *   workspace_id?: string, conversation_id?: string }} Call
 * @typedef {{ args?: string[], command?: string[], call?: Call, dir?: string, env?: Record<string, string>, session?: string,
 *   events?: boolean, ask?: boolean, stdin?: "null" | "data", stdout?: "null" | "data", stderr?: "null" | "data" }} Options
 * @typedef {{ event: string, run: number, stream?: "stdout" | "stderr", data?: string, end?: boolean, refusal?: any, question?: any,
 *   exit?: number, signal?: string }} Event
 * @typedef {{ exit: number, signal?: string }} Status
 * @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void }} Waiting
 */

/** An error that the server answers. `reason` is a word of the protocol's list. */
export class Failed extends Error {
  /** @param {{ message: string, data: { reason: string, status?: number, findings?: any } }} error */
  constructor(error) {
    super(error.message);
    this.reason = error.data.reason;
    this.status = error.data.status ?? 0;
    this.findings = error.data.findings;
  }
}

/** An accessc serve of this program's own. */
export class Server {
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  /** @type {Map<number, (event: Event) => void>} */
  #listeners = new Map();
  /** @type {Event[]} */
  #early = [];
  #last = 0;
  #newest = 0;
  #taking = false;

  /** @param {import("node:child_process").ChildProcessByStdio<import("node:stream").Writable, import("node:stream").Readable, null>} process */
  constructor(process) {
    this.process = process;
    createInterface({ input: process.stdout, crlfDelay: Infinity }).on("line", (line) => this.#read(JSON.parse(line)));
    const gone = () => {
      for (const w of this.#waiting.values()) w.reject(new Error("accessc serve has ended"));
      this.#waiting.clear();
    };
    process.on("error", gone).on("close", gone);
    process.stdin.on("error", gone);
  }

  /**
   * Starts a server for a workspace.
   * @param {string} workspace
   * @param {string} [accessc]
   * @param {string[]} [flags]
   */
  static async start(workspace = ".", accessc = "accessc", flags = []) {
    const server = new Server(spawn(accessc, ["serve", "-C", workspace, "--stdio", ...flags], { stdio: ["pipe", "pipe", "inherit"] }));
    await server.request("hello", { versions: [1] });
    return server;
  }

  /** @param {{ id: number, result?: any, error?: any }} answer */
  #read(answer) {
    const w = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.error) w?.reject(new Failed(answer.error));
    else w?.resolve(answer.result);
  }

  /**
   * Sends a request and returns its result.
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  request(method, params = {}) {
    const id = ++this.#last;
    const result = this.#answer(id);
    this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return result;
  }

  /**
   * The result of the answer with an id.
   * @param {number} id
   * @returns {Promise<any>}
   */
  #answer(id) {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /**
   * The answer of accessc can.
   * @param {string} tool
   * @param {string} operation
   * @param {string} target
   * @param {object} [more] destination, arguments, system
   */
  can(tool, operation, target, more = {}) {
    return this.request("can", { tool, operation, target, ...more });
  }

  /**
   * The answer of accessc decide.
   * @param {string} command
   * @param {object} [more] cwd, ruleset, tool, shell
   */
  decide(command, more = {}) {
    return this.request("decide", { command, ...more });
  }

  /**
   * Starts a tool. `listen` gets its events. They are taken for all runs in turn, so do not wait for a request about
   * another run in it.
   * @param {string} tool
   * @param {Options} [options]
   * @param {(event: Event) => void} [listen]
   */
  async begin(tool, options = {}, listen = () => {}) {
    const wait = ++this.#last;
    const ended = this.#answer(wait);
    ended.catch(() => {}); // is told to those who wait
    const { run, pid } = await this.request("start", { tool, ...options, wait }).catch((e) => {
      this.#waiting.delete(wait);
      throw e;
    });
    this.#listeners.set(run, listen);
    this.#newest = Math.max(this.#newest, run);
    for (const e of this.#early) if (e.run === run) listen(e);
    this.#early = this.#early.filter((e) => e.run !== run);
    if (options.events || options.stdout === "data" || options.stderr === "data") void this.#take();
    return new Run(this, run, pid, ended);
  }

  /** Takes events until the connection ends. */
  async #take() {
    if (this.#taking) return;
    this.#taking = true;
    for (;;) {
      /** @type {{ events: Event[] }} */
      let got;
      try {
        got = await this.request("events");
      } catch {
        return;
      }
      for (const e of got.events) {
        const listen = this.#listeners.get(e.run);
        if (listen) listen(e);
        else if (e.run > this.#newest) this.#early.push(e); // begin does not know the run yet
      }
    }
  }

  /** @param {number} run */
  forget(run) {
    this.#listeners.delete(run);
  }

  /**
   * Runs a tool to its end.
   * @param {string} tool
   * @param {string[]} [args]
   * @param {Options & { input?: string | Buffer }} [options]
   */
  async run(tool, args = [], { input, ...options } = {}) {
    /** @type {{ stdout: Buffer[], stderr: Buffer[] }} */
    const out = { stdout: [], stderr: [] };
    /** @type {any[]} */
    const refused = [];
    let open = options.events ? 3 : 2;
    /** @type {() => void} */
    let over = () => {};
    /** @type {Promise<void>} */
    const done = new Promise((resolve) => (over = resolve));
    const run = await this.begin(tool, { ...options, args, stdin: input === undefined ? "null" : "data", stdout: "data", stderr: "data" }, (e) => {
      if (e.event === "output" && e.stream && e.data) out[e.stream].push(Buffer.from(e.data, "base64"));
      if (e.event === "refused") refused.push(e.refusal);
      if ((e.end || e.event === "ended") && --open === 0) over();
    });
    if (input !== undefined) await run.write(Buffer.from(input), true);
    const status = await run.wait();
    await done;
    this.forget(run.id);
    return { ...status, stdout: Buffer.concat(out.stdout), stderr: Buffer.concat(out.stderr), refused };
  }

  /** Ends the server, and its tools. */
  async close() {
    const closed = once(this.process, "close");
    this.process.stdin.end();
    await closed;
  }
}

/** A tool that was started. */
export class Run {
  /**
   * @param {Server} server
   * @param {number} id
   * @param {number} pid
   * @param {Promise<any>} ended
   */
  constructor(server, id, pid, ended) {
    this.server = server;
    this.id = id;
    this.pid = pid;
    this.ended = ended;
  }

  /** @returns {Promise<Status>} */
  async wait() {
    const { exit, signal } = await this.ended;
    return signal ? { exit, signal } : { exit };
  }

  /** @param {"TERM" | "INT" | "HUP" | "QUIT" | "USR1" | "USR2" | "WINCH" | "KILL"} signal */
  signal(signal) {
    return this.server.request("signal", { run: this.id, signal });
  }

  /**
   * Answers a question of an event.
   * @param {number} question
   * @param {"once" | "run" | "rule" | "no" | "never"} answer
   */
  answer(question, answer) {
    return this.server.request("answer", { run: this.id, question, answer });
  }

  /**
   * Writes to the standard input of a run that was started with data there, in pieces that fit into a message.
   * It returns when the tool's pipe has it. A tool that reads no more is no error.
   * @param {Buffer} data
   * @param {boolean} [end]
   */
  async write(data, end = false) {
    const piece = 48 << 10;
    try {
      for (let at = 0; at < data.length || (end && at === 0); at += piece) {
        const last = at + piece >= data.length;
        await this.server.request("write", { run: this.id, data: data.subarray(at, at + piece).toString("base64"), end: end && last });
      }
    } catch (e) {
      if (!(e instanceof Failed && e.reason === "run")) throw e;
    }
  }
}
