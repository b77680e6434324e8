import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { type Asked, textsOf } from './asked.ts'
import type { From, Step } from './script.ts'

/** The named values that stand in a text as `{name}`. */
export type Values = Readonly<Record<string, string>>

/** Puts values into a text. Only names that are known are replaced, so that code keeps its braces; `{{name}}` is `{name}`. */
export function fillText(text: string, values: Values): string {
  return text.replaceAll(/\{(\{?)(\w+)\}(\}?)/g, (whole, open: string, name: string, close: string) => {
    if (!Object.hasOwn(values, name)) return whole
    if (open !== '' && close !== '') return `{${name}}`
    return `${open}${values[name] ?? ''}${close}`
  })
}

/** Puts values into every string of some arguments, and what is taken from the request into its places. */
export function fillArguments(args: JsonObject, values: Values, asked: Asked): JsonObject {
  return filled(args, values, asked) as JsonObject
}

/** Adds the values that a step takes from the request. */
export function takenValues(take: Readonly<Record<string, From>>, values: Values, asked: Asked): Values {
  const found = Object.entries(take).map(([name, from]) => {
    const value = taken(from, asked) ?? ''
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const
  })
  return { ...values, ...Object.fromEntries(found) }
}

function filled(value: Json, values: Values, asked: Asked): Json {
  if (typeof value === 'string') return fillText(value, values)
  if (Array.isArray(value)) return value.map((item) => filled(item, values, asked))
  if (!isObject(value)) return value
  if (typeof value['$from'] === 'string') return taken(value as unknown as From, asked) ?? ''
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, values, asked)]))
}

/** Says what a step wants to take from a request that does not hold it. */
export function missing(step: Step, asked: Asked): string | undefined {
  const wanted = [...Object.values(step.take ?? {}), ...(step.call ?? []).flatMap(({ args = {} }) => wantedIn(args))]
  const absent = wanted.find((from) => taken(from, asked) === undefined)
  return (
    absent && `Nothing in the text of the ${absent.$from} matches /${absent.match}/, which the script takes from it.`
  )
}

function wantedIn(value: Json): From[] {
  if (Array.isArray(value)) return value.flatMap(wantedIn)
  if (!isObject(value)) return []
  return typeof value['$from'] === 'string' ? [value as unknown as From] : Object.values(value).flatMap(wantedIn)
}

function taken(from: From, asked: Asked): Json | undefined {
  const found = new RegExp(from.match, 'm').exec(textsOf(asked.request())[from.$from])
  return found ? (found[1] ?? found[0]) : from.else
}
