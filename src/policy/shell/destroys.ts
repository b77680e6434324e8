import { posix } from 'node:path'
import { NO_DISK } from '../disk.ts'
import type { Places } from '../path/place.ts'
import { type Command, programOf } from './command.ts'
import { UNKNOWN, type Word } from './word.ts'

/** Says what a command would destroy, if that is the machine, the home folder, the workspace or its repository. */
export function destroys(command: Command, places: Places): string | undefined {
  const name = programOf(command)
  const args = command.words.slice(1)
  const operands = args.filter(({ guess }, at) => !guess.startsWith('-') || args[at - 1]?.guess === '--')
  const flags = args.filter(({ guess }) => guess.startsWith('-')).map(({ guess }) => guess)
  const isDeep = flags.some((flag) => /^-[a-zA-Z]*[rR]|^--recursive/.test(flag))
  const vital = (words: readonly Word[], own: boolean) => vitalIn(words, command.folder, places, own)

  if (
    /^(?:mkfs(?:\..*)?|mkswap|wipefs|blkdiscard|fdisk|sfdisk|parted|shutdown|reboot|halt|poweroff|killall5)$/.test(name)
  ) {
    return `It would run ${name} on this machine.`
  }
  if (name === 'systemctl' && args.some(({ guess }) => /^(?:poweroff|reboot|halt|kexec)$/.test(guess)))
    return 'It would stop this machine.'
  if (name === 'kill' && args.slice(1).some(({ guess }) => guess === '-1')) return 'It would end every process.'
  if (name === 'rm' && (isDeep || operands.some(({ glob }) => glob))) return vital(operands, true)
  if (name === 'rmdir' || name === 'shred' || name === 'srm') return vital(operands, true)
  if (name === 'mv') return vital(operands.slice(0, -1), true)
  if ((name === 'chmod' || name === 'chown' || name === 'chgrp') && isDeep) return vital(operands.slice(1), false)
  if (name === 'find' && removes(args) && !args.some(({ guess }) => FILTER.test(guess))) {
    const first = args.findIndex(({ guess }) => guess.startsWith('-'))
    return vital(first === 0 ? [{ guess: '.', glob: false }] : args.slice(0, first), true)
  }
  return undefined
}

/** Does `find` remove what it finds? */
function removes(args: readonly Word[]): boolean {
  return args.some(
    ({ guess }, at) => guess === '-delete' || (guess === 'rm' && (args[at - 1]?.guess ?? '').startsWith('-exec')),
  )
}

/** What makes `find` pick some files, and not all. */
const FILTER = /^-(?:i?name|i?path|i?wholename|i?regex|newer\w*|[mca]time|[mca]min|size|empty|user|group|perm)$/

/** The first of some words that means the root, a system folder, the home folder, or (own) the workspace or a repository. */
function vitalIn(words: readonly Word[], folder: string | undefined, places: Places, own: boolean): string | undefined {
  const { disk = NO_DISK, home } = places
  const vital = [...(home === undefined ? [] : [home]), ...(own ? places.folders : [])]
  for (const { guess } of words) {
    // `x/*` empties x.
    const path = guess.replace(/(?:\/\.?\*+)+\/?$/, '/').replace(/^\.?\*+$/, './')
    if (path.includes(UNKNOWN) || path === '' || /^~\w/.test(path)) continue
    if (folder === undefined && !path.startsWith('/')) {
      if (/^(?:\.{0,2}\/?)$/.test(path)) return `It would destroy ${guess}.`
      continue
    }
    const text = posix.resolve(folder ?? '/', path)
    const full = [text, disk.real(text) ?? text]
    const isSystem =
      full.some((one) => /^\/(?:[^/]+)?$/.test(one)) && !full.some((one) => one === '/tmp' && path !== '/tmp')
    const isAbove = full.some((one) =>
      vital.some((place) => place === one || place.startsWith(one === '/' ? '/' : `${one}/`)),
    )
    const isRepository = own && full.some((one) => posix.basename(one).toLowerCase() === '.git')
    if (isSystem || isAbove || isRepository) return `It would destroy ${text}.`
  }
  return undefined
}
