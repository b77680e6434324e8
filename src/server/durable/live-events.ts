import type { JsonObject } from '../../model/json.ts'
import type { LiveEvents } from '../backend.ts'
import { type Database, listen } from './database.ts'
import { getSessionChannel } from './names.ts'
import { type Closable, createSubscriptions } from './subscriptions.ts'

/**
 * Live events as notifications, in batches: one statement for all sessions of this process a few times a second. An event that
 * is too long for a notification is left out, and so are all while the database is behind.
 */
export function createLiveEvents({ client }: Database, schema: string): LiveEvents & Closable {
  const subscriptions = createSubscriptions()
  const waiting = new Map<string, string[]>()
  let timer: NodeJS.Timeout | undefined
  let isSending = false

  async function send(): Promise<void> {
    timer = undefined
    if (isSending) return plan()
    const messages = [...waiting].flatMap(([channel, texts]) => toPayloads(texts).map((text) => [channel, text]))
    waiting.clear()
    isSending = true
    const text = 'select pg_notify(message->>0, message->>1) from json_array_elements($1::json) message'
    try {
      await client.query(text, [JSON.stringify(messages)])
    } catch {
      // What is live may be lost; the log has what happened.
    }
    isSending = false
  }

  function plan(): void {
    timer ??= setTimeout(() => void send(), BATCH_MS).unref()
  }

  return {
    publish(key, event) {
      const text = JSON.stringify(event)
      if (Buffer.byteLength(text) > MAX_PAYLOAD_BYTES - 2) return
      const channel = getSessionChannel(schema, 'live', key)
      const texts = waiting.get(channel) ?? []
      if (texts.length >= MAX_WAITING) return
      texts.push(text)
      waiting.set(channel, texts)
      plan()
    },
    watch(key, onEvent) {
      const listening = listen(client, getSessionChannel(schema, 'live', key), (payload) => {
        // An empty payload says that some may have been missed.
        if (payload !== '') for (const event of JSON.parse(payload) as JsonObject[]) onEvent(event)
      })
      subscriptions.add(listening)
      return {
        stop() {
          subscriptions.delete(listening)
          void listening.stop()
        },
      }
    },
    close() {
      clearTimeout(timer)
      return subscriptions.close()
    },
  }
}

const BATCH_MS = 50
/** Of a session, until the next batch. */
const MAX_WAITING = 1000
/** Postgres refuses 8000 bytes and more. */
const MAX_PAYLOAD_BYTES = 7900

/** Arrays of events, each short enough for a notification. */
function toPayloads(texts: readonly string[]): string[] {
  const payloads: string[] = []
  let [batch, bytes]: [string[], number] = [[], 2]
  for (const text of texts) {
    const length = Buffer.byteLength(text) + 1
    if (bytes + length > MAX_PAYLOAD_BYTES) {
      payloads.push(`[${batch.join()}]`)
      ;[batch, bytes] = [[], 2]
    }
    batch.push(text)
    bytes += length
  }
  return batch.length === 0 ? payloads : [...payloads, `[${batch.join()}]`]
}
