// The floor: what a person would write in an afternoon. Bare fetch, one tool, no log, no checks.
import { readFile } from 'node:fs/promises'

const [url, model, prompt] = process.argv.slice(2)
const tools = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: { absolute_path: { type: 'string' } }, required: ['absolute_path'] },
    },
  },
]
const messages = [
  { role: 'system', content: 'You are a helpful coding agent.' },
  { role: 'user', content: prompt },
]

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
    const { absolute_path: path } = JSON.parse(call.function.arguments)
    messages.push({ role: 'tool', tool_call_id: call.id, content: await readFile(path, 'utf8') })
  }
}
