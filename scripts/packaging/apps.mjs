// The programs that are bundled and run.

const ENTRIES = ['openai', 'anthropic', 'responses', 'gemini', 'tachikoma']

/** Uses every entry of `embed`: assembles a call out of raw bytes, and writes the history. */
export const EMBED_APP = `
import * as embed from 'dragoman/embed'
${ENTRIES.map((name) => `import * as ${name} from 'dragoman/embed/${name}'`).join('\n')}

export function check() {
  const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object', properties: { a: { type: 'number' } } } }]
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
  const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }
  const bytes = new TextEncoder().encode('data: ' + JSON.stringify(chunk) + '\\n\\ndata: [DONE]\\n\\n')
  const assembler = openai.createAssembler({ tools })
  for (let at = 0; at < bytes.length; at += 9) assembler.push(bytes.subarray(at, at + 9))
  const response = assembler.end()
  const [made] = response.calls
  const history = openai.toHistory(response, [{ id: made.id, output: 'two' }], { tools })
  const declared = [anthropic.declareTools(tools), responses.declareTools(tools), gemini.declareTools(tools)]
  const handler = new tachikoma.GeminiToolHandler().register(tools[0], () => '3')
  const shown = [made.name, history.length, declared.every((one) => one.tools.length === 1), String(handler).includes('add')]
  return shown.join(' ') === 'add 2 true true' && embed.generateValidName('a b') === 'a_b' ? 'ok' : shown.join(' ')
}
`

/** Runs an agent with the built-in tools against a server of its own; the shell command is parsed by the WebAssembly parser. */
export const MAIN_APP = `
import { createServer } from 'node:http'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, builtinTools, localHost } from 'dragoman'

async function main() {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'run_shell_command', arguments: '{"command":"echo found"}' } }
  const answers = [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }, { delta: { content: 'Done.' }, finish_reason: 'stop' }]
  let result = ''
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (data) => (body += data))
    request.on('end', () => {
      result = JSON.parse(body).messages.findLast(({ role }) => role === 'tool')?.content ?? result
      const chunk = { choices: [{ index: 0, ...answers.shift() }] }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: ' + JSON.stringify(chunk) + '\\n\\ndata: [DONE]\\n\\n')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.env.OPENAI_API_KEY = 'none'
  process.env.DRAGOMAN_OPENAI_CHAT_BASE_URL = 'http://127.0.0.1:' + server.address().port + '/v1'
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-app-'))
  const host = localHost({ folders: [folder], scratch: folder, sandbox: { mode: 'off' } })
  const helper = agent({ model: 'openai-chat/m', tools: builtinTools({}), host, folders: [folder] })
  const { text } = await helper.run('Find it.')
  helper.close()
  host.close()
  server.close()
  console.log(text === 'Done.' && result.includes('found') ? 'ok' : JSON.stringify([text, result]))
  process.exit()
}
main()
`
