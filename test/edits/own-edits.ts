import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/paths.ts'
import { type Random, startRandom } from '../support/mutate-random.ts'
import { type RealEdit, realEdits } from './real-edits.ts'

/** Edits of the project's own files, made up as people make them: a word changed, lines taken out, put in, or wrapped. */
export function ownEdits(seed: number, count: number): RealEdit[] {
  const random = startRandom(seed)
  const files = ['src', 'docs', 'test/tool'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|md)$/.test(path))
      .map((path) => join(folder, path)),
  )
  const edits: RealEdit[] = []
  while (edits.length < count) {
    const path = random.pick(files)
    const before = readFileSync(join(root, path), 'utf8')
    edits.push(...realEdits(path, before, edited(before, random), random).slice(0, 3))
  }
  return edits.slice(0, count)
}

function edited(text: string, random: Random): string {
  const lines = text.split('\n')
  for (let times = 0; times < 3; times++) {
    const at = random.below(lines.length)
    const length = random.range(1, 4)
    random.pick(CHANGES)(lines, at, length, random)
  }
  return lines.join('\n')
}

type Change = (lines: string[], at: number, length: number, random: Random) => void

const CHANGES: readonly Change[] = [
  (lines, at) => {
    lines[at] = (lines[at] ?? '').replace(/\w{4,}/, (word) => `${word}Anew`)
  },
  (lines, at, length) => void (isWhole(lines, at, length) && lines.splice(at, length)),
  (lines, at, _length, random) => {
    const depth = depthOf(lines[at] ?? '')
    const alike = lines.filter((line) => line.trim() !== '' && depthOf(line) === depth && !/[{}()[\]]/.test(line))
    if (alike.length > 0)
      lines.splice(
        at,
        0,
        random.pick(alike).replace(/\w{3,}/, (word) => `${word}Too`),
      )
  },
  (lines, at, length) => {
    if (!isWhole(lines, at, length)) return
    const some = lines.slice(at, at + length)
    const depth = depthOf(some.find((line) => line.trim() !== '') ?? '')
    const inner = some.map((line) => (line.trim() === '' ? line : `  ${line}`))
    lines.splice(at, length, `${depth}if (isWanted) {`, ...inner, `${depth}}`)
  },
]

/** Does nothing begin or end within these lines that does not end or begin there too? Nobody would wrap half a statement. */
function isWhole(lines: readonly string[], at: number, length: number): boolean {
  const depth = depthOf(lines[at] ?? '').length
  const solid = lines.slice(at, at + length).filter((line) => line.trim() !== '')
  const last = solid.at(-1) ?? ''
  if (lines[at]?.trim() === '' || /^\s*[})\]]/.test(lines[at] ?? '') || /[{([]$/.test(last)) return false
  return depthOf(last).length === depth && solid.every((line) => depthOf(line).length >= depth)
}

function depthOf(line: string): string {
  return /^ */.exec(line)?.[0] ?? ''
}
