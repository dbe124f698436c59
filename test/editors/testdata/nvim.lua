-- What vim.lsp of Neovim makes of the server: it is started by NVIM with the file, and prints what it was told.
local file, accessc = vim.env.POLICY, vim.env.ACCESSC
local lines = {}
local function say(text) table.insert(lines, text) end
local function ask(buf, method, params)
  local answers = vim.lsp.buf_request_sync(buf, method, params, 30000) or {}
  for _, a in pairs(answers) do return a.result end
end
vim.cmd("edit " .. file)
local buf = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({ name = "accessc", cmd = { accessc, "lsp" }, root_dir = vim.fn.fnamemodify(file, ":h") })
vim.lsp.buf_attach_client(buf, id)
local function shown()
  vim.wait(30000, function() return #vim.diagnostic.get(buf) > 0 end, 10)
  for _, d in ipairs(vim.diagnostic.get(buf)) do say(string.format("%d:%d-%d %s", d.lnum, d.col, d.end_col, d.code)) end
end
shown()
local actions = ask(buf, "textDocument/codeAction", {
  textDocument = { uri = vim.uri_from_bufnr(buf) }, context = { diagnostics = {} },
  range = { start = { line = 6, character = 0 }, ["end"] = { line = 6, character = 0 } },
})
say(actions[1].title)
vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
vim.wait(30000, function() return #vim.diagnostic.get(buf) == 0 end, 10)
say(vim.api.nvim_buf_get_lines(buf, 6, 7, true)[1])
-- A character of two units before another mistake.
vim.api.nvim_buf_set_lines(buf, 5, 6, true, { 'path = "\240\157\132\158"; x' })
shown()
vim.api.nvim_buf_set_lines(buf, 5, 6, true, { 'path="."' })
vim.wait(30000, function() return #vim.diagnostic.get(buf) == 0 end, 10)
local hover = ask(buf, "textDocument/hover", { textDocument = { uri = vim.uri_from_bufnr(buf) }, position = { line = 5, character = 1 } })
say(hover.contents.value:match("accessc.toml:%d+"))
vim.lsp.util.apply_text_edits(ask(buf, "textDocument/formatting", {
  textDocument = { uri = vim.uri_from_bufnr(buf) }, options = { tabSize = 2, insertSpaces = true },
}), buf, "utf-16")
say(vim.api.nvim_buf_get_lines(buf, 5, 6, true)[1])
io.stdout:write(table.concat(lines, "\n") .. "\n")
vim.lsp.stop_client(id)
vim.cmd("qall!")
