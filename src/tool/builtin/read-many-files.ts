import { basename } from 'node:path'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import type { SecretTest } from '../../policy/path/secret.ts'
import type { Tool, ToolContext, ToolOutput } from '../define.ts'
import { globProblem, isGlob } from '../seek/glob.ts'
import { readForModel } from '../text/read-text.ts'
import { DEFAULT_LINES } from '../text/slice.ts'
import text from './read-many-files.md'
import { chooseFiles, type Chosen } from './support/choose-files.ts'
import { builtin, failure } from './support/builtin.ts'
import { listIn } from './support/input.ts'
import { absolute, shown, touching } from './support/paths.ts'
import { FILTERING } from './support/schema.ts'

const LIST = { type: 'array', items: { type: 'string' } }

/** Reads several files at once. */
export function readManyFiles(isSecret: SecretTest): Tool {
  return builtin({
    name: 'read_many_files',
    text,
    kind: 'read',
    verb: 'Read',
    aliases: { include: 'paths' },
    properties: {
      paths: { ...LIST, description: 'Files, directories or globs, absolute or from the workspace.' },
      include: { ...LIST, description: 'More globs.' },
      exclude: { ...LIST, description: 'Globs to leave out.' },
      recursive: { type: 'boolean', description: 'Also below directories; default true.' },
      useDefaultExcludes: { type: 'boolean', description: 'Leave out built and binary files; default true.' },
      file_filtering_options: FILTERING,
    },
    required: ['paths'],
    effects(input, folders) {
      const asked = ['paths', 'include'].flatMap((key) => listIn(input, key))
      const named = asked.filter((path) => !isGlob(path)).map((path) => absolute(path, folders))
      const places = named.length < asked.length ? [...named, ...folders] : named
      return places.flatMap((path) => touching('read', path))
    },

    check(input) {
      const all = ['paths', 'include', 'exclude'].flatMap((key) => listIn(input, key))
      if (listIn(input, 'paths').length + listIn(input, 'include').length === 0)
        return 'paths must name at least one file.'
      return all.map(globProblem).find((problem) => problem !== undefined)
    },

    async run(input, context) {
      const chosen = await chooseFiles(input, context, isSecret)
      const collected = await collect(chosen, context)
      if (collected.read.length === 0) {
        const why = [...collected.skipped, ...chosen.missing].join('; ')
        const message = `No files were read: nothing matches, or all was left out.${why === '' ? '' : ` ${why}.`}`
        return failure(message, 'file-not-found')
      }
      return outputOf(collected, chosen.missing)
    },
  })
}

interface Collected {
  readonly parts: (TextPart | MediaPart)[]
  readonly read: string[]
  readonly skipped: string[]
}

const MAX_FILES = 1000
const MAX_TEXT = 500_000

async function collect({ files }: Chosen, context: ToolContext): Promise<Collected> {
  const parts: (TextPart | MediaPart)[] = []
  const read: string[] = []
  const skipped: string[] = []
  let size = 0
  for (const { path, explicit } of files) {
    const name = shown(path, context.folders)
    if (read.length >= MAX_FILES || size > MAX_TEXT) {
      skipped.push(`${name} (too much for one answer)`)
      continue
    }
    context.progress(`Reading ${name}`)
    const window = { offset: 0, limit: DEFAULT_LINES }
    const reading = await readForModel(context.host.files, path, window, context.signal).catch((error: unknown) => {
      context.signal.throwIfAborted()
      return { kind: 'failed', why: error instanceof Error ? error.message : String(error) } as const
    })
    if (reading.kind === 'text') {
      context.seen.note(await context.host.files.resolve(path), reading.hash)
      const { last, total } = reading
      const more = last < total ? `[Lines 1-${last} of ${total}; read_file gives the rest.]\n` : ''
      const body = reading.text === '' || reading.text.endsWith('\n') ? reading.text : `${reading.text}\n`
      parts.push({ kind: 'text', text: `--- ${name} ---\n${body}${more}` })
      read.push(name)
      size += body.length
    } else if (reading.kind === 'media' && explicit) {
      parts.push({ kind: 'text', text: `--- ${name} ---\n` })
      parts.push({ kind: 'media', mime: reading.mime, data: reading.data, name: basename(path) })
      read.push(name)
      size += reading.data.length / 10
    } else skipped.push(`${name} (${reading.kind === 'failed' ? reading.why : WHY[reading.kind]})`)
  }
  return { parts, read, skipped }
}

const WHY = { media: 'media, not named explicitly', binary: 'binary', 'too-large': 'too large' }

function outputOf({ parts, read, skipped }: Collected, missing: readonly string[]): ToolOutput {
  const problems = [...skipped, ...missing]
  const notes = problems.length === 0 ? '' : `[Skipped: ${short(problems)}]\n`
  const all: (TextPart | MediaPart)[] = [...parts, { kind: 'text', text: `${notes}--- End of content ---` }]
  const hasMedia = all.some((part) => part.kind === 'media')
  const display = `Read ${read.length} file(s).${problems.length === 0 ? '' : ` Skipped ${problems.length}: ${short(problems)}`}`
  return {
    content: hasMedia ? all : all.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    display,
  }
}

function short(names: readonly string[]): string {
  return names.length <= 10 ? names.join('; ') : `${names.slice(0, 10).join('; ')}; and ${names.length - 10} more`
}
