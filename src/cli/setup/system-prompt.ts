import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import SYSTEM from '../../agent/prompt/system.md'
import type { RunArgs } from '../line/args.ts'
import { Complaint, EXIT } from '../exit.ts'

/** Our prompt, or that of a file which the person names; it can be written to a file to start from. */
export function systemPrompt(args: Pick<RunArgs, 'systemFile'>): string {
  const target = fileIn('WRITE_SYSTEM_MD')
  if (target !== undefined) write(target)
  const path = args.systemFile === undefined ? fileIn('SYSTEM_MD') : resolve(args.systemFile)
  if (path === undefined) return SYSTEM
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Complaint(`the system prompt ${path} cannot be read: ${messageOf(error)}`, EXIT.config)
  }
}

/** The file that a variable names; `1` and `true` mean the usual place, `0` and `false` none. */
function fileIn(variable: string): string | undefined {
  for (const [prefix, folder] of [
    ['DRAGOMAN', '.dragoman'],
    ['GEMINI', '.gemini'],
  ]) {
    const value = process.env[`${prefix}_${variable}`]
    if (value === undefined || value === '') continue
    if (/^(?:0|false)$/i.test(value)) return undefined
    return resolve(/^(?:1|true)$/i.test(value) ? `${folder}/system.md` : value)
  }
  return undefined
}

function write(path: string): void {
  try {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path))
    writeFileSync(path, SYSTEM)
  } catch (error) {
    throw new Complaint(`the system prompt cannot be written to ${path}: ${messageOf(error)}`, EXIT.config)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
