import { judgePlace, type Places } from '../path/place.ts'
import type { Command, Survey } from './command.ts'
import { destroys } from './destroys.ts'
import { secretsNamed } from './secret-words.ts'
import { UNKNOWN, type Word } from './word.ts'
import { writtenBy } from './writers.ts'

/** Something that must not happen, or not without a person. */
export interface Danger {
  readonly verdict: 'deny' | 'ask'
  readonly rule: string
  readonly why: string
}

/** Finds what no rule and no mode makes harmless, in all commands that were found. */
export function dangersIn({ commands, bomb }: Survey, places: Places): Danger[] {
  const found = commands.flatMap((command) => [
    ...reason(destroys(command, places), 'destroys'),
    ...[...command.writes, ...writtenBy(command.words)].flatMap((word) => written(word, command, places)),
    ...command.reads.flatMap((word) => network(word)),
    ...secretsNamed(command, commands, places).map(({ why, rule }): Danger => ({ verdict: 'ask', rule, why })),
  ])
  return bomb ? [{ verdict: 'deny', rule: 'destroys', why: 'It would start itself without end.' }, ...found] : found
}

function reason(why: string | undefined, rule: string): Danger[] {
  return why === undefined ? [] : [{ verdict: 'deny', rule, why }]
}

function written(word: Word, command: Command, places: Places): Danger[] {
  const { guess } = word
  if (network(word).length > 0) return network(word)
  if (guess === '' || guess === '/dev/null' || /^\d+$/.test(guess)) return []
  if (/^\/dev\/(?!(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+|shm\/[^]*|pts\/\d+)$)/.test(guess)) {
    return [{ verdict: 'deny', rule: 'destroys', why: `It would write to the device ${guess}.` }]
  }
  const path = guess.split(UNKNOWN)[0] ?? ''
  if (path === '' || (guess.includes(UNKNOWN) && !path.includes('/'))) return []
  const { kind, why, rule } = judgePlace(path.replace(/[*?[].*$/s, ''), 'write', places, command.folder)
  if (kind === 'protected') {
    const advice = 'A command must not do that; write_file can, if a person agrees.'
    return [{ verdict: 'deny', rule, why: `${why} ${advice}` }]
  }
  return kind === 'instructions' ? [{ verdict: 'ask', rule, why }] : []
}

/** Bash opens connections by itself for these names. */
function network({ guess }: Word): Danger[] {
  if (!/^\/dev\/(?:tcp|udp)\//.test(guess)) return []
  return [{ verdict: 'deny', rule: 'network by redirection', why: `It would open a connection through ${guess}.` }]
}
