import type { Usage } from '../model/usage.ts'
import type { Answer, AnswerPart } from './answer.ts'
import { type Asked, knownIds } from './asked.ts'
import { fillArguments, fillText, takenValues, type Values } from './fill.ts'
import { answerId } from './marks.ts'
import type { Located, Step } from './script.ts'

/** Where in a script an answer stands. */
export interface Cue extends Located {
  readonly script: string
  readonly asked: Asked
  readonly position: number
}

/** Makes the answer that a step gives to a request. The same request always gets the same answer. */
export function compose(cue: Cue, given: Values): Answer {
  const { step, asked } = cue
  const values = takenValues(step.take ?? {}, { ...given, ...known(cue) }, asked)
  const id = answerId(cue.script, asked.turns, step.think !== undefined)
  const parts = partsOf(step, { id, values, asked })
  const called = parts.some((part) => part.kind === 'call')
  return {
    id,
    model: asked.model,
    created: EPOCH + asked.turns,
    parts,
    finish: called ? 'calls' : 'stop',
    usage: usageOf(step, parts, asked.bytes),
    pieces: step.pieces,
  }
}

/** Values that every step has. */
function known({ round, position, asked }: Cue): Values {
  return { n: String(round), position: String(position), model: asked.model, wire: asked.wire }
}

function partsOf(step: Step, at: { id: string; values: Values; asked: Asked }): AnswerPart[] {
  const { values, asked } = at
  const said = typeof step.say === 'object' ? step.say.text.repeat(step.say.times) : (step.say ?? '')
  const calls = step.call ?? []
  // Only a conversation that was cut short can hold ids that are due again.
  const taken = calls.length > 0 && asked.turns > 0 && !asked.light ? knownIds(asked.request()) : new Set<string>()
  return [
    ...(step.think === undefined ? [] : [{ kind: 'reasoning', text: fillText(step.think, values) } as const]),
    ...(said === '' ? [] : [{ kind: 'text', text: fillText(said, values) } as const]),
    ...calls.map(
      ({ name, args = {}, raw }, place) =>
        ({
          kind: 'call',
          id: unused(`${at.id}_${place}`, taken),
          name: name === FIRST_TOOL ? (asked.request().tools[0]?.name ?? name) : name,
          raw: raw ?? JSON.stringify(fillArguments(args, values, asked)),
        }) as const,
    ),
  ]
}

/** A script cannot know how a name was made legal for a wire. */
const FIRST_TOOL = '{tool}'

function unused(id: string, taken: ReadonlySet<string>): string {
  let free = id
  while (PREFIXES.some((prefix) => taken.has(prefix + free))) free += 'x'
  return free
}

const PREFIXES = ['', 'call_', 'toolu_']

/** About four bytes to a token, as a rule of thumb, so that long conversations look long. */
function usageOf(step: Step, parts: readonly AnswerPart[], bytes: number): Usage {
  const letters = (kind: AnswerPart['kind']): number =>
    parts.reduce((sum, part) => {
      if (part.kind !== kind) return sum
      return sum + (part.kind === 'call' ? part.raw.length + part.name.length : part.text.length)
    }, 0)
  return {
    input: Math.ceil(bytes / 4),
    cacheRead: 0,
    cacheWrite: 0,
    output: Math.ceil((letters('text') + letters('call')) / 4),
    reasoning: Math.ceil(letters('reasoning') / 4),
    ...step.usage,
  }
}

const EPOCH = 1_700_000_000
