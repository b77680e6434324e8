import { basename } from 'node:path'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import type { SecretFileTest } from '../../policy/path/secret-file-test.ts'
import type { Tool, ToolContext, ToolOutput } from '../tool.ts'
import { findGlobProblem, isGlob } from '../file-search/glob.ts'
import { readFileForModel } from '../text/read-for-model.ts'
import { DEFAULT_LINE_LIMIT } from '../text/line-slice.ts'
import text from './read-many-files.md'
import { chooseFiles } from './support/choose-files.ts'
import { createErrorOutput } from '../error-output.ts'
import { defineBuiltin } from './support/define-builtin.ts'
import { FILTER_OPTIONS_SCHEMA, getStringListArgument } from './support/read-arguments.ts'
import { toAbsolutePath, toDisplayPath, createPathEffects } from './support/paths.ts'
import { getErrorMessage } from '../../model/error-message.ts'

const STRING_LIST_SCHEMA = { type: 'array', items: { type: 'string' } }

export function createReadManyFilesTool(isSecret: SecretFileTest): Tool {
  return defineBuiltin({
    name: 'read_many_files',
    text,
    kind: 'read',
    hookName: 'Read',
    verb: 'Read',
    safeToRetry: true,
    aliases: { include: 'paths' },
    ruleAliases: ['Read', 'ReadManyFilesTool'],
    properties: {
      paths: { ...STRING_LIST_SCHEMA, description: 'Files, directories or globs, absolute or from the workspace.' },
      include: { ...STRING_LIST_SCHEMA, description: 'More globs.' },
      exclude: { ...STRING_LIST_SCHEMA, description: 'Globs to leave out.' },
      recursive: { type: 'boolean', description: 'Also below directories; default true.' },
      useDefaultExcludes: { type: 'boolean', description: 'Leave out built and binary files; default true.' },
      file_filtering_options: FILTER_OPTIONS_SCHEMA,
    },
    required: ['paths'],
    ruleInput: (path) => ({ paths: [path] }),
    effects(input, folders) {
      const requestedPaths = ['paths', 'include'].flatMap((key) => getStringListArgument(input, key))
      const namedPaths = requestedPaths.filter((path) => !isGlob(path)).map((path) => toAbsolutePath(path, folders))
      const places = namedPaths.length < requestedPaths.length ? [...namedPaths, ...folders] : namedPaths
      return places.flatMap((path) => createPathEffects('read', path))
    },

    check(input) {
      const all = ['paths', 'include', 'exclude'].flatMap((key) => getStringListArgument(input, key))
      if (getStringListArgument(input, 'paths').length + getStringListArgument(input, 'include').length === 0)
        return 'paths must name at least one file.'
      return all.map(findGlobProblem).find((problem) => problem !== undefined)
    },

    async run(input, context) {
      const chosen = await chooseFiles(input, context, isSecret)
      const collected = await collectFiles(chosen.files, context)
      if (collected.read.length === 0) {
        const why = [...collected.skipped, ...chosen.missing].join('; ')
        const message = `No files were read: nothing matches, or everything was excluded.${why === '' ? '' : ` ${why}.`}`
        return createErrorOutput(message, 'file-not-found')
      }
      return toCombinedOutput(collected, chosen.missing)
    },
  })
}

type CollectedFiles = Awaited<ReturnType<typeof collectFiles>>

const MAX_FILES = 1000
const MAX_TOTAL_CHARS = 500_000

async function collectFiles(files: readonly { path: string; explicit: boolean }[], context: ToolContext) {
  const parts: (TextPart | MediaPart)[] = []
  const read: string[] = []
  const skipped: string[] = []
  let size = 0
  for (const { path, explicit } of files) {
    const name = toDisplayPath(path, context.folders)
    if (read.length >= MAX_FILES || size > MAX_TOTAL_CHARS) {
      skipped.push(`${name} (too much for one result)`)
      continue
    }
    context.progress(`Reading ${name}`)
    const window = { offset: 0, limit: DEFAULT_LINE_LIMIT }
    const reading = await readFileForModel(context.host.files, path, window, context.signal).catch((error: unknown) => {
      context.signal.throwIfAborted()
      return { kind: 'failed', why: getErrorMessage(error) } as const
    })
    if (reading.kind === 'text') {
      context.seenFiles.setHash(await context.host.files.resolve(path), reading.hash)
      const { last, total } = reading
      const more = last < total ? `[Lines 1-${last} of ${total}; use read_file for the rest.]\n` : ''
      const body = reading.text === '' || reading.text.endsWith('\n') ? reading.text : `${reading.text}\n`
      parts.push({ kind: 'text', text: `--- ${name} ---\n${body}${more}` })
      read.push(name)
      size += body.length
    } else if (reading.kind === 'media' && explicit) {
      parts.push({ kind: 'text', text: `--- ${name} ---\n` })
      parts.push({ kind: 'media', mime: reading.mime, data: reading.data, name: basename(path) })
      read.push(name)
      size += reading.data.length / 10
    } else skipped.push(`${name} (${reading.kind === 'failed' ? reading.why : SKIP_REASONS[reading.kind]})`)
  }
  return { parts, read, skipped }
}

const SKIP_REASONS = { media: 'media, not named explicitly', binary: 'binary', 'too-large': 'too large' }

function toCombinedOutput({ parts, read, skipped }: CollectedFiles, missing: readonly string[]): ToolOutput {
  const problems = [...skipped, ...missing]
  const notes = problems.length === 0 ? '' : `[Skipped: ${formatNames(problems)}]\n`
  const all: (TextPart | MediaPart)[] = [...parts, { kind: 'text', text: `${notes}--- End of content ---` }]
  const hasMedia = all.some((part) => part.kind === 'media')
  const display = `Read ${read.length} file(s).${problems.length === 0 ? '' : ` Skipped ${problems.length}: ${formatNames(problems)}`}`
  return {
    content: hasMedia ? all : all.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    display,
  }
}

function formatNames(names: readonly string[]): string {
  return names.length <= 10 ? names.join('; ') : `${names.slice(0, 10).join('; ')}; and ${names.length - 10} more`
}
