import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../model/request.ts'
import { toMediaUrl } from '../../model/text.ts'
import type { MediaPart, NoteTurn, Part, ReasoningPart, TextPart, WireId } from '../../model/turn.ts'
import { createEncodeContext } from '../declare-tools.ts'
import { OPENAI_IMAGE_MIME_PATTERN } from '../encode-parts.ts'
import { type EncodeContext, getReplayableData, hasNativeDataFor } from '../history/transcript.ts'
import { collectDeclaredTools } from '../late-tools.ts'
import { createLossReport, type LossReport } from './loss-report.ts'
import { getOptionsKey } from './shared-settings.ts'
import { SUPPORTED_MEDIA } from './supported-media.ts'

/**
 * What of a request cannot be sent to this endpoint, and is not said by the warnings of `encodeRequest`: native data of other
 * APIs and signers, their options, and settings that this API lacks. One warning for each kind, with counts and the first
 * place. For hand-overs and gateways; a session of our own agent does not need it.
 */
export function listLostContent(request: ModelRequest, wire: WireId, profile: Profile): Warning[] {
  const report = createLossReport()
  const scope: Scope = { ...createEncodeContext(wire, request, profile), report }
  listRequestLosses(request, scope)
  for (const tool of collectDeclaredTools(request).known) listToolLosses(tool, scope)
  // As in a plain conversation, each result is a message.
  let message = 0
  for (const turn of request.turns) {
    if (turn.role === 'note') listNoteLosses(turn, `message ${message}`, scope)
    else
      for (const [at, part] of turn.parts.entries()) {
        const place = turn.role === 'results' ? `message ${message + at}` : `message ${message}, part ${at}`
        if (part.kind === 'media' && turn.role === 'assistant') listShownMediaLosses(part, place, scope)
        else listPartLosses(part, place, scope)
      }
    message += turn.role === 'results' ? turn.parts.length : 1
  }
  return report.list()
}

interface Scope extends EncodeContext {
  readonly report: LossReport
}

function listRequestLosses(request: ModelRequest, { wire, profile, report }: Scope): void {
  const { providerOptions = {}, previous, continuation, serverTools = [], params = {} } = request
  for (const [source, fields] of Object.entries(providerOptions))
    if (source !== getOptionsKey(wire) && isObject(fields))
      for (const name of listOptionNames(fields)) report.add('options', source, name)
  if (previous && previous.wire !== wire) report.add('previous', previous.wire, previous.id)
  if (continuation !== undefined && !GOOGLE_WIRES.has(wire)) report.add('settings', wire, 'continuation')
  if (!GOOGLE_WIRES.has(wire)) for (const tool of serverTools) report.add('server-tools', wire, tool)
  const lost = {
    store: params.store === true && wire !== 'openai-responses' && wire !== 'interactions',
    effort: params.effort !== undefined && params.effort !== 'off' && profile.thinking === 'none',
    session: request.session !== undefined && wire !== 'code-assist' && profile.cache !== 'key',
    prompt: request.prompt !== undefined && wire !== 'code-assist',
    project: request.project !== undefined && wire !== 'code-assist',
  }
  for (const [name, isLost] of Object.entries(lost)) if (isLost) report.add('settings', wire, name)
}

const GOOGLE_WIRES: ReadonlySet<WireId> = new Set(['gemini', 'code-assist', 'interactions'])

/** With the fields of objects, such as `generationConfig.topK`. */
function listOptionNames(fields: Record<string, unknown>): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    isObject(value) && Object.keys(value).length > 0 ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
  )
}

function listToolLosses({ name, native, grammar }: ToolSpec, { wire, profile, report }: Scope): void {
  if (grammar && !(profile.freeTextTools && profile.tools === 'native')) report.add('grammars', wire, name)
  if (!native || native.wire === wire) return
  for (const field of listNativeNames(native.data)) report.add('tool-fields', native.wire, field, `the tool ${name}`)
}

function listNoteLosses(note: NoteTurn, place: string, scope: Scope): void {
  const { wire, profile, report } = scope
  const isWritten = profile.systemNotes && (note.trusted || hasNativeDataFor(note, scope))
  if (note.text.trim() !== '' && !isWritten) report.add('notes', wire, 'system message', place)
  // Anthropic's own encoder warns about its own notes.
  if (!note.native || note.native.wire === wire) return
  for (const name of listNoteNames(note.native.data)) report.add('note-fields', note.native.wire, name, place)
}

/** A system message of Anthropic is kept as a whole: its settings, and the blocks that are not only text. */
function listNoteNames(data: Json | undefined): string[] {
  const { content, ...settings } = objectOrEmpty(data)
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  return [
    ...Object.keys(settings),
    ...blocks.flatMap((block) => (block['type'] === 'text' ? listFields(block, 'text') : [nameWhole(block)])),
  ]
}

function listPartLosses(part: Part, place: string, scope: Scope): void {
  switch (part.kind) {
    case 'reasoning':
      return listReasoningLosses(part, place, scope)
    case 'result':
      for (const inner of part.content) listPartLosses(inner, place, scope)
      return listFieldLosses(part, place, scope)
    case 'text':
    case 'media':
      listMarkLosses(part, place, scope)
      return hasNoOtherForm(part) ? listItemLosses(part, place, scope) : listFieldLosses(part, place, scope)
    case 'call':
      return listFieldLosses(part, place, scope)
    default:
      part satisfies never
  }
}

/** What a model has shown itself is sent back only to Google's APIs, and only what they made. */
function listShownMediaLosses(part: MediaPart, place: string, scope: Scope): void {
  const { wire, report } = scope
  if (GOOGLE_WIRES.has(wire) && hasNativeDataFor(part, scope)) return listPartLosses(part, place, scope)
  if (!isSentWhole(getReplayableData(part, scope), wire) && !hasNoOtherForm(part))
    report.add('media', wire, part.name ?? part.mime, place)
  listFieldLosses(part, place, scope)
}

/** That a text is a refusal, the name of a file, and media that the endpoint does not take. */
function listMarkLosses(part: TextPart | MediaPart, place: string, scope: Scope): void {
  const { wire, report } = scope
  const data = getReplayableData(part, scope)
  if (part.kind === 'text') {
    if (part.refusal && data === undefined) report.add('refusals', wire, 'refusal', place)
  } else if (!isSentWhole(data, wire) && !hasNoOtherForm(part) && !SUPPORTED_MEDIA[wire](part, scope.profile))
    report.add('media', wire, part.name ?? part.mime, place)
  else if (part.name !== undefined && data === undefined && !isNameSent(part, scope))
    report.add('names', wire, part.name, place)
}

/** Is a part sent back as it came? Anthropic's blocks are native data themselves. */
function isSentWhole(data: JsonObject | undefined, wire: WireId): boolean {
  return data !== undefined && (wire === 'anthropic' || isObject(data['part']))
}

/** Media that cannot be sent are described, with their name. */
function isNameSent(part: MediaPart, { wire, profile }: Scope): boolean {
  if (!profile.media || toMediaUrl(part) === undefined) return true
  return !NAMELESS_MEDIA[wire].test(part.mime)
}

/** The media that each API takes without a name. */
const NAMELESS_MEDIA: Readonly<Record<WireId, RegExp>> = {
  'openai-chat': /^(?:image\/(?:png|jpe?g|gif|webp|\*)|audio\/(?:x-)?(?:wav|mpeg|mp3))$/,
  'openai-responses': OPENAI_IMAGE_MIME_PATTERN,
  anthropic: /^image\/(?:png|jpe?g|gif|webp|\*)$/,
  gemini: /./,
  'code-assist': /./,
  interactions: /./,
}

/** Is the native data all that there is of a part? */
function hasNoOtherForm(part: TextPart | MediaPart): boolean {
  return part.kind === 'text' ? part.text.trim() === '' : part.data === undefined && part.uri === undefined
}

function listItemLosses(part: TextPart | MediaPart, place: string, scope: Scope): void {
  const { native } = part
  if (native?.data === undefined || getReplayableData(part, scope)) return
  for (const name of listNativeNames(native.data)) scope.report.add('items', native.wire, name, place)
}

function listFieldLosses(part: Exclude<Part, ReasoningPart>, place: string, scope: Scope): void {
  const { native } = part
  if (native?.data === undefined || getReplayableData(part, scope)) return
  for (const name of listNativeNames(native.data)) scope.report.add('fields', native.wire, name, place)
}

/** Reasoning is sent back only to the endpoint that made it; signed, unless that does not sign. */
function listReasoningLosses(part: ReasoningPart, place: string, scope: Scope): void {
  const { profile, report, wire } = scope
  const isUnsigned = hasNativeDataFor(part, scope) && profile.signatures === 'optional' && part.text !== ''
  if (profile.replay === 'own' && (getReplayableData(part, scope) || isUnsigned)) return
  const isSigned = part.native?.data !== undefined
  report.add('reasoning', part.native?.wire ?? wire, isSigned ? 'signed or encrypted' : 'unsigned', place)
}

/** What native data consists of: the type of an item, or the names of its fields. */
function listNativeNames(data: Json | undefined): string[] {
  if (!isObject(data)) return ['data']
  const whole: unknown = [data['part'], data['item'], data['step']].find(isObject)
  if (isObject(whole)) return [nameWhole(whole), ...listFields(data, 'part item step type')]
  const { type } = data
  if (typeof type === 'string' && type !== 'text') return [type]
  return listFields(data, 'type text')
}

function nameWhole(whole: Readonly<Record<string, unknown>>): string {
  return stringOrEmpty(whole['type']) || (Object.keys(whole)[0] ?? 'item')
}

/** What only a response has is never sent; a refusal is named as such. */
function listFields(fields: Readonly<Record<string, unknown>>, known: string): string[] {
  const names = new Set([...known.split(' '), 'type', 'response', 'refusal'])
  return Object.entries(fields).flatMap(([name, value]) => {
    if (names.has(name)) return []
    return CONTAINERS.has(name) && isObject(value) ? listFields(value, '') : [name]
  })
}

/** Where readers put the fields of a message, a part or a call. */
const CONTAINERS = new Set(['fields', 'message', 'callFields', 'function', 'custom'])
