import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { NativeData } from '../../model/turn.ts'
import { isWireId, wireIds } from '../wires.ts'
import { formatExcerpt } from '../unread-fields.ts'
import { defined } from '../../model/defined.ts'

/**
 * Reads the fields of an object that a user may have written. A value of a wrong type is an error with a message for the user;
 * absent and null are the same. `close` warns about the fields that nobody read.
 */
export interface FieldReader {
  /** Such as `message 2, part 0`. */
  readonly place: string
  text(name: string): string | undefined
  number(name: string): number | undefined
  boolean(name: string): boolean | undefined
  /** Undefined unless it is true. */
  flag(name: string): true | undefined
  object(name: string): JsonObject | undefined
  /** The fields of an object inside this one. */
  fields(name: string): FieldReader | undefined
  list(name: string): readonly unknown[] | undefined
  texts(name: string): readonly string[] | undefined
  choice<T extends string>(name: string, values: readonly T[]): T | undefined
  native(): NativeData | undefined
  /** Any value, also null; undefined if the field is absent. */
  json(name: string): Json | undefined
  close(): void
}

export function openFields(value: unknown, place: string, warnings: Warning[]): FieldReader {
  if (!isObject(value)) throw new Error(`${place} must be an object, not ${formatExcerpt(value)}`)
  const fields = value
  const known = new Set<string>()

  function get<T>(name: string, isRight: (found: unknown) => found is T, what: string): T | undefined {
    known.add(name)
    const found = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (found === undefined || found === null) return undefined
    if (!isRight(found)) throw new Error(`${place}: ${name} must be ${what}, not ${formatExcerpt(found)}`)
    return found
  }

  const reader: FieldReader = {
    place,
    text: (name) => get(name, isString, 'a string'),
    number: (name) => get(name, (found) => typeof found === 'number', 'a number'),
    boolean: (name) => get(name, (found) => typeof found === 'boolean', 'true or false'),
    flag: (name) => reader.boolean(name) || undefined,
    object: (name) => get(name, isObject, 'an object') as JsonObject | undefined,
    fields: (name) => {
      const inner = reader.object(name)
      return inner && openFields(inner, `${place}, ${name}`, warnings)
    },
    list: (name) => get(name, (found): found is unknown[] => Array.isArray(found), 'a list'),
    texts: (name) =>
      get(name, (found): found is string[] => Array.isArray(found) && found.every(isString), 'a list of strings'),
    choice: <T extends string>(name: string, values: readonly T[]) =>
      get(name, (found): found is T => (values as readonly unknown[]).includes(found), `one of ${values.join(', ')}`),
    native: () => {
      const native = reader.fields('native')
      return native && readNative(native)
    },
    json: (name) => {
      known.add(name)
      return Object.hasOwn(fields, name) ? (fields[name] as Json) : undefined
    },
    close: () => {
      const unknown = Object.keys(fields).filter((name) => !known.has(name))
      if (unknown.length > 0)
        warnings.push({
          code: 'unknown-fields',
          message: `${place}: the unknown ${unknown.length === 1 ? 'field was' : 'fields were'} left out: ${unknown.join(', ')}`,
        })
    },
  }
  return reader
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function readNative(fields: FieldReader): NativeData {
  const wire = fields.text('wire') ?? ''
  if (!isWireId(wire)) throw new Error(`${fields.place}: wire must be one of ${wireIds.join(', ')}, not “${wire}”`)
  const native = {
    wire,
    signer: fields.text('signer') ?? wire,
    ...defined({ id: fields.text('id'), data: fields.json('data') }),
  }
  fields.close()
  return native
}
