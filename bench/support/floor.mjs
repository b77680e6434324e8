// The floor: what a person would write in an afternoon. Bare fetch, two tools, no log, no checks.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'

const [url, model, prompt, sandbox] = process.argv.slice(2)
const tools = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { absolute_path: { type: 'string' } }, required: ['absolute_path'] },
    },
  },
  {
    type: 'function',
    function: {
      name: 'run_shell_command',
      description: 'Runs a command.',
      parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    },
  },
]
const messages = [
  { role: 'system', content: 'You are a helpful coding agent.' },
  { role: 'user', content: prompt },
]
const cwd = process.cwd()
const isolation = `--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind ${cwd} ${cwd} --unshare-pid --unshare-net --unshare-ipc --die-with-parent`
const shell = sandbox === 'bwrap' ? ['bwrap', ...isolation.split(' '), 'bash', '-c'] : ['bash', '-c']

function run(command) {
  const [program, ...args] = [...shell, command]
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes))
    child.on('error', reject)
    child.on('close', (code) => resolve(`${output}\nexit code ${code}`))
  })
}

for (;;) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
    body: JSON.stringify({ model, stream: true, messages, tools }),
  })
  let text = ''
  const calls = []
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue
      const delta = JSON.parse(line.slice(6)).choices?.[0]?.delta ?? {}
      if (delta.content) {
        text += delta.content
        process.stdout.write(delta.content)
      }
      for (const piece of delta.tool_calls ?? []) {
        const call = (calls[piece.index] ??= { id: piece.id, type: 'function', function: { name: '', arguments: '' } })
        call.function.name += piece.function?.name ?? ''
        call.function.arguments += piece.function?.arguments ?? ''
      }
    }
  }
  process.stdout.write('\n')
  messages.push({ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) })
  if (calls.length === 0) break
  for (const call of calls) {
    const { absolute_path: path, command } = JSON.parse(call.function.arguments)
    const content = command === undefined ? await readFile(path, 'utf8') : await run(command)
    messages.push({ role: 'tool', tool_call_id: call.id, content })
  }
}
