import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import { fold } from '../../src/model/fold.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { Wire } from '../../src/wire/wire.ts'

/** A body with one member that no reader knows: a field, an element of a list, or another form of a value. */
export interface UnknownMember {
  /** Where it was added, such as `input.0.content.1.x_unk7`. */
  readonly path: string
  /** It is part of the name of a field or type, and of its value, and occurs nowhere else. */
  readonly marker: string
  readonly body: JsonObject
}

/** What a wire's bodies have that must not be changed, and what may have another form. */
export interface UnknownMemberRules {
  /** The names of fields whose content is not the API's: schemas, arguments, metadata. */
  readonly opaque: readonly string[]
  /** The names of fields of which the API may add a form, such as `tool_choice`. */
  readonly variants?: readonly string[]
}

/** The body once for each place and kind: unknown fields at every level, unknown elements of every list of objects. */
export function listUnknownMembers(body: JsonObject, rules: UnknownMemberRules): UnknownMember[] {
  const members: UnknownMember[] = []
  const opaque = new Set(rules.opaque)
  const variants = new Set(rules.variants)

  function add(path: readonly string[], name: string, create: (marker: string) => (holder: Json) => void): void {
    const marker = `unk${members.length}q`
    const copy = structuredClone(body)
    create(marker)(findValue(copy, path))
    members.push({ path: [...path, name.replace('#', marker)].join('.'), marker, body: copy })
  }

  function visit(value: Json, path: readonly string[]): void {
    if (Array.isArray(value)) {
      if (value.some(isObject))
        for (const at of new Set([0, value.length]))
          for (const element of LIST_ELEMENTS)
            add(path, `${at}=#`, (marker) => (list) => void (list as Json[]).splice(at, 0, element(marker)))
      for (const [at, one] of value.entries()) visit(one, [...path, String(at)])
      return
    }
    if (!isObject(value)) return
    for (const field of FIELD_VALUES)
      add(
        path,
        'x_#',
        (marker) => (object) => void Object.assign(object as JsonObject, { [`x_${marker}`]: field(marker) }),
      )
    for (const [name, inner] of Object.entries(value)) {
      if (variants.has(name))
        add(path, `${name}=#`, (marker) => (object) => {
          Object.assign(object as JsonObject, { [name]: { type: `x_${marker}`, x_form: marker } })
        })
      if (!opaque.has(name)) visit(inner, [...path, name])
    }
  }

  visit(body, [])
  return members
}

/** The body once for each field with a value of each wrong type, and for each list with one more element that is no object. */
export function listWrongValues(body: JsonObject, rules: UnknownMemberRules): UnknownMember[] {
  const members: UnknownMember[] = []
  const opaque = new Set(rules.opaque)

  function add(path: readonly string[], change: (holder: Json, marker: string) => void): void {
    const marker = `unk${members.length}q`
    const copy = structuredClone(body)
    change(findValue(copy, path.slice(0, -1)), marker)
    members.push({ path: `${path.join('.')}=${marker}`, marker, body: copy })
  }

  function visit(value: Json, path: readonly string[]): void {
    const name = path.at(-1) ?? ''
    for (const { is, create } of path.length === 0 ? [] : WRONG_VALUES)
      if (!is(value)) add(path, (holder, marker) => void ((holder as JsonObject)[name] = create(marker)))
    if (opaque.has(name)) return
    if (Array.isArray(value)) {
      add([...path, String(value.length)], (list, marker) => void (list as Json[]).push(marker))
      for (const [at, one] of value.entries()) visit(one, [...path, String(at)])
    } else if (isObject(value)) for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key])
  }

  visit(body, [])
  return members
}

const WRONG_VALUES: readonly { is: (value: Json) => boolean; create: (marker: string) => Json }[] = [
  { is: (value) => typeof value === 'string', create: (marker) => marker },
  { is: isObject, create: (marker) => ({ [`x_${marker}`]: marker }) },
  { is: Array.isArray, create: (marker) => [marker] },
]

/**
 * What became of an unknown member when a request was read and written again: it is in the new body, a warning names it, or
 * it was dropped in silence.
 */
export function traceUnknownMember(
  wire: Wire,
  { body, marker }: UnknownMember,
  profile: Profile = wire.profile,
): 'kept' | 'warned' | 'dropped' {
  const { request, warnings } = wire.readRequest(body)
  const encoded = wire.encodeRequest(request, profile)
  if (JSON.stringify(encoded.body).includes(marker)) return 'kept'
  const isNamed = [...warnings, ...encoded.warnings].some(({ message }) => message.includes(marker))
  return isNamed ? 'warned' : 'dropped'
}

/**
 * The same for a response, whole or as the frames of a stream. It is kept if the decoded turn has it and it is written again;
 * `unwritten` is what only the turn has.
 */
export function traceUnknownInResponse(
  wire: Wire,
  frames: readonly JsonObject[],
  marker: string,
  form: 'whole' | 'stream',
): 'kept' | 'unwritten' | 'warned' | 'dropped' {
  const state = wire.startDecoding({ turnKey: 'k', profile: wire.profile, tools: [] })
  const events = [
    ...frames.flatMap((value) => wire.decodeFrame(state, { kind: 'json', value })),
    ...(form === 'whole' ? wire.decodeFrame(state, { kind: 'complete' }) : []),
    ...wire.finishDecoding(state),
  ]
  const { turn, warnings } = fold(events, { provider: wire.id, wire: wire.id, model: 'm' })
  if (JSON.stringify(warnings).includes(marker)) return 'warned'
  if (!JSON.stringify(turn).includes(marker)) return 'dropped'
  const head = { id: 'r', model: 'm', created: 1, request: RESPONSE_REQUEST }
  const writer = wire.responseWriter
  const stream = writer.startStream(head)
  const written = form === 'whole' ? writer.writeWhole(turn, head) : events.flatMap((event) => stream.write(event))
  return JSON.stringify(written).includes(marker) ? 'kept' : 'unwritten'
}

/** It asks for everything that a response can have. */
const RESPONSE_REQUEST: JsonObject = {
  stream_options: { include_usage: true },
  include: ['reasoning.encrypted_content'],
}

const FIELD_VALUES: readonly ((marker: string) => Json)[] = [
  (marker) => marker,
  (marker) => ({ type: 'x', deep: [marker] }),
  (marker) => [{ type: 'x', text: marker }],
]

/** Elements of a list that a later version of the API might have: with a type, with a role, and with one named field. */
const LIST_ELEMENTS: readonly ((marker: string) => JsonObject)[] = [
  (marker) => ({ type: `x_${marker}`, value: marker }),
  (marker) => ({ type: `x_${marker}`, id: 'x_1', text: marker, name: `x_${marker}` }),
  (marker) => ({ type: `x_${marker}`, role: 'user', content: marker }),
  (marker) => ({ [`x_${marker}`]: { value: marker } }),
]

function findValue(body: JsonObject, path: readonly string[]): Json {
  return path.reduce<Json>((value, key) => (value as JsonObject)[key] ?? null, body)
}
