import type { JsonObject } from '../../model/json.ts'
import { closerAt, mayClose } from './closer.ts'
import type { Dialect } from './dialect.ts'
import { openerAt, SPOT, wordTail } from './opener.ts'
import { startQuote } from './quote.ts'

/** A tool as the scanner knows it. */
export interface Declared {
  readonly name: string
  readonly schema: JsonObject
}

/** A call of a declared tool. */
export interface Found {
  readonly name: string
  readonly raw: string
  readonly dialect: string
}

/** What a whole text turned out to be. */
export interface Outcome {
  /** What was not given back yet. */
  readonly rest: string
  /** The part of it before the calls. */
  readonly before: string
  /** The calls at the end of the text. */
  readonly found: readonly Found[]
  /** Why there is markup but none of it counts. */
  readonly why?: string
  /** The fence that ends the text. */
  readonly fence?: { readonly info: string; readonly body: string }
}

/** Looks for calls in a text that comes in pieces. */
export interface Scan {
  push(text: string): string
  end(): Outcome
}

/**
 * Starts a scan. It is all or nothing: calls count only if they stand unquoted at the end of the text, one after the
 * other, each readable without doubt and each of a declared tool. As soon as that cannot be any more, all text goes
 * through. Every step depends only on the text so far, never on how it was cut into pieces.
 */
export function startScan(tools: readonly Declared[]): Scan {
  const quote = startQuote()
  const found: Found[] = []
  let pending = ''
  /** Up to here, pending is judged. */
  let at = 0
  /** Where the calls begin. */
  let start: number | undefined
  let why: string | undefined
  /** Do not look again before there is this much: reading a long call from its start at each piece would be quadratic. */
  let enough = 0

  function advance(final: boolean): void {
    while (why === undefined && at < pending.length) {
      if (!(start === undefined ? overProse(final) : overTail(final))) break
    }
    const waiting = pending.length - at
    enough = waiting > PATIENCE ? pending.length + waiting : 0
  }

  /** One step through prose; false if more text is needed. */
  function overProse(final: boolean): boolean {
    SPOT.lastIndex = at
    const hit = SPOT.exec(pending)
    const spot = hit ? hit.index : final ? pending.length : wordTail(pending, at)
    quote.pass(pending, at, spot)
    at = spot
    if (!hit) return false
    if (hit[0] === '\n') {
      quote.newline()
      at++
      return true
    }
    if (hit[0] === '`' || hit[0] === '~') {
      const length = quote.ticks(pending, at, final)
      at += length
      return length > 0
    }
    const dialect = openerAt(pending, at)
    if (dialect === 'partial' && !final) return false
    if (dialect === undefined || dialect === 'partial') return step()
    const quoted = quote.quoted(pending, at, final)
    if (quoted === undefined) return false
    return quoted ? step() : read(dialect, final)
  }

  /** One step through what follows a call: more calls, and what closes them. */
  function overTail(final: boolean): boolean {
    const dialect = openerAt(pending, at)
    if (dialect === 'partial' && !final) return false
    const length = closerAt(pending, at)
    at += length
    if (length > 0) return true
    if (dialect !== undefined && dialect !== 'partial') return read(dialect, final)
    if (!final && mayClose(pending, at)) return false
    why = 'text follows it'
    return true
  }

  function step(): boolean {
    quote.pass(pending, at, at + 1)
    at++
    return true
  }

  function read(dialect: Dialect, final: boolean): boolean {
    const result = dialect.read(pending, at, { final, schema: (name) => declared(tools, name)?.schema })
    if (result.kind === 'open') {
      // What is inside an unfinished call must never be taken for a call itself.
      if (final) why = 'it is not finished'
      return final
    }
    if (result.kind === 'prose') {
      if (start === undefined) return step()
      why = 'text follows it'
      return true
    }
    if (result.kind === 'broken') {
      why = result.why
      return true
    }
    for (const call of result.calls) {
      const tool = declared(tools, call.name)
      if (!tool) why ??= `there is no tool ${call.name}`
      else found.push({ name: tool.name, raw: call.raw, dialect: dialect.id })
    }
    start ??= at
    at = result.end
    return true
  }

  return {
    push(text) {
      if (why !== undefined) return text
      pending += text
      if (pending.length < enough) return ''
      advance(false)
      const shown = why === undefined ? inkEnd(pending, start ?? at) : pending.length
      const out = pending.slice(0, shown)
      pending = pending.slice(shown)
      at -= shown
      enough -= shown
      if (start !== undefined) start -= shown
      return out
    },
    end() {
      advance(true)
      const before = pending.slice(0, inkEnd(pending, start ?? pending.length))
      const fence = quote.lastFence
      return { rest: pending, before, found, ...(why !== undefined && { why }), ...(fence && { fence }) }
    },
  }
}

/** The tool of this name. Some models put the name of a namespace before it. */
export function declared(tools: readonly Declared[], written: string): Declared | undefined {
  const bare = written.replace(/^(?:functions|default_api)\./, '')
  return tools.find(({ name }) => name === written) ?? tools.find(({ name }) => name === bare)
}

/** The end of the last word before a place. The white space after it goes with the markup, if it is markup. */
function inkEnd(text: string, to: number): number {
  let end = to
  while (end > 0 && /\s/.test(text[end - 1] ?? '')) end--
  return end
}

const PATIENCE = 256
