// accessc hook opencode: "accessc hook install opencode" writes this file, "accessc hook uninstall opencode" removes it.
import { spawn } from "node:child_process"

const command = COMMAND
const limit = LIMIT

// ask has accessc judge an event. Whatever goes wrong is an error, which opencode takes for a refusal.
function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], command.slice(1), { cwd: event.cwd, stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    const out = []
    const said = []
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error("accessc has not answered in time"))
    }, limit)
    child.on("error", (e) => {
      clearTimeout(timer)
      reject(new Error("accessc did not start: " + e.message))
    })
    child.on("close", (status) => {
      clearTimeout(timer)
      if (status !== 0) {
        reject(new Error(Buffer.concat(said).toString().trim() || "accessc has failed"))
        return
      }
      try {
        resolve(JSON.parse(Buffer.concat(out).toString()))
      } catch (e) {
        reject(new Error("the answer of accessc cannot be read: " + e.message))
      }
    })
    child.stdin.on("error", () => {}) // the status tells
    child.stdout.on("data", (part) => out.push(part))
    child.stderr.on("data", (part) => said.push(part))
    child.stdin.end(JSON.stringify(event))
  })
}

export const accessc = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const { tool, sessionID, callID } = input
    const answer = await ask({ event: "before", sessionID, callID, cwd: directory, tool, args: output.args })
    if (answer?.decision !== "allow") throw new Error(answer?.reason || "accessc refused it")
    if (answer.args === undefined) return
    // opencode goes on with the object that it handed in.
    for (const key of Object.keys(output.args)) delete output.args[key]
    Object.assign(output.args, answer.args)
  },
  "tool.execute.after": async (input, output) => {
    const { tool, sessionID, callID, args } = input
    const answer = await ask({ event: "after", sessionID, callID, cwd: directory, tool, args }).catch(() => ({}))
    if (answer?.context) output.output += "\n" + answer.context
  },
})
