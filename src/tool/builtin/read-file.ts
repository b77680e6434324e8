import { basename } from 'node:path'
import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext, ToolOutput } from '../define.ts'
import { isIgnored } from '../seek/ignore-rules.ts'
import { type Reading, readForModel } from '../text/read-text.ts'
import { DEFAULT_LINES, MAX_LINE, type Window } from '../text/slice.ts'
import text from './read-file.md'
import { builtin, failure } from './support/builtin.ts'
import { numberIn, textIn } from './support/input.ts'
import { absolute, shown, touching, workspaceOf } from './support/paths.ts'

/** Reads one file, or some of its lines. */
export const readFile: Tool = builtin({
  name: 'read_file',
  text,
  kind: 'read',
  verb: 'Read',
  aliases: { file_path: 'absolute_path', path: 'absolute_path' },
  nameAliases: [
    { name: 'Read', parameters: { offset: 'start_line' } },
    { name: 'read', parameters: { filePath: 'absolute_path' } },
    { name: 'view_image', parameters: {} },
    { name: 'open_file' },
    { name: 'cat' },
  ],
  properties: {
    absolute_path: { type: 'string', description: 'Absolute path of the file.' },
    offset: { type: 'number', description: 'Line to begin with; the first is 0.' },
    limit: { type: 'number', description: 'How many lines.' },
  },
  required: ['absolute_path'],
  effects: (input, folders) => touching('read', absolute(textIn(input, 'absolute_path'), folders)),

  check(input) {
    if (textIn(input, 'absolute_path').trim() === '') return 'absolute_path must not be empty.'
    const { offset, limit } = windowIn(input)
    if (!Number.isInteger(offset) || offset < 0) return 'offset must be a whole number, 0 or more.'
    return Number.isInteger(limit) && limit > 0 ? undefined : 'limit must be a whole number, 1 or more.'
  },

  async run(input, context) {
    const path = absolute(textIn(input, 'absolute_path'), context.folders)
    const wanted = windowIn(input)
    const reading = await readForModel(context.host.files, path, wanted, context.signal)
    const real = await context.host.files.resolve(path)
    if (reading.kind !== 'text') return otherThanText(reading, path, context)
    if (wanted.offset > 0 && wanted.offset >= reading.total) {
      return failure(
        `offset ${wanted.offset} is beyond the end: ${path} has ${reading.total} lines.`,
        'invalid-arguments',
      )
    }
    context.seen.note(real, reading.hash)
    const notes = notesOn(reading, await ignoredNote(context, real))
    const body = reading.total === 0 ? '(The file is empty.)' : reading.text
    const whole = reading.first <= 1 && reading.last === reading.total
    const lines = whole ? `all ${reading.total} lines` : `lines ${reading.first}-${reading.last} of ${reading.total}`
    return {
      content: notes.length === 0 ? body : `${notes.join('\n')}\n--- content ---\n${body}`,
      display: `Read ${lines} from ${shown(path, context.folders)}`,
    }
  },
})

/** `start_line` and `end_line` count from 1, and the end is included. */
function windowIn(input: JsonObject): Window {
  const start = numberIn(input, 'start_line')
  const end = numberIn(input, 'end_line')
  const offset = numberIn(input, 'offset') ?? (start === undefined ? 0 : start - 1)
  const limit = numberIn(input, 'limit') ?? (end === undefined ? DEFAULT_LINES : end - offset)
  return { offset, limit }
}

function notesOn(
  { first, last, total, cut }: Extract<Reading, { kind: 'text' }>,
  ignored: string | undefined,
): string[] {
  const notes = ignored === undefined ? [] : [ignored]
  const next = last < total ? ` To read on, use offset: ${last}.` : ''
  if (first > 1 || last < total) notes.push(`Showing lines ${first}-${last} of ${total}.${next}`)
  if (cut) notes.push(`Lines over ${MAX_LINE} characters are cut.`)
  return notes
}

async function ignoredNote({ host, folders }: ToolContext, real: string): Promise<string | undefined> {
  const top = await workspaceOf(host, folders, real)
  if (top.real === real) return undefined
  const ignored = await isIgnored(host.files, top.real, real, { git: true, gemini: false })
  return ignored ? 'Note: git ignores this file.' : undefined
}

function otherThanText(
  reading: Exclude<Reading, { kind: 'text' }>,
  path: string,
  { folders }: ToolContext,
): ToolOutput {
  const name = shown(path, folders)
  if (reading.kind === 'media') {
    const { mime, data } = reading
    return { content: [{ kind: 'media', mime, data, name: basename(path) }], display: `Read ${mime} file: ${name}` }
  }
  if (reading.kind === 'too-large') {
    return failure(`The file is too large to be read (${reading.size} bytes): ${path}`, 'file-too-large')
  }
  const message = `Cannot display content of binary file: ${path} (${reading.size} bytes).`
  return { content: message, display: `Skipped binary file: ${name}` }
}
