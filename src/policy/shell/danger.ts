import { classifyPath, type PathContext } from '../path/classify-path.ts'
import type { ShellCommand, ShellCommandAnalysis } from './shell-command.ts'
import { findDestruction } from './destructive-command.ts'
import { findNamedSecrets } from './named-secrets.ts'
import { UNKNOWN_VALUE, type ShellWord } from './shell-word.ts'
import { findWrittenFiles } from './written-files.ts'

interface Danger {
  readonly verdict: 'deny' | 'ask'
  readonly rule: string
  readonly why: string
}

/** Finds dangers that no rule and no mode permits. */
export function findDangers({ commands, isForkBomb }: ShellCommandAnalysis, pathContext: PathContext): Danger[] {
  const found = commands.flatMap((command): Danger[] => {
    const destruction = findDestruction(command, pathContext)
    return [
      ...(destruction === undefined ? [] : [{ verdict: 'deny', rule: 'destroys', why: destruction } as const]),
      ...[...command.writes, ...findWrittenFiles(command.words)].flatMap((word) =>
        findWriteDangers(word, command, pathContext),
      ),
      ...command.reads.flatMap(findNetworkDangers),
      ...findNamedSecrets(command, commands, pathContext).map(
        ({ why, rule }) => ({ verdict: 'ask', rule, why }) as const,
      ),
    ]
  })
  return isForkBomb ? [{ verdict: 'deny', rule: 'destroys', why: 'It would start itself endlessly.' }, ...found] : found
}

function findWriteDangers(word: ShellWord, command: ShellCommand, pathContext: PathContext): Danger[] {
  const { guess } = word
  const networkDangers = findNetworkDangers(word)
  if (networkDangers.length > 0) return networkDangers
  if (guess === '' || guess === '/dev/null' || /^\d+$/.test(guess)) return []
  if (/^\/dev\/(?!(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+|shm\/[^]*|pts\/\d+)$)/.test(guess)) {
    return [{ verdict: 'deny', rule: 'destroys', why: `It would write to the device ${guess}.` }]
  }
  const path = guess.split(UNKNOWN_VALUE)[0] ?? ''
  if (path === '' || (guess.includes(UNKNOWN_VALUE) && !path.includes('/'))) return []
  const { kind, why, rule } = classifyPath(path.replace(/[*?[].*$/s, ''), 'write', pathContext, command.folder)
  if (kind === 'protected') {
    const advice = 'A command must not do that; write_file can, if the user agrees.'
    return [{ verdict: 'deny', rule, why: `${why} ${advice}` }]
  }
  return kind === 'instructions' ? [{ verdict: 'ask', rule, why }] : []
}

/** Bash opens connections for these names. */
function findNetworkDangers({ guess }: ShellWord): Danger[] {
  if (!/^\/dev\/(?:tcp|udp)\//.test(guess)) return []
  return [{ verdict: 'deny', rule: 'network by redirection', why: `It would open a connection through ${guess}.` }]
}
