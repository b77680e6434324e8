import type { TurnEvent } from '../../model/event.ts'
import { fold, type FoldedTurn } from '../../model/fold.ts'
import { tryParseJson } from '../../model/json.ts'
import type { ModelRequest, ToolSpec } from '../../model/request.ts'
import type { ModelOrigin } from '../../model/turn.ts'
import { createFramer } from '../../wire/framing/framer.ts'
import type { Wire } from '../../wire/wire.ts'

interface ResponseBody {
  readonly origin: ModelOrigin
  readonly turnKey: string
  readonly tools: readonly ToolSpec[]
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Reads a whole response body; undefined if there is nothing in it that can be read. */
export function decodeResponseBody(wire: Wire, body: ResponseBody): FoldedTurn | undefined {
  const { origin, turnKey, tools, status, headers, text } = body
  if (text === '') return undefined
  try {
    const state = wire.startDecoding({ turnKey, profile: wire.profile, tools, status, headers })
    const framer = createFramer(headers['content-type'])
    const events: TurnEvent[] = []
    const frames = [...framer.push(Buffer.from(text)), ...framer.end()]
    for (const frame of frames) events.push(...wire.decodeFrame(state, frame))
    events.push(...wire.finishDecoding(state))
    return fold(events, origin)
  } catch {
    return undefined
  }
}

/** Clients send bodies that no API would take; they are shown as they are. */
export function tryReadRequest(wire: Wire, text: string): ModelRequest | undefined {
  const parsed = tryParseJson(text)
  try {
    return parsed === undefined ? undefined : wire.readRequest(parsed).request
  } catch {
    return undefined
  }
}
