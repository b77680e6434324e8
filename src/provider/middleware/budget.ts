import type { TurnEvent } from '../../model/event.ts'
import type { ModelRequest } from '../../model/request.ts'
import { formatResultText } from '../../model/text.ts'
import type { ModelOrigin, Part, Turn } from '../../model/turn.ts'
import { addUsage, NO_USAGE, sumTokens, type Usage } from '../../model/usage.ts'
import type { Model, RequestOptions } from '../model.ts'
import { wrapModel } from './wrap-model.ts'

interface BudgetLimit {
  /** All tokens, input and output, cached or not. */
  readonly tokens?: number
  /** In US dollars. */
  readonly money?: number
}

/** What has been spent, in US dollars, kept outside of this process. */
export interface SpendingRecord {
  read(): number
  add(dollars: number): void
}

/** In US dollars; undefined if the price of the model is unknown. */
type CostCalculator = (origin: ModelOrigin, usage: Usage) => number | undefined

export type BudgetLedger = ReturnType<typeof createBudgetLedger>

/** A budget that several models may share. Requests in progress are reserved until their usage is known. */
export function createBudgetLedger(cap: BudgetLimit, price: CostCalculator, record?: SpendingRecord) {
  let counted = { tokens: 0, money: 0, usage: NO_USAGE }
  const getSpent = () => (record ? { ...counted, money: record.read() } : counted)
  let reserved = { tokens: 0, money: 0 }
  const cost = (origin: ModelOrigin, usage: Usage) => ({ tokens: sumTokens(usage), money: price(origin, usage) ?? 0 })
  const refuse = (problem: string) => ({ problem })
  return {
    get spent(): { readonly tokens: number; readonly money: number; readonly usage: Usage } {
      return getSpent()
    },
    reserve(origin: ModelOrigin, estimate: Usage) {
      if (cap.money !== undefined && price(origin, estimate) === undefined)
        return refuse(`The price of ${origin.provider}/${origin.model} is unknown, so a cost limit cannot be enforced.`)
      const spent = getSpent()
      const reservedCost = cost(origin, estimate)
      const { tokens, money } = addCosts(spent, reserved, reservedCost)
      if (cap.tokens !== undefined && tokens > cap.tokens) {
        const status = `${spent.tokens} of ${cap.tokens} tokens are spent`
        return refuse(`The budget is not sufficient: ${status}, and this request may use ${reservedCost.tokens}.`)
      }
      if (cap.money !== undefined && money > cap.money) {
        const status = `${formatDollars(spent.money)} of ${formatDollars(cap.money)} are spent`
        const more = formatDollars(reservedCost.money)
        return refuse(`The budget is not sufficient: ${status}, and this request may cost ${more}.`)
      }
      let open = true
      const released = { tokens: -reservedCost.tokens, money: -reservedCost.money }
      reserved = addCosts(reserved, reservedCost)
      return {
        /** Would this usage fit in place of the reserved amount? */
        fits(answeringOrigin: ModelOrigin, usage: Usage): boolean {
          const sum = addCosts(reserved, released, getSpent(), cost(answeringOrigin, usage))
          return sum.tokens <= (cap.tokens ?? Infinity) && sum.money <= (cap.money ?? Infinity)
        },
        /** Books a usage; more may follow. */
        spend(answeringOrigin: ModelOrigin, usage: Usage): void {
          const added = cost(answeringOrigin, usage)
          counted = { ...addCosts(counted, added), usage: addUsage(counted.usage, usage) }
          record?.add(added.money)
        },
        /** Releases what is left of the reservation. */
        close(): void {
          if (open) reserved = addCosts(reserved, released)
          open = false
        },
      }
    },
  }
}

type Cost = Record<'tokens' | 'money', number>

function addCosts(...costs: readonly Cost[]): Cost {
  return costs.reduce((sum, one) => ({ tokens: sum.tokens + one.tokens, money: sum.money + one.money }))
}

/** Rejects a request that may exceed the budget before it is sent, and books the usage of each attempt. */
export function withBudget(inner: Model, ledger: BudgetLedger | (() => Promise<BudgetLedger>)): Model {
  return wrapModel(inner, (request, options) => streamWithBudget(inner, ledger, request, options))
}

async function* streamWithBudget(
  inner: Model,
  ledgerOrLoad: BudgetLedger | (() => Promise<BudgetLedger>),
  request: ModelRequest,
  options: RequestOptions,
): AsyncGenerator<TurnEvent> {
  const estimate = estimateUsage(request)
  const ledger = typeof ledgerOrLoad === 'function' ? await ledgerOrLoad() : ledgerOrLoad
  const reservation = ledger.reserve(inner.origin, estimate)
  if ('problem' in reservation) {
    const { problem: message } = reservation
    yield { type: 'finish', reason: 'fault', fault: { kind: 'quota', code: 'budget', message } }
    return
  }
  let answeringOrigin = inner.origin
  let usage: Usage | undefined
  let written = 0
  let counted = estimate.output * CHARS_PER_TOKEN
  const recordUsage = (): void => {
    // An interrupted response reports no usage, but its text is billed.
    if (usage ?? written > 0)
      reservation.spend(answeringOrigin, usage ?? { ...estimate, output: Math.ceil(written / CHARS_PER_TOKEN) })
    usage = undefined
    written = 0
  }
  try {
    for await (const event of inner.stream(request, options)) {
      if (event.type === 'usage') usage = event.usage
      else if (event.type === 'part-delta') {
        written += event.text.length
        if (written > counted) {
          counted = written + RECHECK_CHARS
          // A response may exceed its reservation as long as the budget allows it.
          if (!reservation.fits(answeringOrigin, { ...estimate, output: Math.ceil(written / CHARS_PER_TOKEN) })) {
            const message = 'The budget is used up, so the response was stopped.'
            yield { type: 'finish', reason: 'fault', fault: { kind: 'quota', code: 'budget', message } }
            return
          }
        }
      } else if (event.type === 'open') {
        if (event.anew) recordUsage()
        answeringOrigin = event.origin ?? answeringOrigin
      }
      yield event
    }
  } finally {
    recordUsage()
    reservation.close()
  }
}

/** An average for English and code. */
const CHARS_PER_TOKEN = 4

const RECHECK_CHARS = 2000

/** An image costs about as much as this much text. */
const MEDIA_CHARS = 6000

/** Reserved for a response without a limit. */
const DEFAULT_OUTPUT_TOKENS = 4096

/** Estimates usage from the length of the text; the response counts with its limit. */
export function estimateUsage(request: ModelRequest): Usage {
  let letters = (request.system?.length ?? 0) + countToolChars(request.tools)
  for (const turn of request.turns) letters += countTurnChars(turn)
  return {
    ...NO_USAGE,
    input: Math.ceil(letters / CHARS_PER_TOKEN),
    output: request.params?.maxTokens ?? DEFAULT_OUTPUT_TOKENS,
  }
}

/** Tools and turns stay the same objects, so each is counted once. */
const CHAR_COUNTS = new WeakMap<object, number>()

function countToolChars(tools: ModelRequest['tools']): number {
  return getCachedCount(tools, () =>
    tools.reduce(
      (sum, { name, description, schema }) => sum + name.length + description.length + JSON.stringify(schema).length,
      0,
    ),
  )
}

function countTurnChars(turn: Turn): number {
  return getCachedCount(turn, () =>
    turn.role === 'note' ? turn.text.length : turn.parts.reduce((sum, part) => sum + countPartChars(part), 0),
  )
}

function getCachedCount(counted: object, count: () => number): number {
  const cachedCount = CHAR_COUNTS.get(counted) ?? count()
  CHAR_COUNTS.set(counted, cachedCount)
  return cachedCount
}

function countPartChars(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text.length
    case 'media':
      return MEDIA_CHARS
    case 'call':
      return part.name.length + part.raw.length
    case 'result':
      return formatResultText(part).length
    default:
      return part satisfies never
  }
}

function formatDollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}
