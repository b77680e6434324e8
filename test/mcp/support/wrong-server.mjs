// A server whose tools answer wrongly, over standard input and output or over HTTP: each tool is one wrong answer.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const good = { content: [{ type: 'text', text: 'fine' }] }

/** What is sent in answer to a call with this id, as text. */
const ANSWERS = {
  good: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: good }),
  nothing_but_null: () => 'null',
  a_number: () => '5',
  a_text: () => '"x"',
  a_list: () => '[]',
  a_list_of_null: () => '[null]',
  an_empty_object: () => '{}',
  no_json: () => '{"jsonrpc":"2.0","id":',
  no_words: () => '',
  only_an_id: (id) => JSON.stringify({ jsonrpc: '2.0', id }),
  another_id: (id) => JSON.stringify({ jsonrpc: '2.0', id: id + 1000, result: good }),
  no_id: () => JSON.stringify({ jsonrpc: '2.0', id: null, result: good }),
  an_id_as_text: (id) => JSON.stringify({ jsonrpc: '2.0', id: `${id}`, result: good }),
  result_null: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: null }),
  result_number: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: 7 }),
  result_text: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: 'x' }),
  result_list: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: [good] }),
  error_null: (id) => JSON.stringify({ jsonrpc: '2.0', id, error: null }),
  error_text: (id) => JSON.stringify({ jsonrpc: '2.0', id, error: 'the pond is frozen' }),
  error_without_message: (id) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1 } }),
  error_with_odd_code: (id) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: 'x', message: 'frozen' } }),
  both: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: good, error: { code: 1, message: 'frozen' } }),
  another_version: (id) => JSON.stringify({ jsonrpc: '1.0', id, result: good }),
  no_content: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: {} }),
  content_null: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: null } }),
  content_of_null: (id) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [null, 5, 'x', []] } }),
  controls: (id) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: { content: [{ type: 'text', text: `a\r\n\u001b[31mb\u001b[0m\u0008c` }] },
    }),
  long_error: (id) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: `\u0007${'M'.repeat(2 ** 20)}` } }),
  twice: (id) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, result: good })}\n${JSON.stringify({ jsonrpc: '2.0', id, result: null })}`,
}

function answer({ id, method, params }) {
  if (method === 'tools/call') return ANSWERS[params.name](id)
  const results = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'wrong', version: '1' },
    },
    'tools/list': {
      tools: Object.keys(ANSWERS).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })),
    },
  }
  const result = results[method]
  // A schema so deep that JSON.stringify fails is written by hand.
  if (method === 'tools/list')
    return JSON.stringify({ jsonrpc: '2.0', id, result }).replace(
      '"tools":[',
      `"tools":[{"name":"deep","inputSchema":${'{"type":"object","properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}},`,
    )
  return JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32_601, message: 'no' } }) })
}

if (process.argv[2] === 'http') {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes) => (body += bytes))
    request.on('end', () => {
      const message = request.method === 'POST' ? JSON.parse(body) : {}
      if (message.id === undefined) {
        response.writeHead(request.method === 'POST' ? 202 : 405).end()
        return
      }
      const type = process.argv[3] === 'stream' ? 'text/event-stream' : 'application/json'
      const text = answer(message)
      response.writeHead(200, { 'content-type': type })
      response.end(
        process.argv[3] === 'stream'
          ? text
              .split('\n')
              .map((line) => `data: ${line}\n\n`)
              .join('')
          : text,
      )
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
} else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.id !== undefined && message.method !== undefined) process.stdout.write(`${answer(message)}\n`)
  })
}
