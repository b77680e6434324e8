import type { TurnEvent } from '../../src/model/event.ts'
import { fold, splitRunnableCalls } from '../../src/model/fold.ts'
import { toCanonicalJson } from '../../src/model/json.ts'
import type { CallPart } from '../../src/model/turn.ts'
import { validate } from '../../src/schema/validate/validate.ts'
import { decodeResponseEvents } from '../../src/wire/decode-response.ts'
import { inPieces, send } from './mutate-bytes.ts'
import type { Random } from './mutate-random.ts'
import type { Keeps, Kit, Stream, WireEvent } from './mutate-stream.ts'

/** What was found out about one stream. */
export interface Verdict {
  readonly problems: readonly string[]
  /** Did every call of the clean stream run? */
  readonly whole: boolean
  /** What came out, for showing. */
  readonly ran: readonly string[]
  readonly rejected: readonly string[]
  readonly finish: string
}

/** Decodes a stream and holds what came out against what was planned. `keeps` is absent for a clean stream. */
export function check({ wire, wrap }: Kit, stream: Stream, random: Random, keeps?: Keeps): Verdict {
  const { tools, calls: planned } = stream.plan
  const { bytes, contentType, arrived } = send(stream, random, wrap)
  const reading = { turnKey: KEY, profile: wire.profile, tools }
  const events = [...decodeResponseEvents(wire, reading, inPieces(bytes, random), contentType)]
  const { turn } = fold(events, { provider: 'p', wire: wire.id, model: 'm' })
  const { calls, rejected } = splitRunnableCalls(turn)
  const wanted = planned.map((call) => spelled(call.name, call.input))
  const ran = calls.filter((call) => !isRefused(call, stream)).map((call) => spelled(call.name, call.input))
  const extra = without(ran, wanted)
  const missing = without(wanted, ran)

  const problems = protocolProblems(events)
  for (const call of extra) problems.push(`runs, but is not in the clean stream: ${call}`)
  // Copies of one call may fall together where nothing tells them apart.
  const idle = keeps === undefined ? missing : keeps === 'runs' ? missing.filter((call) => !ran.includes(call)) : []
  for (const call of idle) problems.push(`does not run, though nothing is wrong with it: ${call}`)
  if (ran.length > 0 && !mayRun(arrived)) problems.push('a call runs, though the answer is damaged or has no end')
  const seen = [...calls, ...rejected.map(({ call }) => call)].map((call) => call.name)
  problems.push(...vanished(stream, seen, keeps ?? 'all'))
  return {
    problems,
    whole: missing.length === 0,
    ran,
    rejected: rejected.map(({ call, reason }) => `${call.name} ${call.raw} — ${reason}`),
    finish: JSON.stringify(turn.finish),
  }
}

/**
 * There is no such tool; or nothing came of this call but its name. A tool without parameters is called so (T17), and
 * the wire cannot know more: what must not run then is refused by the tool's schema.
 */
function isRefused(call: CallPart, { plan, placeholder }: Stream): boolean {
  const tool = plan.tools.find((one) => one.name === call.name)
  if (!tool) return true
  return ['', placeholder].includes(call.raw.trim()) && validate(tool.schema, call.input).length > 0
}

/** May calls run at all: has the answer an end, and nothing damaged before it? */
function mayRun(arrived: readonly WireEvent[]): boolean {
  const end = arrived.findIndex((one) => one.end)
  return end >= 0 && !arrived.slice(0, end).some((one) => one.role === 'damage')
}

/** The names that should still be there and are not. Copies of one call may fall together where nothing tells them apart. */
function vanished({ plan, gone, framing, events }: Stream, seen: readonly string[], keeps: Keeps): string[] {
  // A call that is named late, and by nothing but its place, may be taken for any other.
  if (keeps === 'nothing' || (gone.has('name') && gone.has('index'))) return []
  // Text that opens a bracket in an array swallows what follows.
  if (framing === 'array' && events.some((one) => one.role === 'damage')) return []
  const distinct = new Map(plan.calls.map((call) => [spelled(call.name, call.input), call.name]))
  const blurred = gone.has('index') && (gone.has('id') || gone.has('renamed'))
  const all = keeps !== 'names' && !blurred
  // Where nothing but its name tells a call apart, a name that begins another one may be taken for a piece of it.
  const apart = (name: string) => !plan.tools.some((tool) => tool.name !== name && tool.name.startsWith(name))
  const names = all ? [...distinct.values()] : [...new Set(distinct.values())].filter(apart)
  return without(names, seen).map((name) => `vanished, and is not even rejected: ${name}`)
}

/** What every stream of events must hold, whatever came in. */
function protocolProblems(events: readonly TurnEvent[]): string[] {
  const problems: string[] = []
  const finishes = events.filter((one) => one.type === 'finish')
  if (finishes.length !== 1 || events.at(-1)?.type !== 'finish')
    problems.push(`${finishes.length} finish events, the last event is ${events.at(-1)?.type}`)
  const open = new Set<number>()
  const closed = new Set<number>()
  const ids = new Set<string>()
  for (const one of events) {
    if (one.type === 'part-open' && open.size === open.add(one.index).size)
      problems.push(`part ${one.index} opened twice`)
    if (one.type === 'part-delta' && (!open.has(one.index) || closed.has(one.index)))
      problems.push(`a delta for part ${one.index}, which is not open`)
    if (one.type !== 'part-close') continue
    if (!open.has(one.index)) problems.push(`part ${one.index} closed, but never opened`)
    if (closed.size === closed.add(one.index).size) problems.push(`part ${one.index} closed twice`)
    if (one.part.kind === 'call' && ids.size === ids.add(one.part.id).size)
      problems.push(`two calls have the id ${one.part.id}`)
  }
  return problems
}

function spelled(name: string, input: unknown): string {
  return `${name} ${toCanonicalJson(input)}`
}

/** What is left of a list when another one is taken away from it, one by one. */
function without(items: readonly string[], taken: readonly string[]): string[] {
  const rest = [...taken]
  return items.filter((item) => {
    const at = rest.indexOf(item)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}

const KEY = 'MutationKey000000001'
