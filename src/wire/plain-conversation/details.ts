import { defined } from '../../model/defined.ts'
import { isObject } from '../../model/json.ts'
import type {
  CompleteConversation,
  ConversationDetails,
  MessageDetails,
  PlainConversation,
  PlainMessage,
  PlainNote,
} from './plain-conversation.ts'

type Fields = Readonly<Record<string, unknown>>

/** The names of the fields that stay where they are. */
const PLAIN_FIELDS = {
  conversation: new Set('system messages tools hostedTools toolChoice params output previous'.split(' ')),
  tool: new Set('name description schema freeform grammar namespace deferred'.split(' ')),
  message: new Set('role parts'.split(' ')),
  part: new Set('type text mime data uri id name args output error kind opaque'.split(' ')),
}

export function separateDetails(conversation: CompleteConversation): PlainConversation {
  const { messages, tools = [], ...rest } = conversation
  const request = split(rest, PLAIN_FIELDS.conversation)
  const splitTools = tools.map((tool) => split(tool, PLAIN_FIELDS.tool))
  const notes: { before: number; note: PlainNote }[] = []
  const shown: PlainMessage[] = []
  const details: (MessageDetails | undefined)[] = []
  for (const message of messages) {
    if (message.note && message.parts.length === 0) {
      notes.push({ before: shown.length, note: message.note })
      continue
    }
    const { plain, others } = split(message, PLAIN_FIELDS.message)
    const parts = message.parts.map(splitPart)
    const ofParts = toIndexed(parts.map((part) => part.others))
    details.push(others || ofParts ? defined({ message: others, parts: ofParts }) : undefined)
    shown.push({ ...plain, parts: parts.map((part) => part.plain) } as unknown as PlainMessage)
  }
  const found: ConversationDetails = defined({
    request: request.others,
    tools: toIndexed(splitTools.map(({ others }) => others)),
    messages: toIndexed(details),
    notes: notes.length > 0 ? notes : undefined,
  })
  const plain = {
    ...request.plain,
    messages: shown,
    ...(tools.length > 0 && { tools: splitTools.map((tool) => tool.plain) }),
    ...(Object.keys(found).length > 0 && { details: found }),
  }
  return plain as unknown as PlainConversation
}

/** The inverse. Throws an error with a message for the user if the details belong to another conversation. */
export function attachDetails(conversation: Fields): Fields {
  const { details, ...plain } = conversation
  if (details === undefined) return conversation
  if (!isObject(details)) throw new Error('details must be an object')
  const messages = attachTo(plain['messages'], details['messages'], 'message', (message, ofMessage, place) => ({
    ...message,
    ...asFields(ofMessage['message'], place),
    parts: attachTo(message['parts'], ofMessage['parts'], `${place}, part`, (part, fields) => ({ ...part, ...fields })),
  }))
  const tools = attachTo(plain['tools'], details['tools'], 'tool', (tool, fields) => ({ ...tool, ...fields }))
  return {
    ...plain,
    ...asFields(details['request'], 'details'),
    messages: insertNotes(messages, details['notes']),
    ...defined({ tools }),
  }
}

function split(fields: object, names: ReadonlySet<string>): { plain: Fields; others: Fields | undefined } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  const others = entries.filter(([name]) => !names.has(name))
  return {
    plain: Object.fromEntries(entries.filter(([name]) => names.has(name))),
    others: others.length > 0 ? Object.fromEntries(others) : undefined,
  }
}

/** `data` is the content of media, but a detail of a result; the name of media is a detail, too. */
function splitPart(part: PlainMessage['parts'][number]): { plain: Fields; others: Fields | undefined } {
  const hidden = part.type === 'result' ? ['data'] : part.type === 'call' ? [] : ['name']
  return split(part, new Set([...PLAIN_FIELDS.part].filter((name) => !hidden.includes(name))))
}

function toIndexed<T>(list: readonly (T | undefined)[]): Readonly<Record<string, T>> | undefined {
  const entries = list.flatMap((one, at): [string, T][] => (one === undefined ? [] : [[String(at), one]]))
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

function attachTo(
  list: unknown,
  details: unknown,
  place: string,
  attach: (element: Fields, fields: Fields, place: string) => Fields,
): unknown {
  const elements: unknown[] = Array.isArray(list) ? [...(list as unknown[])] : []
  for (const [index, fields] of Object.entries(asFields(details, place))) {
    const element = elements[Number(index)]
    if (!isObject(element))
      throw new Error(`details has ${place} ${index}, which is missing; remove details after you edited the messages`)
    elements[Number(index)] = attach(element, asFields(fields, `${place} ${index}`), `${place} ${index}`)
  }
  return Array.isArray(list) ? elements : list
}

function insertNotes(messages: unknown, notes: unknown): unknown {
  if (!Array.isArray(messages) || notes === undefined) return messages
  if (!Array.isArray(notes)) throw new Error('notes of details must be a list')
  const all: unknown[] = [...(messages as unknown[])]
  for (const one of notes.toReversed() as unknown[]) {
    const { before, note } = asFields(one, 'a note of details')
    if (!Number.isInteger(before)) throw new Error('a note of details needs the index of the message that it is before')
    all.splice(Number(before), 0, { role: 'user', parts: [], note })
  }
  return all
}

function asFields(value: unknown, place: string): Fields {
  if (value === undefined) return {}
  if (!isObject(value)) throw new Error(`${place}: the details must be objects`)
  return value
}
