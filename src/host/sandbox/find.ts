import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../find-program.ts'
import type { Roots } from '../roots.ts'
import { trialArguments, type Way, ways } from './bubblewrap.ts'
import { seccompFilter } from './seccomp.ts'

/** The sandbox of this machine. */
export type Found =
  | {
      readonly kind: 'bubblewrap'
      readonly program: string
      readonly way: Way
      readonly abilities: Abilities
      readonly filters?: FilterFiles
    }
  | { readonly kind: 'seatbelt'; readonly program: string }

/** What older versions of bubblewrap lack. */
export interface Abilities {
  /** It mounts what a descriptor holds, instead of what a name means at that moment. */
  readonly holds: boolean
}

/** Why there is none, and how to get one. */
export interface Missing {
  readonly why: string
  readonly remedy?: string
}

/** Compiled filters of system calls: paths that can be opened as often as needed. */
export interface FilterFiles {
  readonly usual: string
  /** Without sockets of the local kind. */
  readonly narrow: string
}

/** Finds out by trying what this machine can do. */
export async function findSandbox(roots: Roots): Promise<Found | Missing> {
  if (process.platform === 'darwin') {
    if (existsSync(SEATBELT)) return { kind: 'seatbelt', program: SEATBELT }
    return { why: `${SEATBELT} is missing.` }
  }
  if (process.platform !== 'linux') return { why: `There is no sandbox for ${process.platform} yet.` }
  const program = findProgram('bwrap', roots)
  if (program === undefined) return { why: 'bubblewrap is not installed.', remedy: INSTALL }
  const filters = (filterFiles ??= writeFilters())
  const help = output(program, ['--help'])
  let problem = ''
  for (const way of ways(process.getuid?.() === 0, filters !== undefined)) {
    const trial = await output(program, [...trialArguments(way, 3), 'true'], way.filter ? filters?.usual : undefined)
    if (trial.code === 0) {
      const { text } = await help
      const abilities = { holds: text.includes('--ro-bind-fd') }
      return { kind: 'bubblewrap', program, way, abilities, ...(filters && { filters }) }
    }
    problem = trial.text.trim().split('\n')[0] ?? ''
  }
  return { why: `bubblewrap is installed, but does not work here: ${problem}`, remedy: PERMIT }
}

const SEATBELT = '/usr/bin/sandbox-exec'

const INSTALL =
  'Install it: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch), apk add bubblewrap (Alpine).'
const PERMIT =
  'The system must permit user namespaces: on Ubuntu with an AppArmor profile for bwrap or sysctl kernel.apparmor_restrict_unprivileged_userns=0, in Docker with --security-opt seccomp=unconfined.'

let filterFiles: FilterFiles | undefined

/** Bubblewrap reads a filter to its end from a descriptor, so each command needs one of its own. */
function writeFilters(): FilterFiles | undefined {
  const usual = seccompFilter(process.arch, { localSockets: true })
  const narrow = seccompFilter(process.arch, { localSockets: false })
  try {
    return usual && narrow && { usual: namelessFile(usual), narrow: namelessFile(narrow) }
  } catch {
    return undefined
  }
}

/** A file that has no name any more, and is gone with this process; the path leads to its descriptor. */
function namelessFile(bytes: Buffer): string {
  const path = join(tmpdir(), `dragoman-filter-${randomBytes(8).toString('hex')}`)
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const descriptor = openSync(path, flags, 0o600)
  unlinkSync(path)
  writeSync(descriptor, bytes)
  return `/proc/self/fd/${descriptor}`
}

/** How a program ended, and what it printed. */
function output(program: string, args: readonly string[], filter?: string): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    const descriptor = filter === undefined ? undefined : openSync(filter, 'r')
    const stdio = [
      'ignore' as const,
      'pipe' as const,
      'pipe' as const,
      ...(descriptor === undefined ? [] : [descriptor]),
    ]
    const child = spawn(program, args, { timeout: 5000, env: { PATH: '/usr/bin:/bin' }, stdio })
    if (descriptor !== undefined) closeSync(descriptor)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (text += data.toString()))
    child.once('error', (error) => resolve({ code: -1, text: error.message }))
    child.once('close', (code) => resolve({ code: code ?? -1, text }))
  })
}
