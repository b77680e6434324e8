import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AssistantTurn, Turn } from '../../src/model/turn.ts'
import { wires } from '../support/cases.ts'
import { ELSEWHERE, WIRES, sealMark } from '../support/seals.ts'
import { type Station, arrive, exchange, plain, says, seals } from '../support/travel.ts'

/** What closes a body behind the last thing said. */
const END = /[\]}]+$/

describe('a conversation begun on one wire goes on on another, and comes back', () => {
  for (const from of WIRES) {
    for (const to of WIRES) {
      it(`${from} → ${to} → ${from}`, () => {
        const [home, away] = [plain(from), plain(to)]
        const there = from === to ? abroad(away) : away
        const turns: Turn[] = [says('Look at both.'), ...exchange(home, 1)]
        const before = arrive(home, turns).text
        const made = seals(turns[1] as AssistantTurn)
        assert.ok(made.length >= 2, 'the vendor sealed something')
        for (const seal of made) assert.ok(before.includes(seal), `${seal} goes back to its vendor`)

        const out = arrive(there, turns).text
        assert.ok(!out.includes(sealMark(from, home.profile.signer)))
        turns.push(...exchange(there, 2))
        // The other vendor sees its own data beside the calls that are not its own, and the bytes of before.
        extends_(out, arrive(there, turns).text)

        const back = arrive(home, turns).text
        extends_(before, back)
        for (const seal of made) assert.ok(back.includes(seal), `${seal} is back, byte for byte`)
        assert.ok(!back.includes(sealMark(to, there.profile.signer)))

        // Another account, another model family: the same wire, but nobody who could read the seals.
        const stranger = arrive(abroad(home), [...turns, says('And now?')]).text
        for (const seal of made) assert.ok(!stranger.includes(seal), `${seal} is not for strangers`)
      })
    }
  }
})

describe('one session through every vendor', () => {
  const chat = wires['openai-chat'].profile
  const gemini = plain('gemini')
  const mistral: Station = {
    wire: 'openai-chat',
    profile: { ...chat, signer: 'mistral', ids: 'nine', alternate: true, bridge: true, maxTokensField: 'max_tokens' },
  }
  const kimi: Station = {
    wire: 'openai-chat',
    profile: { ...chat, signer: 'kimi', ids: 'functions', needsReasoning: 'reasoning_content', emptyContent: 'omit' },
  }
  const way = [gemini, plain('anthropic'), plain('openai-responses'), mistral, kimi, gemini]

  it('Gemini → Claude → Responses → Mistral → Kimi → Gemini: every call stays, every seal stays at home', () => {
    const turns: Turn[] = [says('Begin.')]
    const stays: { station: Station; text: string; made: string[] }[] = []
    for (const [round, station] of way.entries()) {
      arrive(station, turns)
      const [answer, results] = exchange(station, round, dictated(station, round))
      turns.push(...[answer, results].filter((turn) => turn !== undefined))
      const { text } = arrive(station, turns)
      stays.push({ station, text, made: seals(answer as AssistantTurn) })
      turns.push(says(`Go on, ${round}.`))
    }
    // Whoever comes back finds every byte that it had sent, and what it had sealed, in its place.
    for (const { station, text, made } of stays) {
      const back = arrive(station, turns).text
      extends_(text, back)
      for (const seal of made) assert.ok(back.includes(seal), `${seal} is back`)
    }
    const calls = turns
      .flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
      .filter(({ kind }) => kind === 'call')
    assert.equal(calls.length, 2 * way.length)
  })
})

/** The ids that Mistral and Kimi dictate; Kimi counts all calls of the session, its own or not (T95, T96). */
function dictated({ profile }: Station, round: number) {
  const mark = profile.signer === 'mistral' ? sealMark('openai-chat', 'mistral') : ''
  const id = (name: string, at: number) => {
    if (profile.ids === 'nine') return { id: `${mark}00${at}` }
    return profile.ids === 'functions' ? { id: `functions.${name}:${2 * round + at}` } : {}
  }
  return {
    calls: [
      { name: 'read_file', args: { path: 'a' }, ...id('read_file', 0) },
      { name: 'read_file', args: { path: 'b' }, ...id('read_file', 1) },
    ],
  }
}

/** The same wire, where another signs. */
function abroad({ wire, profile }: Station): Station {
  return { wire, profile: { ...profile, signer: ELSEWHERE } }
}

function extends_(shorter: string, longer: string): void {
  const said = shorter.replace(END, '')
  assert.equal(longer.slice(0, said.length), said)
}
