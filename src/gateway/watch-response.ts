import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { Usage } from '../model/usage.ts'
import { createFramer } from '../wire/framing/framer.ts'
import type { Wire } from '../wire/wire.ts'

/** What was seen in a response that passes through. */
export interface WatchedResponse {
  readonly usage?: Usage
  readonly warnings: readonly Warning[]
  readonly fault?: Fault
}

export type ResponseWatcher = ReturnType<typeof createResponseWatcher>

/** Reads a response beside the stream, for its usage. It must never stop the stream: if it fails, it only stops to watch. */
export function createResponseWatcher(wire: Wire, status: number, headers: Readonly<Record<string, string>>) {
  const seen: { usage?: Usage; warnings: Warning[]; fault?: Fault } = { warnings: [] }
  let isWatching = true
  const framer = createFramer(headers['content-type'])
  const state = wire.startDecoding({ turnKey: 'watched', profile: wire.profile, tools: [], status, headers })
  const collect = (events: readonly TurnEvent[]): void => {
    for (const event of events) {
      if (event.type === 'usage') seen.usage = event.usage
      else if (event.type === 'warn') seen.warnings.push(event.warning)
      else if (event.type === 'finish' && event.fault) seen.fault = event.fault
    }
  }
  const attempt = (work: () => void): void => {
    if (!isWatching) return
    try {
      work()
    } catch {
      isWatching = false
    }
  }
  return {
    push: (bytes: Uint8Array): void =>
      attempt(() => framer.push(bytes).forEach((frame) => collect(wire.decodeFrame(state, frame)))),
    end(): WatchedResponse {
      attempt(() => {
        framer.end().forEach((frame) => collect(wire.decodeFrame(state, frame)))
        collect(wire.finishDecoding(state))
      })
      return seen
    },
  }
}
