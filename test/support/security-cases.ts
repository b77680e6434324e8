import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shared } from './paths.ts'

/** A text that may be written in pieces, long repeats folded. */
export type Folded = string | readonly (string | { readonly repeat: string; readonly times: number })[]

/** The `skip` option of a test that reads the security cases. */
export const skipWithoutCases: false | string = existsSync(join(shared, 'security'))
  ? false
  : 'the folder ../shared/security is absent'

/** The cases of one file, by default of its first round; none where it is absent. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function securityCases<Case>(file: string, rounds: readonly string[] = ['.']): readonly Case[] {
  return rounds
    .map((round) => join(shared, 'security', round, file))
    .filter((path) => existsSync(path))
    .flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly Case[] }).cases)
}

/** Every round of cases that there is. */
export const ALL_ROUNDS = ['.', 'round2'] as const

/** The whole text. */
export function unfolded(text: Folded): string {
  if (typeof text === 'string') return text
  return text.map((piece) => (typeof piece === 'string' ? piece : piece.repeat.repeat(piece.times))).join('')
}
