import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import type { AssistantPart, CallFlaw, CallPart, MediaPart, ResultPart, TextPart } from '../../model/turn.ts'
import { formatExcerpt } from '../unread-fields.ts'
import { type FieldReader, openFields } from './field-reader.ts'

/** A call that has no result so far. */
interface OpenCall {
  /** As the conversation has it. */
  readonly plainId: string | undefined
  readonly call: CallPart
}

/** Reads the parts of all messages of one conversation: results refer to calls before them. */
export function createPartReader(warnings: Warning[]) {
  let open: OpenCall[] = []
  let calls = 0

  function openPart(part: unknown, place: string): FieldReader {
    return openFields(part, place, warnings)
  }

  function readAll<P>(list: readonly unknown[], place: string, read: (fields: FieldReader) => P): P[] {
    return list.map((part, at) => {
      const fields = openPart(part, `${place}, part ${at}`)
      const found = read(fields)
      fields.close()
      return found
    })
  }

  function readContentPart(fields: FieldReader): TextPart | MediaPart {
    const type = fields.json('type')
    switch (type) {
      case 'text':
        return { kind: 'text', text: requireText(fields, 'text'), ...readTextMarks(fields) }
      case 'media':
        return {
          kind: 'media',
          mime: fields.text('mime') || 'application/octet-stream',
          ...defined({ data: fields.text('data'), uri: fields.text('uri') }),
          ...defined({ name: fields.text('name'), native: fields.native() }),
        }
      case 'item': {
        const kind = fields.text('kind') ?? 'native'
        const marks = readTextMarks(fields)
        if (!marks.native) warn(fields, `the item ${kind} has no native data and was left out`)
        return { kind: 'text', text: '', ...marks }
      }
      default:
        throw new Error(`${fields.place} cannot be of the type ${formatExcerpt(type)} in this message`)
    }
  }

  function readTextMarks(fields: FieldReader): Pick<TextPart, 'refusal' | 'name' | 'native'> {
    return defined({ refusal: fields.flag('refusal'), name: fields.text('name'), native: fields.native() })
  }

  function warn({ place }: FieldReader, text: string): void {
    warnings.push({ code: 'not-kept', message: `${place}: ${text}` })
  }

  function readAssistantPart(fields: FieldReader): AssistantPart {
    const type = fields.json('type')
    if (type !== 'reasoning' && type !== 'call') return readContentPart(fields)
    const part: AssistantPart =
      type === 'reasoning'
        ? { kind: 'reasoning', text: fields.text('text') ?? '', ...defined({ native: fields.native() }) }
        : readCall(fields, () => `call${calls++}`)
    if (fields.flag('opaque') && !part.native)
      warn(fields, `the opaque data of this ${type} is not in the conversation`)
    return part
  }

  function readResult(fields: FieldReader): ResultPart {
    const type = fields.json('type')
    if (type !== 'result')
      throw new Error(`${fields.place} cannot be of the type ${formatExcerpt(type)}: a tool message has only results`)
    const id = nonBlankString(fields.text('id'))
    const ownId = fields.text('ownId')
    const name = fields.text('name')
    const isAnswered = ({ plainId, call }: OpenCall) => {
      if (ownId !== undefined) return call.id === ownId
      return id !== undefined ? plainId === id : name === undefined || call.name === name
    }
    const at = open.findIndex(isAnswered)
    const call = at < 0 ? undefined : open.splice(at, 1)[0]?.call
    const error = fields.fields('errorDetails')
    const result: ResultPart = {
      kind: 'result',
      id: ownId ?? call?.id ?? id ?? '',
      name: name ?? call?.name ?? '',
      status: fields.choice('status', STATUSES) ?? (fields.flag('error') ? 'error' : 'ok'),
      ...readOutput(fields),
      ...defined({ display: fields.json('display') }),
      ...(error && { error: { message: requireText(error, 'message'), ...defined({ type: error.text('type') }) } }),
      ...defined({ foundTools: fields.texts('foundTools'), native: fields.native() }),
    }
    fields.flag('error')
    error?.close()
    return result
  }

  function readOutput(fields: FieldReader): Pick<ResultPart, 'content' | 'data'> {
    const output = fields.json('output')
    const content = fields.list('content')
    const data = fields.json('data')
    if (content) return { content: readAll(content, `${fields.place}, content`, readContentPart), ...defined({ data }) }
    if (output === undefined) throw new Error(`${fields.place}: a result needs an output`)
    if (typeof output === 'string') return { content: [{ kind: 'text', text: output }] }
    return { content: [], data: output }
  }

  return {
    readContent: (list: readonly unknown[], place: string) => readAll(list, place, readContentPart),
    /** The text of a note. */
    readTexts: (list: readonly unknown[], place: string): string =>
      readAll(list, place, (fields) => {
        if (fields.json('type') !== 'text') throw new Error(`${fields.place}: a note consists of text only`)
        return requireText(fields, 'text')
      }).join('\n'),
    readAssistant(list: readonly unknown[], place: string): AssistantPart[] {
      open = []
      return readAll(list, place, (fields) => {
        const part = readAssistantPart(fields)
        if (part.kind === 'call') open.push({ plainId: nonBlankString(fields.text('id')) ?? part.id, call: part })
        return part
      })
    },
    readResults: (list: readonly unknown[], place: string) => readAll(list, place, readResult),
  }
}

const STATUSES = ['ok', 'error', 'denied', 'cancelled', 'interrupted'] as const satisfies ResultPart['status'][]

function requireText(fields: FieldReader, name: string): string {
  const text = fields.text(name)
  if (text === undefined) throw new Error(`${fields.place}: ${name} is missing`)
  return text
}

function readCall(fields: FieldReader, newId: () => string): CallPart {
  const args = fields.json('args') ?? {}
  if (typeof args !== 'string' && !isObject(args))
    throw new Error(`${fields.place}: args must be an object or a string, not ${formatExcerpt(args)}`)
  const flaw = fields.fields('flaw')
  const call: CallPart = {
    kind: 'call',
    id: fields.text('ownId') ?? nonBlankString(fields.text('id')) ?? newId(),
    name: requireText(fields, 'name'),
    raw: fields.text('raw') ?? toArgumentText(args),
    ...(typeof args !== 'string' && { input: objectOrEmpty(args) as JsonObject }),
    ...defined({ freeform: fields.flag('freeform') }),
    ...(flaw && { flaw: readFlaw(flaw) }),
    ...defined({ native: fields.native() }),
  }
  fields.text('id')
  flaw?.close()
  return call
}

function toArgumentText(args: Json): string {
  return typeof args === 'string' ? args : JSON.stringify(args)
}

function readFlaw(fields: FieldReader): CallFlaw {
  return { code: fields.choice('code', FLAWS) ?? 'not-json', message: fields.text('message') ?? '' }
}

const FLAWS = [
  'unfinished',
  'not-json',
  'not-object',
  'unnamed',
  'ambiguous',
  'forbidden',
] as const satisfies CallFlaw['code'][]
