import { isObject } from '../../src/model/json.ts'

/** Takes down that a rule is broken. */
export type Refuse = (rule: string, where?: string) => void

/** Fields of a body. */
export type Fields = Readonly<Record<string, unknown>>

/** The objects of a list; anything else counts as none. */
export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A string that says something. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/** Refuses keys that the service does not know. */
export function onlyKeys(given: Fields, known: string, refuse: Refuse, where: string): void {
  const allowed = new Set(known.split(' '))
  for (const key of Object.keys(given)) if (!allowed.has(key)) refuse(`unknown key ${key}`, where)
}

/** Refuses ids that are illegal or used twice. */
export function uniqueIds(ids: readonly unknown[], legal: RegExp, refuse: Refuse): void {
  const seen = new Set<unknown>()
  for (const id of ids) {
    if (typeof id !== 'string' || !legal.test(id)) refuse('T97 an illegal id', JSON.stringify(id))
    if (seen.has(id)) refuse('T10 an id is used twice', JSON.stringify(id))
    seen.add(id)
  }
}

/** What one vendor takes as the declaration of a tool. */
export interface Declaration {
  readonly name: unknown
  readonly description: unknown
  /** Absent where the vendor has tools without a schema. */
  readonly schema?: unknown
}

/** The rules for declarations that differ from vendor to vendor. */
export interface DeclarationRules {
  readonly names: RegExp
  /** What property keys may look like. */
  readonly keys?: RegExp
  /** How the type of the root is spelt. */
  readonly object: 'object' | 'OBJECT'
}

/** Refuses illegal declarations (T145–T147, T152); gives the names declared. */
export function declarations(given: readonly Declaration[], rules: DeclarationRules, refuse: Refuse): Set<string> {
  const names = new Set<string>()
  if (given.length === 0) refuse('T98 an empty list of tools')
  for (const { name, description, schema } of given) {
    const where = JSON.stringify(name)
    if (typeof name !== 'string' || !rules.names.test(name)) refuse('T145 an illegal name of a tool', where)
    else if (names.has(name)) refuse('T145 two tools of one name', where)
    else names.add(name)
    if (!isText(description)) refuse('T152 no description', where)
    if (schema !== undefined) rootShape(schema, rules, refuse, where)
  }
  return names
}

function rootShape(schema: unknown, rules: DeclarationRules, refuse: Refuse, where: string): void {
  if (!isObject(schema) || schema['type'] !== rules.object) return refuse('T147 the root is no object', where)
  for (const key of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', 'const', '$ref', '$schema'])
    if (Object.hasOwn(schema, key)) refuse(`T147 ${key} in the root`, where)
  if (!isObject(schema['properties'])) return refuse('T147 no properties in the root', where)
  const names = Object.keys(schema['properties'])
  for (const key of names) if (rules.keys?.test(key) === false) refuse('T146 an illegal key', JSON.stringify(key))
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  for (const key of required) if (!names.includes(String(key))) refuse('T129 requires what it does not declare', where)
}

/** A name in the history is legal even if nobody declares it (T104). */
export function historicName(name: unknown, legal: RegExp, refuse: Refuse): void {
  if (typeof name !== 'string' || !legal.test(name)) refuse('T104 an illegal name in the history', JSON.stringify(name))
}

/** The results that follow a turn answer its calls: each once, in order, at once (T88–T92). */
export function paired(calls: readonly unknown[], results: readonly unknown[], refuse: Refuse, where: string): void {
  const [asked, answered] = [JSON.stringify(calls), JSON.stringify(results)]
  if (asked !== answered) refuse(`T88–T92 calls ${asked}, answered ${answered}`, where)
}

/** The names of OpenAI and of everything that calls itself compatible. */
export const OPENAI_NAME = /^[A-Za-z0-9_-]{1,64}$/
