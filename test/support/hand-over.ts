import { isObject, toCanonicalJson, tryParseJson, type Json, type JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import { formatResultText, toWellFormedJson } from '../../src/model/text.ts'
import type { CallPart, ResultPart } from '../../src/model/turn.ts'
import { declareToolsForProfile } from '../../src/wire/declare-tools.ts'
import type { Wire } from '../../src/wire/wire.ts'

/** What must be the same on every wire: who called what with which arguments, and what came back. */
export interface Exchange {
  readonly name: string
  /** Absent if the arguments were not valid. */
  readonly input?: JsonObject
  /** Absent if the call has no result. */
  readonly result?: ResultPart
}

/** What a wire makes of a request: encoded for it, and read back. */
export function passThrough(request: ModelRequest, wire: Wire): ModelRequest {
  return wire.readRequest(wire.encodeRequest(request, wire.profile).body).request
}

/** The calls of a conversation in order, each with its result. */
export function listExchanges({ turns }: ModelRequest): Exchange[] {
  const results = new Map<string, ResultPart[]>()
  for (const turn of turns)
    if (turn.role === 'results')
      for (const part of turn.parts) results.set(part.id, [...(results.get(part.id) ?? []), part])
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  return calls.filter(isNamedCall).map(({ id, name, input }) => {
    const result = results.get(id)?.shift()
    return { name, ...(input && { input }), ...(result && { result }) }
  })
}

function isNamedCall(part: { readonly kind: string }): part is CallPart {
  return part.kind === 'call' && (part as CallPart).name !== ''
}

/** Would the wire rename a tool or a parameter of the request? Then the names on it are others, and lead back. */
export function isRenamed(request: ModelRequest, wire: Wire): boolean {
  const declarations = declareToolsForProfile(request.tools, wire.profile)
  const calls = listExchanges(request)
  return (
    [...request.tools, ...calls].some(({ name }) => declarations.toWireName(name) !== name) ||
    calls.some(({ name, input = {} }) => !isSame(declarations.toWireArguments(name, input), input))
  )
}

/** What a wire must make of the calls: its own names, and nothing else changed. */
export function toWireExchanges(request: ModelRequest, wire: Wire): Exchange[] {
  const declarations = declareToolsForProfile(request.tools, wire.profile)
  return listExchanges(request).map(({ name, input, result }) => ({
    name: declarations.toWireName(name),
    ...(input && { input: declarations.toWireArguments(name, input) }),
    ...(result && { result }),
  }))
}

/** Sentences about what is not the same; none if all is well. */
export function describeDifferences(expected: readonly Exchange[], found: readonly Exchange[]): string[] {
  const differences = expected.flatMap((call, at) => {
    const other = found[at]
    if (!other) return [`call ${at} (${call.name}) is lost`]
    return [
      ...(other.name === call.name ? [] : [`call ${at}: ${call.name} became ${other.name}`]),
      ...(call.input === undefined || isSame(toWellFormedJson(call.input), other.input ?? null)
        ? []
        : [`call ${at} (${call.name}): ${JSON.stringify(call.input)} became ${JSON.stringify(other.input)}`]),
      ...describeResult(call.result, other.result).map((text) => `call ${at} (${call.name}): ${text}`),
    ]
  })
  return found.length > expected.length
    ? [...differences, `${found.length - expected.length} calls too many`]
    : differences
}

function describeResult(expected: ResultPart | undefined, found: ResultPart | undefined): string[] {
  if (!expected) return []
  if (!found) return ['its result is lost']
  const [before, after] = [toComparableText(expected), toComparableText(found)]
  // Where a wire has no mark for errors, a word says it.
  const isEqual = expected.status === 'ok' ? after === before : after.includes(before)
  return isEqual ? [] : [`the result ${before.slice(0, 300)} became ${after.slice(0, 300)}`]
}

/** A structured result is JSON text on wires that have only text; text is wrapped on wires that have only objects. */
function toComparableText(result: ResultPart): string {
  return unwrapText(result.data ?? formatResultText(result))
}

function unwrapText(value: Json): string {
  if (typeof value === 'string') {
    const parsed = tryParseJson(value) as Json | undefined
    return isObject(parsed) || Array.isArray(parsed) ? unwrapText(parsed) : value
  }
  const [only, ...others] = isObject(value) ? Object.entries(value) : []
  if (only && others.length === 0 && (only[0] === 'output' || only[0] === 'error')) return unwrapText(only[1])
  return toCanonicalJson(value)
}

function isSame(one: Json, other: Json): boolean {
  return toCanonicalJson(one) === toCanonicalJson(other)
}
