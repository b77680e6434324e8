import { isObject, tryParseJson } from '../../model/json.ts'

/** An event of the server. */
export interface ServerEvent {
  readonly name: string
  readonly id?: string
  readonly data: Record<string, unknown>
}

/** Splits a stream of server-sent events. */
export async function* readServerEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = parseEvent(text.slice(0, end))
      text = text.slice(end + 2)
      if (event) yield event
    }
  }
}

/** Undefined for comments. */
function parseEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const match = /^(event|id|data): ?(.*)$/.exec(line)
    if (match) fields.set(match[1] ?? '', match[2] ?? '')
  }
  const data = tryParseJson(fields.get('data') ?? '')
  const id = fields.get('id')
  return isObject(data) ? { name: fields.get('event') ?? 'message', data, ...(id !== undefined && { id }) } : undefined
}
