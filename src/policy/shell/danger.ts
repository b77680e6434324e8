import { classifyPath, type PathContext } from '../path/classify-path.ts'
import type { ShellCommand, ShellCommandAnalysis } from './shell-command.ts'
import { findDestruction } from './destructive-command.ts'
import { findNamedSecrets } from './named-secrets.ts'
import { UNKNOWN_VALUE, type ShellWord } from './shell-word.ts'
import { findWrittenFiles } from './written-files.ts'

export interface Danger {
  readonly verdict: 'deny' | 'ask'
  readonly rule: string
  readonly why: string
}

/** Finds dangers that no rule and no mode permits. */
export function findDangers({ commands, isForkBomb }: ShellCommandAnalysis, pathContext: PathContext): Danger[] {
  const found = commands.flatMap((command) => [
    ...toDenials(findDestruction(command, pathContext), 'destroys'),
    ...[...command.writes, ...findWrittenFiles(command.words)].flatMap((word) =>
      findWriteDangers(word, command, pathContext),
    ),
    ...command.reads.flatMap((word) => findNetworkDangers(word)),
    ...findNamedSecrets(command, commands, pathContext).map(({ why, rule }): Danger => ({ verdict: 'ask', rule, why })),
  ])
  return isForkBomb ? [{ verdict: 'deny', rule: 'destroys', why: 'It would start itself endlessly.' }, ...found] : found
}

function toDenials(why: string | undefined, rule: string): Danger[] {
  return why === undefined ? [] : [{ verdict: 'deny', rule, why }]
}

function findWriteDangers(word: ShellWord, command: ShellCommand, pathContext: PathContext): Danger[] {
  const { guess } = word
  if (findNetworkDangers(word).length > 0) return findNetworkDangers(word)
  if (guess === '' || guess === '/dev/null' || /^\d+$/.test(guess)) return []
  if (/^\/dev\/(?!(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+|shm\/[^]*|pts\/\d+)$)/.test(guess)) {
    return [{ verdict: 'deny', rule: 'destroys', why: `It would write to the device ${guess}.` }]
  }
  const path = guess.split(UNKNOWN_VALUE)[0] ?? ''
  if (path === '' || (guess.includes(UNKNOWN_VALUE) && !path.includes('/'))) return []
  const { kind, why, rule } = classifyPath(path.replace(/[*?[].*$/s, ''), 'write', pathContext, command.folder)
  if (kind === 'protected') {
    const advice = 'A command must not do that; write_file can, if a person agrees.'
    return [{ verdict: 'deny', rule, why: `${why} ${advice}` }]
  }
  return kind === 'instructions' ? [{ verdict: 'ask', rule, why }] : []
}

/** Bash opens connections for these names. */
function findNetworkDangers({ guess }: ShellWord): Danger[] {
  if (!/^\/dev\/(?:tcp|udp)\//.test(guess)) return []
  return [{ verdict: 'deny', rule: 'network by redirection', why: `It would open a connection through ${guess}.` }]
}
