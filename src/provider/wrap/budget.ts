import type { TurnEvent } from '../../model/event.ts'
import type { Request } from '../../model/request.ts'
import { resultText } from '../../model/text.ts'
import type { Origin, Part, Turn } from '../../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { ModelPort, Sending } from '../port.ts'
import { wrapped } from './wrapped.ts'

/** How much may be spent. */
export interface Cap {
  /** All tokens together, read and written, cached or not. */
  readonly tokens?: number
  /** In US dollars. */
  readonly money?: number
}

/** What a usage costs in US dollars; undefined where the price of the model is not known. */
export type Price = (origin: Origin, usage: Usage) => number | undefined

/** A budget. Several ports may share one; what is under way is set aside until it is known what it took. */
export interface Ledger {
  readonly spent: { readonly tokens: number; readonly money: number; readonly usage: Usage }
  /** Sets an amount aside, or says why it cannot. */
  reserve(origin: Origin, estimate: Usage): Reservation | { readonly problem: string }
}

/** An amount that was set aside. */
export interface Reservation {
  /** Would this much still fit, in place of the amount that was set aside? */
  fits(origin: Origin, usage: Usage): boolean
  /** Replaces the amount by what was used; more may follow. */
  spend(origin: Origin, usage: Usage): void
  /** Gives back what is left. */
  close(): void
}

/** Starts a budget. */
export function startLedger(cap: Cap, price: Price): Ledger {
  let spent = { tokens: 0, money: 0, usage: NO_USAGE }
  let reserved = { tokens: 0, money: 0 }
  const cost = (origin: Origin, usage: Usage) => ({ tokens: total(usage), money: price(origin, usage) ?? 0 })
  return {
    get spent() {
      return spent
    },
    reserve(origin, estimate) {
      if (cap.money !== undefined && price(origin, estimate) === undefined)
        return {
          problem: `The price of ${origin.provider}/${origin.model} is not known, so no limit in money can hold.`,
        }
      const aside = cost(origin, estimate)
      const tokens = spent.tokens + reserved.tokens + aside.tokens
      const money = spent.money + reserved.money + aside.money
      if (cap.tokens !== undefined && tokens > cap.tokens)
        return {
          problem: `The budget does not reach: ${spent.tokens} of ${cap.tokens} tokens are spent, and this request may take ${aside.tokens}.`,
        }
      if (cap.money !== undefined && money > cap.money)
        return {
          problem: `The budget does not reach: ${dollars(spent.money)} of ${dollars(cap.money)} are spent, and this request may cost ${dollars(aside.money)}.`,
        }
      let open = true
      reserved = { tokens: reserved.tokens + aside.tokens, money: reserved.money + aside.money }
      return {
        fits(maker, usage) {
          const taken = cost(maker, usage)
          const others = { tokens: reserved.tokens - aside.tokens, money: reserved.money - aside.money }
          return (
            spent.tokens + others.tokens + taken.tokens <= (cap.tokens ?? Infinity) &&
            spent.money + others.money + taken.money <= (cap.money ?? Infinity)
          )
        },
        spend(maker, usage) {
          const used = cost(maker, usage)
          spent = {
            tokens: spent.tokens + used.tokens,
            money: spent.money + used.money,
            usage: addUsage(spent.usage, usage),
          }
        },
        close() {
          if (open) reserved = { tokens: reserved.tokens - aside.tokens, money: reserved.money - aside.money }
          open = false
        },
      }
    },
  }
}

/** Refuses a request that may not fit into the budget, before it is sent; and books what each attempt took. */
export function budget(inner: ModelPort, ledger: Ledger | (() => Promise<Ledger>)): ModelPort {
  return wrapped(inner, (request, sending) => ask(inner, ledger, request, sending))
}

async function* ask(
  inner: ModelPort,
  given: Ledger | (() => Promise<Ledger>),
  request: Request,
  sending: Sending,
): AsyncGenerator<TurnEvent> {
  const estimate = estimated(request)
  const ledger = typeof given === 'function' ? await given() : given
  const reservation = ledger.reserve(inner.origin, estimate)
  if ('problem' in reservation) {
    const { problem: message } = reservation
    yield { type: 'finish', reason: 'fault', fault: { kind: 'quota', code: 'budget', message } }
    return
  }
  let maker = inner.origin
  let usage: Usage | undefined
  let written = 0
  let counted = estimate.output * LETTERS
  const book = (): void => {
    // An answer that broke off tells no numbers, but what it said had to be paid.
    if (usage ?? written > 0) reservation.spend(maker, usage ?? { ...estimate, output: Math.ceil(written / LETTERS) })
    usage = undefined
    written = 0
  }
  try {
    for await (const event of inner.ask(request, sending)) {
      if (event.type === 'usage') usage = event.usage
      else if (event.type === 'part-delta') {
        written += event.text.length
        if (written > counted) {
          counted = written + STRIDE
          // A longer answer than was set aside for goes on only as long as it can be paid for.
          if (!reservation.fits(maker, { ...estimate, output: Math.ceil(written / LETTERS) })) {
            const message = 'The budget is used up: the answer was stopped, because more of it could not be paid for.'
            yield { type: 'finish', reason: 'fault', fault: { kind: 'quota', code: 'budget', message } }
            return
          }
        }
      } else if (event.type === 'open') {
        if (event.anew) book()
        maker = event.origin ?? maker
      }
      yield event
    }
  } finally {
    book()
    reservation.close()
  }
}

/** A token has about this many letters, in English and in code. */
const LETTERS = 4

/** After so many letters the price of an answer is looked at again. */
const STRIDE = 2000

/** A picture costs about as much as this much text. */
const MEDIA_LETTERS = 6000

/** What is set aside for an answer whose length nobody has limited. */
const ORDINARY_ANSWER = 4096

/** What a request will take, by the length of its text; the answer counts with its limit, if it has one. */
export function estimated(request: Request): Usage {
  let letters = (request.system?.length ?? 0) + toolLetters(request.tools)
  for (const turn of request.turns) letters += turnLetters(turn)
  return { ...NO_USAGE, input: Math.ceil(letters / LETTERS), output: request.params?.maxTokens ?? ORDINARY_ANSWER }
}

/** What was counted once is not counted again: tools and turns stay the same objects. */
const COUNTED = new WeakMap<object, number>()

function toolLetters(tools: Request['tools']): number {
  return remembered(tools, () =>
    tools.reduce(
      (sum, { name, description, schema }) => sum + name.length + description.length + JSON.stringify(schema).length,
      0,
    ),
  )
}

function turnLetters(turn: Turn): number {
  return remembered(turn, () =>
    turn.role === 'note' ? turn.text.length : turn.parts.reduce((sum, part) => sum + lettersOf(part), 0),
  )
}

function remembered(counted: object, count: () => number): number {
  const known = COUNTED.get(counted) ?? count()
  COUNTED.set(counted, known)
  return known
}

function lettersOf(part: Part): number {
  if (part.kind === 'call') return part.name.length + part.raw.length
  if (part.kind === 'result') return resultText(part).length
  return part.kind === 'media' ? MEDIA_LETTERS : part.text.length
}

function total({ input, cacheRead, cacheWrite, output, reasoning }: Usage): number {
  return input + cacheRead + cacheWrite + output + reasoning
}

function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}
