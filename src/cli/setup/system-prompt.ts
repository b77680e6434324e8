import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import SYSTEM from '../../agent/prompt/system.md'
import type { RunArgs } from '../args/run-args.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'
import { getErrorMessage } from '../../model/error-message.ts'

type SystemPromptArgs = Pick<RunArgs, 'systemFile' | 'systemPrompt' | 'appendSystemPrompt'>

export function loadSystemPrompt({ systemPrompt, appendSystemPrompt, ...args }: SystemPromptArgs): string {
  const prompt = systemPrompt ?? readSystemPrompt(args)
  return appendSystemPrompt === undefined ? prompt : `${prompt.trimEnd()}\n\n${appendSystemPrompt}\n`
}

/** The built-in prompt, or that of a file; the built-in one can be written to a file to start from. */
function readSystemPrompt(args: Pick<RunArgs, 'systemFile'>): string {
  const target = findPromptFile('WRITE_SYSTEM_MD')
  if (target !== undefined) writeDefaultPrompt(target)
  if (args.systemFile === undefined) {
    const found = findPromptFile('SYSTEM_MD')
    return found === undefined ? SYSTEM : readPromptFile(found)
  }
  // The user named this file: it may be anything, also a pipe.
  const path = resolve(args.systemFile)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError(`the system prompt ${path} cannot be read: ${getErrorMessage(error)}`, EXIT_CODE.config)
  }
}

/** A prompt at the default path may come from the project: it must be a file in it. */
function readPromptFile({ path, isDefault }: PromptFile): string {
  const read = readProjectText(path, { maxBytes: 2 ** 20, ...(isDefault && { within: '.' }) })
  if ('text' in read) return read.text
  throw new UserError(`the system prompt ${path} cannot be read: ${describeFileProblem(read)}`, EXIT_CODE.config)
}

type PromptFile = Readonly<{ path: string; isDefault: boolean }>

/** The file that a variable names; `1` and `true` mean the default path, `0` and `false` none. */
function findPromptFile(variable: string): PromptFile | undefined {
  const prefix = ['DRAGOMAN', 'GEMINI'].find((one) => process.env[`${one}_${variable}`])
  const value = process.env[`${prefix}_${variable}`] ?? ''
  if (prefix === undefined || /^(?:0|false)$/i.test(value)) return undefined
  const isDefault = /^(?:1|true)$/i.test(value)
  return { path: resolve(isDefault ? `.${prefix.toLowerCase()}/system.md` : value), isDefault }
}

function writeDefaultPrompt({ path, isDefault }: PromptFile): void {
  try {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path))
    // A link of the project must not redirect the write.
    const leadsElsewhere =
      lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() || realpathSync(dirname(path)) !== dirname(path)
    if (isDefault && leadsElsewhere) throw new Error('it is a link')
    writeFileSync(path, SYSTEM)
  } catch (error) {
    throw new UserError(`the system prompt cannot be written to ${path}: ${getErrorMessage(error)}`, EXIT_CODE.config)
  }
}
