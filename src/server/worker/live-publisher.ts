import { isObject, type JsonObject, stringOrEmpty } from '../../model/json.ts'

interface LivePublisher {
  publish(event: JsonObject): void
  flush(): void
}

/** Joins the text of one part that arrives within a short time: a database that carries the events has less to do. */
export function createLivePublisher(send: (event: JsonObject) => void, delayMs = 50): LivePublisher {
  let joined: JsonObject | undefined
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (joined) send(joined)
    joined = undefined
  }

  return {
    publish(event) {
      const merged = joined && joinDeltas(joined, event)
      if (!merged) flush()
      if (!isDelta(event)) return send(event)
      joined = merged ?? event
      timer ??= setTimeout(flush, delayMs)
    },
    flush,
  }
}

function isDelta({ type, event }: JsonObject): boolean {
  return type === 'turn' && isObject(event) && event['type'] === 'part-delta' && typeof event['text'] === 'string'
}

/** Both in one, if they are text of the same part. */
function joinDeltas(first: JsonObject, second: JsonObject): JsonObject | undefined {
  const [one, other] = [first['event'], second['event']]
  if (!isDelta(second) || !isObject(one) || !isObject(other) || one['index'] !== other['index']) return undefined
  const text = stringOrEmpty(one['text']) + stringOrEmpty(other['text'])
  return { ...first, event: { ...one, text } as JsonObject }
}
