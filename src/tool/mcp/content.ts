import { stripVTControlCharacters } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import type { ToolOutput } from '../define.ts'
import { escapeUnseen } from '../text/escape.ts'

/** What a model gets of a block. */
export type BlockPart = TextPart | MediaPart

/** Turns a content block into parts. Nothing in it is trusted; binary data is announced by a line of text before it. */
export function blockParts(toolName: string, block: unknown): BlockPart[] {
  const { type, text, data, mimeType, resource, title, name, uri } = isObject(block) ? block : {}
  if (type === 'text') return [{ kind: 'text', text: word(text) ?? '' }]
  if (type === 'image' || type === 'audio') {
    return binary(toolName, `${type} data`, word(mimeType) ?? `${type}/*`, word(data) ?? '')
  }
  if (type === 'resource' && isObject(resource)) {
    const { text: inner, blob, mimeType: mime } = resource
    if (typeof inner === 'string') return [{ kind: 'text', text: inner }]
    if (typeof blob === 'string') return binary(toolName, 'embedded resource', word(mime) ?? OCTETS, blob)
  }
  if (type === 'resource_link') {
    const called = word(title) ?? word(name) ?? 'untitled'
    return [{ kind: 'text', text: `Resource Link: ${called} at ${word(uri) ?? ''}` }]
  }
  // Nothing is dropped without a word.
  const kind = typeof type === 'string' ? type : 'unknown'
  return [{ kind: 'text', text: `[Tool '${toolName}' provided content of type ${kind}, which is not understood]` }]
}

/** Parts as a person reads them: binary data becomes a word in brackets, and needs no announcement. */
export function displayOf(parts: readonly BlockPart[]): string {
  const lines = parts.map((part, at) => {
    if (part.kind === 'media') return bracketed(part.mime)
    return parts[at + 1]?.kind === 'media' && ANNOUNCEMENT.test(part.text) ? '' : part.text
  })
  return lines.filter((line) => line !== '').join('\n')
}

/** The word in brackets that stands for binary data. */
export function bracketed(mime: string): string {
  const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? 'file'
  return `[${kind.charAt(0).toUpperCase()}${kind.slice(1)}: ${mime}]`
}

/** How much of a result reaches the model. */
export interface ContentLimits {
  /** Characters of text. */
  readonly text: number
  /** Characters of base64, all in all. */
  readonly media: number
}

/** About what other tools may say at once; pictures as large as vendors take them. */
export const CONTENT_LIMITS: ContentLimits = { text: 80_000, media: 10_000_000 }

/** What a server said to a call, as a tool says it. */
export function outputOf(toolName: string, result: unknown, limits: ContentLimits = CONTENT_LIMITS): ToolOutput {
  const { content, structuredContent, isError, toolResult } = isObject(result) ? result : {}
  const blocks = Array.isArray(content) ? content : []
  // Servers of 2024 answered with a bare value.
  const data = (structuredContent ?? toolResult) as Json | undefined
  const said = blocks.slice(0, MAX_BLOCKS).flatMap((block) => blockParts(toolName, block))
  const isBare = !said.some((part) => part.kind === 'media' || part.text !== '')
  const whole = isBare && data !== undefined ? [{ kind: 'text', text: JSON.stringify(data) } as const] : said
  const parts = bounded(whole.map(sound), limits)
  const left = blocks.length - MAX_BLOCKS
  const kept = left > 0 ? [...parts, note(`${left} more blocks are left out`)] : parts
  const display = displayOf(kept)
  if (isError === true || (typeof isError === 'string' && isError !== '')) {
    const message = display === '' ? 'The tool says that it failed, and not why.' : display
    return {
      content: kept.length > 0 ? kept : message,
      display,
      error: { message: message.slice(0, 2000), type: 'mcp' },
    }
  }
  const small = data !== undefined && JSON.stringify(data).length <= limits.text
  return { content: kept, display, ...(small && { data }) }
}

/** What a server said, without colours, and with what cannot be seen as escapes. */
export function plainText(text: string): string {
  return escapeUnseen(stripVTControlCharacters(text).replaceAll('\r\n', '\n'))
}

const MAX_BLOCKS = 1000
const OCTETS = 'application/octet-stream'
const ANNOUNCEMENT = /^\[Tool '.*' provided the following .* with mime-type: .*\]$/s

function binary(toolName: string, kind: string, mime: string, data: string): BlockPart[] {
  const text = `[Tool '${toolName}' provided the following ${kind} with mime-type: ${mime}]`
  return [
    { kind: 'text', text },
    { kind: 'media', mime, data },
  ]
}

/** Vendors refuse a whole conversation for one picture that is none; so what cannot be one is only named. */
function sound(part: BlockPart): BlockPart {
  if (part.kind === 'text') return { ...part, text: plainText(part.text) }
  const data = (part.data ?? '').replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(part.mime)) return note(`data of the kind ${part.mime} cannot be shown`)
  if (data === '' || !BASE64.test(data)) return note(`the ${part.mime} cannot be read`)
  return { ...part, data }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The beginning and the end of long text say most; pictures that are too many are only named. */
function bounded(parts: readonly BlockPart[], limits: ContentLimits): BlockPart[] {
  let room = limits.media
  const fitting = parts.map((part): BlockPart => {
    if (part.kind === 'text') return part
    const size = part.data?.length ?? 0
    if (size > room) return note(`${part.mime} of ${size} characters is left out: too large`)
    room -= size
    return part
  })
  const length = fitting.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0)
  if (length <= limits.text) return fitting
  return cutText(fitting, length, limits.text)
}

function cutText(parts: readonly BlockPart[], length: number, limit: number): BlockPart[] {
  const from = Math.floor(limit * 0.2)
  const to = length - (limit - from)
  let at = 0
  let told = false
  return parts.flatMap((part): BlockPart[] => {
    if (part.kind === 'media') return [part]
    const [begin, end] = [at, at + part.text.length]
    at = end
    if (end <= from || begin >= to) return [part]
    const head = part.text.slice(0, Math.max(0, from - begin)).replace(/[\uD800-\uDBFF]$/, '')
    const tail = part.text.slice(Math.max(0, Math.min(part.text.length, to - begin))).replace(/^[\uDC00-\uDFFF]/, '')
    const gap = told ? '' : `\n[... ${to - from} characters are left out here: the result is too long ...]\n`
    told = true
    const text = `${head}${gap}${tail}`
    return text === '' ? [] : [{ kind: 'text', text }]
  })
}

function note(text: string): TextPart {
  return { kind: 'text', text: `[${text}]` }
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What a prompt of a server or a resource holds, as parts of what a person says. */
export function contentsOf(name: string, contents: readonly JsonObject[]): BlockPart[] {
  const parts = contents.flatMap((resource) => blockParts(name, { type: 'resource', resource }))
  return bounded(parts.map(sound), CONTENT_LIMITS)
}
