// The floor of the terminal UI: shows a response as plain text while it arrives, and keys between its pieces. No layout, no log.
import { setImmediate as nextTurn } from 'node:timers/promises'

const [url, ready, end] = process.argv.slice(2)

process.stdin.setRawMode(true)
process.stdout.write(ready)
process.stdin.setEncoding('utf8').on('data', (keys) => {
  if (keys.includes('\u0004')) process.exit()
  if (keys.endsWith('\r')) void show()
  else process.stdout.write(keys)
})

async function show() {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
    body: JSON.stringify({ model: 'stream', stream: true, messages: [{ role: 'user', content: 'go' }] }),
  })
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()
    let text = ''
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue
      text += JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? ''
    }
    process.stdout.write(text.replaceAll('\n', '\r\n'))
    await nextTurn()
  }
  // Once more, in one piece: a key may have come in between.
  process.stdout.write(`\r\n${end}`)
}
