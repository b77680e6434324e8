import { basename } from 'node:path'
import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext, ToolOutput } from '../tool.ts'
import { isPathIgnored } from '../file-search/ignore-rules.ts'
import { type FileReading, readFileForModel } from '../text/read-for-model.ts'
import { DEFAULT_LINE_LIMIT, MAX_LINE_CHARS, type LineWindow } from '../text/line-slice.ts'
import text from './read-file.md'
import { createErrorOutput } from '../error-output.ts'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { getNumberArgument, getTextArgument } from './support/read-arguments.ts'
import { toAbsolutePath, toDisplayPath, createPathEffects, findWorkspaceFolder } from './support/paths.ts'

export const readFileTool: Tool = defineBuiltin({
  name: 'read_file',
  text,
  kind: 'read',
  hookName: 'Read',
  verb: 'Read',
  safeToRetry: true,
  aliases: { file_path: 'absolute_path', path: 'absolute_path' },
  ruleAliases: ['ReadFile', 'ReadFileTool', 'view'],
  nameAliases: [
    { name: 'Read', parameters: { offset: 'start_line' } },
    { name: 'read', parameters: { filePath: 'absolute_path' } },
    ...createSameToolAliases('view_image'),
    ...createSimilarToolAliases('open_file', 'cat'),
  ],
  properties: {
    absolute_path: { type: 'string', description: 'Absolute path of the file.' },
    offset: { type: 'number', description: 'Line to begin with; the first is 0.' },
    limit: { type: 'number', description: 'How many lines.' },
  },
  required: ['absolute_path'],
  ruleInput: (path) => ({ absolute_path: path }),
  effects: (input, folders) =>
    createPathEffects('read', toAbsolutePath(getTextArgument(input, 'absolute_path'), folders)),

  check(input) {
    if (getTextArgument(input, 'absolute_path').trim() === '') return 'absolute_path must not be empty.'
    const { offset, limit } = parseLineWindow(input)
    if (!Number.isInteger(offset) || offset < 0) return 'offset must be a whole number, 0 or more.'
    return Number.isInteger(limit) && limit > 0 ? undefined : 'limit must be a whole number, 1 or more.'
  },

  async run(input, context) {
    const path = toAbsolutePath(getTextArgument(input, 'absolute_path'), context.folders)
    const lineWindow = parseLineWindow(input)
    const reading = await readFileForModel(context.host.files, path, lineWindow, context.signal)
    const real = await context.host.files.resolve(path)
    if (reading.kind !== 'text') return formatNonText(reading, path, context)
    if (lineWindow.offset > 0 && lineWindow.offset >= reading.total) {
      return createErrorOutput(
        `offset ${lineWindow.offset} is beyond the end: ${path} has ${reading.total} lines.`,
        'invalid-arguments',
      )
    }
    context.seenFiles.setHash(real, reading.hash)
    const notes = createNotes(reading, await createIgnoredNote(context, real))
    const body = reading.total === 0 ? '(The file is empty.)' : reading.text
    const whole = reading.first <= 1 && reading.last === reading.total
    const lines = whole ? `all ${reading.total} lines` : `lines ${reading.first}-${reading.last} of ${reading.total}`
    return {
      content: notes.length === 0 ? body : `${notes.join('\n')}\n--- content ---\n${body}`,
      display: `Read ${lines} from ${toDisplayPath(path, context.folders)}`,
    }
  },
})

/** `start_line` and `end_line` count from 1, and the end is included. */
function parseLineWindow(input: JsonObject): LineWindow {
  const start = getNumberArgument(input, 'start_line')
  const end = getNumberArgument(input, 'end_line')
  const offset = getNumberArgument(input, 'offset') ?? (start === undefined ? 0 : start - 1)
  const limit = getNumberArgument(input, 'limit') ?? (end === undefined ? DEFAULT_LINE_LIMIT : end - offset)
  return { offset, limit }
}

function createNotes(
  { first, last, total, hasTruncatedLine }: Extract<FileReading, { kind: 'text' }>,
  ignored: string | undefined,
): string[] {
  const notes = ignored === undefined ? [] : [ignored]
  const next = last < total ? ` To continue, use offset: ${last}.` : ''
  if (first > 1 || last < total) notes.push(`Showing lines ${first}-${last} of ${total}.${next}`)
  if (hasTruncatedLine) notes.push(`Lines over ${MAX_LINE_CHARS} characters are cut.`)
  return notes
}

async function createIgnoredNote({ host, folders }: ToolContext, real: string): Promise<string | undefined> {
  const top = await findWorkspaceFolder(host, folders, real)
  if (top.realPath === real) return undefined
  const ignored = await isPathIgnored(host.files, top.realPath, real, { git: true, gemini: false })
  return ignored ? 'Note: git ignores this file.' : undefined
}

function formatNonText(
  reading: Exclude<FileReading, { kind: 'text' }>,
  path: string,
  { folders }: ToolContext,
): ToolOutput {
  const name = toDisplayPath(path, folders)
  if (reading.kind === 'media') {
    const { mime, data } = reading
    return { content: [{ kind: 'media', mime, data, name: basename(path) }], display: `Read ${mime} file: ${name}` }
  }
  if (reading.kind === 'too-large') {
    return createErrorOutput(`The file is too large to be read (${reading.size} bytes): ${path}`, 'file-too-large')
  }
  reading.kind satisfies 'binary'
  const message = `Cannot display content of binary file: ${path} (${reading.size} bytes).`
  return { content: message, display: `Skipped binary file: ${name}` }
}
