import { defined } from '../../model/defined.ts'
import { toCanonicalJson } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import type { AssistantTurn, CallPart, ResultPart, Turn } from '../../model/turn.ts'
import type { InspectedCall, InspectedExchange } from './inspected-exchange.ts'
import type { InspectedContent, MeasuredResult } from './inspector-source.ts'
import { formatInput } from './list-blocks.ts'

interface CallSources {
  readonly exchange: InspectedExchange
  readonly content: Pick<InspectedContent, 'answer' | 'modelAnswer'>
  /** Later requests of the session, the next one first. */
  readonly later: Iterable<{ readonly exchange: InspectedExchange; readonly content: InspectedContent }>
  /** The results that are known already, by the id of the call. */
  readonly known: ReadonlyMap<string, MeasuredResult>
}

/** The calls of a response, with their results from a later request; also those that were rejected. */
export function listCalls({ exchange, content, later, known }: CallSources): InspectedCall[] {
  const isRescued = exchange.warnings.some(({ code }) => code === 'written-call')
  const calls = listCallParts(content.answer)
  const native = listCallParts(content.modelAnswer ?? content.answer).filter((call) => call.native?.id !== undefined)
  const rejected = listCallParts(content.modelAnswer).filter(
    (call) => isFlawed(call) && !calls.some(({ id, raw }) => id === call.id || raw === call.raw),
  )
  const ends = exchange.started + (exchange.totalMs ?? 0)
  const requests = [...later]
  return [...calls, ...rejected].map((call) => {
    const [id = '', ...others] = listCallKeys(call)
    const keys = [id, ...others]
    const found = requests.find((one) => keys.some((key) => one.content.results.has(key)))
    const measured = known.get(call.id)
    const result = measured?.result ?? keys.map((key) => found?.content.results.get(key)).find((one) => one)
    const text = result && formatResultText(result)
    const flaw = call.flaw?.message ?? (isFlawed(call) ? 'The arguments are not valid.' : undefined)
    return {
      id,
      name: call.name,
      input: formatInput(call).slice(0, MAX_SHOWN_CHARS),
      state: isFlawed(call) ? 'rejected' : (result?.status ?? 'open'),
      ...(isRescued && !native.some((one) => isSameCall(one, call)) && { isRescued }),
      ...defined({ flaw, result: text?.slice(0, MAX_SHOWN_CHARS), resultChars: text?.length }),
      ...(measured === undefined
        ? found && { durationMs: Math.max(0, found.exchange.started - ends), isUpperLimit: true }
        : { durationMs: measured.ms }),
    }
  })
}

const MAX_SHOWN_CHARS = 20_000

function listCallParts(turn: AssistantTurn | undefined): CallPart[] {
  return (turn?.parts ?? []).filter((part) => part.kind === 'call')
}

function isSameCall(one: CallPart, other: CallPart): boolean {
  return one.name === other.name && toCanonicalJson(one.input ?? {}) === toCanonicalJson(other.input ?? {})
}

function isFlawed({ flaw, input }: CallPart): boolean {
  return flaw !== undefined || input === undefined
}

/** By these, results in later requests are found: the vendor's id, or what was called where calls have no ids. */
export function listCallKeys({ id, name, input, native }: CallPart): string[] {
  return [native?.id ?? id, `${name} ${toCanonicalJson(input ?? {})}`]
}

/** The results of a history, by the keys of their calls. */
export function collectResults(turns: readonly Turn[]): Map<string, ResultPart> {
  const keys = new Map<string, readonly string[]>()
  const results = new Map<string, ResultPart>()
  for (const turn of turns) {
    if (turn.role === 'assistant')
      for (const part of turn.parts) if (part.kind === 'call') keys.set(part.id, listCallKeys(part))
    if (turn.role === 'results')
      for (const part of turn.parts) for (const key of keys.get(part.id) ?? [part.id]) results.set(key, part)
  }
  return results
}
