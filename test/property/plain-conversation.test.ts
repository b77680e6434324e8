import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { WireId } from '../../src/model/turn.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'
import { type Case, cases, wires } from '../support/cases.ts'
import { recordings } from '../support/corpus.ts'
import { REQUEST_BODIES } from '../support/request-bodies.ts'
import { runs } from '../support/runs.ts'
import { WIRES } from '../support/seals.ts'

describe('a plain conversation has everything that its request has', () => {
  const { seed, options } = runs(60)
  for (const wire of WIRES) {
    it(`${wire}: what clients send, encoded for every wire`, () => {
      const bodies = listBodies(wire)
      for (const [name, body] of bodies) checkRequest(wires[wire].readRequest(body).request, name)
      console.log(`${wire}: ${bodies.length} bodies`)
    })

    it(`${wire}: histories of every kind`, () => {
      fc.assert(
        fc.property(cases(wire, seed), ({ request, profile }: Case) => {
          checkRequest(request, `seed ${seed}`)
          checkEncoding(request, wire, profile, `seed ${seed}`)
        }),
        options,
      )
    })
  }
})

/** The bodies of recordings, and those made for tests. */
function listBodies(wire: WireId): (readonly [string, JsonObject])[] {
  const recorded = recordings(wire).flatMap(({ file, request }) =>
    request?.body ? [[file, request.body] as const] : [],
  )
  return [...recorded, ...REQUEST_BODIES[wire].map((body, at) => [`${wire} ${at}`, body] as const)]
}

/** On every wire, with and without tools and system messages inside the history. */
function checkRequest(request: ModelRequest, name: string): void {
  for (const wire of WIRES) {
    const { profile } = wires[wire]
    checkEncoding(request, wire, profile, name)
    checkEncoding(request, wire, { ...profile, systemNotes: true, lateTools: 'native' }, name)
  }
}

function checkEncoding(request: ModelRequest, wire: WireId, profile: Profile, name: string): void {
  const plain: unknown = JSON.parse(JSON.stringify(toPlainConversation(request)))
  const read = fromPlainConversation(plain, { model: '' })
  assert.deepEqual(read.warnings, [], name)
  const [direct, back] = [request, read.request].map((one) => {
    const { warnings, ...encoded } = wires[wire].encodeRequest(one, profile)
    // Results that follow each other are one turn, which is warned of once.
    return JSON.stringify([encoded, [...new Set(warnings.map(({ message }) => message))]])
  })
  assert.equal(back, direct, `${name}, on ${wire}`)
}
