import { toCanonicalJson, type JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import { toWellFormed, toWellFormedJson } from '../../src/model/text.ts'
import type { AssistantTurn, CallPart, MediaPart, ResultPart, TextPart, Turn } from '../../src/model/turn.ts'
import type { ToolDeclarations } from '../../src/schema/dialect/declare-tools.ts'

/** What a conversation says, whatever the wire: who called what, with which answer, and what was said. */
export interface Meaning {
  readonly calls: readonly MeantCall[]
  /** Everything said, in order, thoughts left out. */
  readonly said: readonly string[]
  /** How many pictures that every model takes were shown, by the user and by tools. */
  readonly pictures: number
}

export interface MeantCall {
  readonly name: string
  readonly args: string
  /** What the answer says; absent where the call had none. */
  readonly answer?: readonly string[]
  readonly failed: boolean
  readonly pictures: number
}

/** What a history means: each call with the last answer that it got before the next turn, and all words that say anything. */
export function meaningOf(turns: readonly Turn[], projection: ToolDeclarations): Meaning {
  const calls: MeantCall[] = []
  const said: string[] = []
  for (const [at, turn] of turns.entries()) {
    if (turn.role === 'note') said.push(turn.text)
    else if (turn.role !== 'results') said.push(...texts(turn.parts))
    if (turn.role === 'assistant') calls.push(...answered(turn, turns.slice(at + 1), projection))
  }
  const shown = turns.map((turn) => (turn.role === 'user' ? pictures(turn.parts) : 0))
  return {
    calls,
    said: said.filter((text) => text.trim() !== '').map(toWellFormed),
    pictures: sum([...shown, ...calls.map((call) => call.pictures)]),
  }
}

function answered(turn: AssistantTurn, later: readonly Turn[], projection: ToolDeclarations): MeantCall[] {
  const calls = turn.parts.filter((part) => part.kind === 'call').filter(({ name }) => name !== '')
  const next = later.findIndex(({ role }) => role === 'assistant')
  const results = (next < 0 ? later : later.slice(0, next)).flatMap((one) => (one.role === 'results' ? one.parts : []))
  return calls.map((call) => {
    // Calls that share an id share its answers: the last ones, in their order (T10, T90).
    const twins = calls.filter(({ id }) => id === call.id)
    const mine = results.filter(({ id }) => id === call.id).slice(-twins.length)[twins.indexOf(call)]
    return {
      name: projection.toWireName(call.name),
      args: toCanonicalJson(argumentsOf(call, projection)),
      failed: mine === undefined || mine.status !== 'ok',
      pictures: pictures(mine?.content ?? []),
      ...(mine && {
        answer: texts(mine.content)
          .filter((text) => text.trim() !== '')
          .map(toWellFormed),
      }),
    }
  })
}

function argumentsOf(call: CallPart, projection: ToolDeclarations): JsonObject {
  return toWellFormedJson(projection.toWireArguments(call.name, call.input ?? {}))
}

/** What a body means, as its wire reads it back. */
export function meaningRead({
  turns,
}: ModelRequest): Meaning & { readonly ids: [asked: string[], answered: string[]] } {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts.filter(isCall) : []))
  const results = turns.flatMap((turn) => (turn.role === 'results' ? turn.parts : []))
  return {
    calls: calls.map((call, at) => ({
      name: call.name,
      args: toCanonicalJson(call.input ?? null),
      failed: results[at]?.status !== 'ok',
      answer: answerTexts(results[at]),
      pictures: pictures(results[at]?.content ?? []),
    })),
    said: turns.flatMap((turn) => (turn.role === 'user' || turn.role === 'assistant' ? texts(turn.parts) : [])),
    pictures: sum(
      turns.map((turn) => {
        if (turn.role === 'user') return pictures(turn.parts)
        return turn.role === 'results' ? sum(turn.parts.map(({ content }) => pictures(content))) : 0
      }),
    ),
    ids: [calls.map(({ id }) => id), results.map(({ id }) => id)],
  }
}

function isCall(part: { readonly kind: string }): part is CallPart {
  return part.kind === 'call'
}

function pictures(parts: readonly { readonly kind: string }[]): number {
  return parts.filter(
    (part) => part.kind === 'media' && (part as MediaPart).mime === 'image/png' && (part as MediaPart).data,
  ).length
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((whole, one) => whole + one, 0)
}

function answerTexts(result: ResultPart | undefined): string[] {
  return result ? texts(result.content) : []
}

function texts(parts: readonly { readonly kind: string }[]): string[] {
  return parts.filter((part): part is TextPart => part.kind === 'text').map(({ text }) => text)
}
