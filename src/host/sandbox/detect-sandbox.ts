import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../process/find-program.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { buildTrialArguments, type BubblewrapMode, listBubblewrapModes } from './bubblewrap.ts'
import { createSeccompFilter } from './seccomp.ts'
import { defined } from '../../model/defined.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export type SandboxBackend =
  | {
      readonly kind: 'bubblewrap'
      readonly program: string
      readonly mode: BubblewrapMode
      /** It can mount a descriptor instead of a path; older versions cannot. */
      readonly bindsDescriptors: boolean
      readonly filters?: SeccompFilterFiles
    }
  | { readonly kind: 'seatbelt'; readonly program: string }

export interface SandboxUnavailable {
  readonly why: string
  readonly remedy?: string
}

/** The same in words. */
export function describeUnavailable({ why, remedy }: SandboxUnavailable): string {
  return [`No sandbox: ${why}`, remedy].filter(Boolean).join(' ')
}

/** Compiled system call filters, as paths that can be opened repeatedly. */
export interface SeccompFilterFiles {
  readonly withLocalSockets: string
  /** Without Unix sockets. */
  readonly withoutLocalSockets: string
}

export async function detectSandbox(roots: AllowedRoots): Promise<SandboxBackend | SandboxUnavailable> {
  if (process.platform === 'darwin') {
    if (existsSync(SEATBELT_PATH)) return { kind: 'seatbelt', program: SEATBELT_PATH }
    return { why: `${SEATBELT_PATH} is missing.` }
  }
  if (process.platform !== 'linux') return { why: `There is no sandbox for ${process.platform} yet.` }
  const program = findProgram('bwrap', roots)
  if (program === undefined) return { why: 'bubblewrap is not installed.', remedy: INSTALL_HINT }
  const filters = (filterFiles ??= writeFilterFiles())
  const help = runProgram(program, ['--help'])
  let problem = ''
  for (const mode of listBubblewrapModes(process.getuid?.() === 0, filters !== undefined)) {
    const filter = mode.filter ? filters?.withLocalSockets : undefined
    const trial = await runProgram(program, [...buildTrialArguments(mode, 3), 'true'], filter)
    if (trial.code === 0) {
      const { text } = await help
      const bindsDescriptors = text.includes('--ro-bind-fd')
      return { kind: 'bubblewrap', program, mode, bindsDescriptors, ...defined({ filters }) }
    }
    problem = trial.text.trim().split('\n')[0] ?? ''
  }
  return { why: `bubblewrap is installed but does not work: ${problem}`, remedy: NAMESPACE_HINT }
}

const SEATBELT_PATH = '/usr/bin/sandbox-exec'

const INSTALL_HINT =
  'Install it: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch), apk add bubblewrap (Alpine).'
const NAMESPACE_HINT =
  'The system must permit user namespaces: on Ubuntu with an AppArmor profile for bwrap or sysctl kernel.apparmor_restrict_unprivileged_userns=0, in Docker with --security-opt seccomp=unconfined.'

let filterFiles: SeccompFilterFiles | undefined

/** Bubblewrap reads a filter from a descriptor to its end, so each command opens its own. */
function writeFilterFiles(): SeccompFilterFiles | undefined {
  const fullFilter = createSeccompFilter(process.arch, { localSockets: true })
  const strictFilter = createSeccompFilter(process.arch, { localSockets: false })
  return tryOrUndefined(
    () =>
      fullFilter &&
      strictFilter && {
        withLocalSockets: createUnnamedFile(fullFilter),
        withoutLocalSockets: createUnnamedFile(strictFilter),
      },
  )
}

/** A file without a name, which is gone with this process; the path leads to its descriptor. */
function createUnnamedFile(bytes: Buffer): string {
  const path = join(tmpdir(), `dragoman-filter-${randomBytes(8).toString('hex')}`)
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const descriptor = openSync(path, flags, 0o600)
  unlinkSync(path)
  writeSync(descriptor, bytes)
  return `/proc/self/fd/${descriptor}`
}

function runProgram(
  program: string,
  args: readonly string[],
  filter?: string,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    const descriptor = filter === undefined ? undefined : openSync(filter, 'r')
    const filterStdio = descriptor === undefined ? [] : [descriptor]
    const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const, ...filterStdio]
    const child = spawn(program, args, { timeout: 5000, env: { PATH: '/usr/bin:/bin' }, stdio })
    if (descriptor !== undefined) closeSync(descriptor)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (text += data.toString()))
    child.once('error', (error) => resolve({ code: -1, text: error.message }))
    child.once('close', (code) => resolve({ code: code ?? -1, text }))
  })
}
