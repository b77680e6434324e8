import { createHash } from 'node:crypto'
import type { JsonObject } from '../../src/model/json.ts'
import { type Random, startRandom } from '../support/mutate-random.ts'
import type { Workspace } from '../tool/workspace.ts'
import { combined, DAMAGES, type Damage, isTelling, type Wanted } from './damage.ts'
import type { RealEdit } from './real-edits.ts'

/** How an attempt ended: the file is what it should be, it is as it was, or it is something else. */
export type Verdict = 'right' | 'refused' | 'wrong'

/** An edit with its search text damaged, as a tool gets it. */
export interface Attempt {
  readonly kind: string
  readonly edit: RealEdit
  /** Is the new text damaged as well? */
  readonly both: boolean
  readonly isCrlf: boolean
  readonly old: string
  readonly fresh: string
}

const KINDS: Readonly<Record<string, Damage>> = {
  'no damage': (wanted) => wanted,
  ...DAMAGES,
  'other line ends': (wanted) => wanted,
  'two or three of these': combined,
}

/** The kinds of damage, in the order of the table. */
export const KIND_NAMES: readonly string[] = Object.keys(KINDS)

/** Every kind of damage that can be done to an edit, once. The same edit always gets the same ones. */
export function attemptsOn(edit: RealEdit, seed: number): Attempt[] {
  return Object.entries(KINDS).flatMap(([kind, damage], at) => {
    const random = startRandom(seed, at, numberOf(edit))
    const both = random.chance(0.7)
    const damaged = damage(edit, random, both)
    if (!damaged || (damaged !== edit && !(isTelling(edit, damaged) && isPlaced(edit, damaged)))) return []
    const isCrlf = kind === 'other line ends' ? random.chance(0.5) : random.chance(0.1)
    const text = textOf(damaged, random)
    const crlf = kind === 'other line ends' && !isCrlf
    const ended = (one: string): string => (crlf ? one.replaceAll('\n', '\r\n') : one)
    if (crlf && !text.old.includes('\n')) return []
    return [{ kind, edit, both, isCrlf, old: ended(text.old), fresh: ended(text.fresh) }]
  })
}

/**
 * Does the search text, in spite of its damage, stand in the file word for word, so that the attempt, taken at its word, asks for
 * another edit? Then nobody can know better, and no tool should. Where only the indentation of the first new line would be there
 * twice, everybody knows better.
 */
export function asksForAnother({ edit, old, fresh }: Attempt): boolean {
  const { before, after } = edit
  const at = before.indexOf(old)
  if (at < 0) return false
  const isWhole = `\n${before}\n`.includes(`\n${old.replace(/\n$/, '')}\n`)
  if (!isWhole && before.indexOf(old, at + 1) >= 0) return false
  const taken = before.slice(0, at) + fresh + before.slice(at + old.length)
  const start = before.lastIndexOf('\n', at - 1) + 1
  const indent = /^[ \t]*/.exec(before.slice(start))?.[0] ?? ''
  const isDoubled =
    before.slice(start, at).trim() === '' &&
    /^[ \t]*/.exec(fresh)?.[0] === indent &&
    before.slice(0, start) + fresh + before.slice(at + old.length) === after
  return taken !== before && taken !== after && !isDoubled
}

/** Makes an attempt with a tool, on a real file. */
export async function attempt(ws: Workspace, tool: 'smart_edit' | 'replace', one: Attempt): Promise<Verdict> {
  const { edit, isCrlf, old, fresh } = one
  const inFile = (text: string): string => (isCrlf ? text.replaceAll('\n', '\r\n') : text)
  ws.file('file', inFile(edit.before))
  const input: JsonObject = { file_path: 'file', instruction: 'Make the change.', old_string: old, new_string: fresh }
  // Each attempt is a session of its own: nobody has seen the file before.
  const seen = { setHash: () => undefined, getHash: () => undefined }
  const { error } = await ws.call(tool, input, { seenFiles: seen })
  const result = ws.read('file')
  if (error) return result === inFile(edit.before) ? 'refused' : 'wrong'
  return result === inFile(edit.after) ? 'right' : 'wrong'
}

/** The lines as one text; with an end for the last line, or without. */
function textOf({ old, fresh }: Wanted, random: Random): { old: string; fresh: string } {
  const end = random.chance(0.4) ? '\n' : ''
  const join = (lines: readonly string[]): string => (lines.length === 0 ? '' : lines.join('\n') + end)
  // Lines that go away take their line end with them.
  return fresh.length === 0 ? { old: `${old.join('\n')}\n`, fresh: '' } : { old: join(old), fresh: join(fresh) }
}

/** Do the words still mean this place? By chance the damage may turn them into those of another. */
function isPlaced(edit: RealEdit, { old }: Wanted): boolean {
  const words = (lines: readonly string[]): string => {
    return `\n${lines
      .map((line) => line.replace(/\s+/g, ''))
      .filter((line) => line !== '')
      .join('\n')}\n`
  }
  const [wanted, real, whole] = [words(old), words(edit.old), words(edit.before.split('\n'))]
  return real.includes(wanted) || !whole.includes(wanted)
}

function numberOf({ name, old, fresh }: RealEdit): number {
  return createHash('sha256')
    .update(`${name}\n${old.join('\n')}\n${fresh.join('\n')}`)
    .digest()
    .readInt32LE(0)
}
