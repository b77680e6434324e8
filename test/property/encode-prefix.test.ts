import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { WireId } from '../../src/model/turn.ts'
import { type Case, cases, wires } from '../support/cases.ts'
import { runs } from '../support/runs.ts'
import { WIRES } from '../support/seals.ts'
import { list } from '../support/validate-shape.ts'

/**
 * What follows the last thing said in a body. On wires whose messages are lists of parts, the next words of the user may
 * join the last message instead of beginning one, so that the end of that list is left open too.
 */
const ENDS: Record<WireId, string> = {
  gemini: ']}]}',
  interactions: ']}',
  'code-assist': ']}]}}',
  'openai-chat': ']}',
  'openai-responses': ']}',
  anthropic: ']}]}',
}

describe('each request extends the bytes of the one before it', () => {
  const { seed, options } = runs(1000)
  for (const wire of WIRES) {
    it(wire, () => {
      let extended = 0
      fc.assert(
        fc.property(cases(wire, seed, 12), ({ request }: Case) => {
          const bodies = requests(request)
            .map((one) => wires[wire].encodeRequest(one, wires[wire].profile).body)
            .filter((body) => !isOpenEnded(wire, body))
            .map((body) => JSON.stringify(body))
          for (const [at, longer] of bodies.entries()) {
            const shorter = bodies[at - 1]
            if (shorter === undefined) continue
            assert.ok(shorter.endsWith(ENDS[wire]))
            extended++
            const [before, after] = compared(wire, request, shorter.slice(0, -ENDS[wire].length), longer)
            assert.equal(after.slice(0, before.length), before)
          }
        }),
        options,
      )
      console.log(`${wire}: ${extended} requests extended another`)
      assert.ok(extended > options.numRuns)
    })
  }
})

/** The requests of which a history is made: one was sent wherever an answer follows, and the next one is about to be sent. */
function requests(request: ModelRequest): ModelRequest[] {
  const { turns } = request
  const boundaries = turns.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []))
  return [...boundaries, turns.length].map((end) => ({ ...request, turns: turns.slice(0, end) }))
}

/**
 * What is excluded, and why: on Anthropic's wire an answer that paused goes back as the last word and is answered by
 * more of itself, and the use of a server's tool that still waits for its result goes back while it waits, and goes
 * away if no result ever comes (T135, T137). The cache marks that roll are a flag which the plain endpoint does not have.
 */
function isOpenEnded(wire: WireId, body: JsonObject): boolean {
  if (wire !== 'anthropic') return false
  const messages = list(body['messages'])
  const blocks = list(messages.findLast(({ role }) => role === 'assistant')?.['content'])
  const answered = new Set(blocks.map((block) => block['tool_use_id']))
  const waits = blocks.some(({ type, id }) => type === 'server_tool_use' && !answered.has(id))
  return waits || messages.at(-1)?.['role'] === 'assistant'
}

/**
 * Two heads of Anthropic's requests must change with the history: thinking has to be left out while calls of another
 * model are being answered (T80), and without tools those that the history used are declared (T98). There the messages
 * alone are compared.
 */
function compared(wire: WireId, { params, tools }: ModelRequest, shorter: string, longer: string): [string, string] {
  const thinks = params?.effort !== undefined && params.effort !== 'off'
  if (wire !== 'anthropic' || !(thinks || tools.length === 0)) return [shorter, longer]
  const messages = (body: string) => body.slice(body.lastIndexOf('"messages":[{"role":"user","content":['))
  return [messages(shorter), messages(longer)]
}
