import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import SYSTEM from '../../agent/prompt/system.md'
import type { RunArgs } from '../line/args.ts'
import { Complaint, EXIT } from '../exit.ts'
import { readProjectFile } from '../own/project-file.ts'

/** Our prompt, or that of a file which the person names; it can be written to a file to start from. */
export function systemPrompt(args: Pick<RunArgs, 'systemFile'>): string {
  const target = fileIn('WRITE_SYSTEM_MD')
  if (target !== undefined) write(target)
  if (args.systemFile === undefined) {
    const found = fileIn('SYSTEM_MD')
    return found === undefined ? SYSTEM : readPlace(found)
  }
  // The person named this file, so that it may be anything, a pipe too.
  const path = resolve(args.systemFile)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Complaint(`the system prompt ${path} cannot be read: ${messageOf(error)}`, EXIT.config)
  }
}

/** What is at the usual place was put there by the project: it must be a file of the project. */
function readPlace({ path, isUsual }: Place): string {
  const read = readProjectFile(path, { maxBytes: 2 ** 20, ...(isUsual && { within: '.' }) })
  if ('text' in read) return read.text
  throw new Complaint(`the system prompt ${path} cannot be read: it ${read.problem ?? 'is not there'}`, EXIT.config)
}

interface Place {
  readonly path: string
  readonly isUsual: boolean
}

/** The file that a variable names; `1` and `true` mean the usual place, `0` and `false` none. */
function fileIn(variable: string): Place | undefined {
  for (const [prefix, folder] of [
    ['DRAGOMAN', '.dragoman'],
    ['GEMINI', '.gemini'],
  ]) {
    const value = process.env[`${prefix}_${variable}`]
    if (value === undefined || value === '') continue
    if (/^(?:0|false)$/i.test(value)) return undefined
    const isUsual = /^(?:1|true)$/i.test(value)
    return { path: resolve(isUsual ? `${folder}/system.md` : value), isUsual }
  }
  return undefined
}

function write({ path, isUsual }: Place): void {
  try {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path))
    // Nothing that the project put there leads the writing elsewhere.
    const isLed =
      lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() || realpathSync(dirname(path)) !== dirname(path)
    if (isUsual && isLed) throw new Error('it is a link')
    writeFileSync(path, SYSTEM)
  } catch (error) {
    throw new Complaint(`the system prompt cannot be written to ${path}: ${messageOf(error)}`, EXIT.config)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
