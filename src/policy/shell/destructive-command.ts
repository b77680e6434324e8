import { posix } from 'node:path'
import { NO_DISK_VIEW } from '../disk-view.ts'
import type { PathContext } from '../path/classify-path.ts'
import { type ShellCommand, getProgramName } from './shell-command.ts'
import { UNKNOWN_VALUE, type ShellWord } from './shell-word.ts'

/** Returns what a command would destroy, if that is the machine, the home folder, the workspace or its repository. */
export function findDestruction(command: ShellCommand, pathContext: PathContext): string | undefined {
  const name = getProgramName(command)
  const args = command.words.slice(1)
  const operands = args.filter(({ guess }, at) => !guess.startsWith('-') || args[at - 1]?.guess === '--')
  const flags = args.filter(({ guess }) => guess.startsWith('-')).map(({ guess }) => guess)
  const isDeep = flags.some((flag) => /^-[a-zA-Z]*[rR]|^--recursive/.test(flag))
  const findVital = (words: readonly ShellWord[], includesWorkspace: boolean) =>
    findVitalPath(words, command.folder, pathContext, includesWorkspace)

  if (
    /^(?:mkfs(?:\..*)?|mkswap|wipefs|blkdiscard|fdisk|sfdisk|parted|shutdown|reboot|halt|poweroff|killall5)$/.test(name)
  ) {
    return `It would run ${name} on this machine.`
  }
  if (name === 'systemctl' && args.some(({ guess }) => /^(?:poweroff|reboot|halt|kexec)$/.test(guess)))
    return 'It would stop this machine.'
  if (name === 'kill' && args.slice(1).some(({ guess }) => guess === '-1')) return 'It would end every process.'
  if (name === 'rm' && (isDeep || operands.some(({ glob }) => glob))) return findVital(operands, true)
  if (name === 'rmdir' || name === 'shred' || name === 'srm') return findVital(operands, true)
  if (name === 'mv') return findVital(operands.slice(0, -1), true)
  if ((name === 'chmod' || name === 'chown' || name === 'chgrp') && isDeep) return findVital(operands.slice(1), false)
  if (name === 'find' && deletesMatches(args) && !args.some(({ guess }) => FIND_FILTER_OPTION.test(guess))) {
    const first = args.findIndex(({ guess }) => guess.startsWith('-'))
    return findVital(first === 0 ? [{ guess: '.', glob: false }] : args.slice(0, first), true)
  }
  return undefined
}

function deletesMatches(args: readonly ShellWord[]): boolean {
  return args.some(
    ({ guess }, at) => guess === '-delete' || (guess === 'rm' && (args[at - 1]?.guess ?? '').startsWith('-exec')),
  )
}

/** Options that make `find` select some files only. */
const FIND_FILTER_OPTION =
  /^-(?:i?name|i?path|i?wholename|i?regex|newer\w*|[mca]time|[mca]min|size|empty|user|group|perm)$/

/**
 * Returns an error for the first root, system or home folder, or, with `includesWorkspace`, workspace or repository.
 */
function findVitalPath(
  words: readonly ShellWord[],
  folder: string | undefined,
  pathContext: PathContext,
  includesWorkspace: boolean,
): string | undefined {
  const { disk = NO_DISK_VIEW, home } = pathContext
  const findVital = [...(home === undefined ? [] : [home]), ...(includesWorkspace ? pathContext.folders : [])]
  for (const { guess } of words) {
    // `x/*` empties x.
    const path = guess.replace(/(?:\/\.?\*+)+\/?$/, '/').replace(/^\.?\*+$/, './')
    if (path.includes(UNKNOWN_VALUE) || path === '' || /^~\w/.test(path)) continue
    if (folder === undefined && !path.startsWith('/')) {
      if (/^(?:\.{0,2}\/?)$/.test(path)) return `It would destroy ${guess}.`
      continue
    }
    const text = posix.resolve(folder ?? '/', path)
    const full = [text, disk.realPath(text) ?? text]
    const isSystem =
      full.some((one) => /^\/(?:[^/]+)?$/.test(one)) && !full.some((one) => one === '/tmp' && path !== '/tmp')
    const isAbove = full.some((one) =>
      findVital.some((vitalPath) => vitalPath === one || vitalPath.startsWith(one === '/' ? '/' : `${one}/`)),
    )
    const isRepository = includesWorkspace && full.some((one) => posix.basename(one).toLowerCase() === '.git')
    if (isSystem || isAbove || isRepository) return `It would destroy ${text}.`
  }
  return undefined
}
