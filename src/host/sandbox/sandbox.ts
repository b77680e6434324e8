import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { findProgram } from '../find-program.ts'
import type { Roots } from '../roots.ts'
import { bubblewrapArguments, countsApart, trialArguments, type Way, ways } from './bubblewrap.ts'
import { type Guard, guard, makeRoom, standingIn, tidy } from './guard.ts'
import { isBelow } from './below.ts'
import { layoutOf } from './layout.ts'
import { NEVER_NEW, PROTECTED, PROTECTED_AT_HOME } from './protected.ts'
import { seatbeltProfile } from './seatbelt.ts'

/** Whether commands run in a sandbox: where there is one, always (or not at all), or never. */
export type SandboxMode = 'auto' | 'on' | 'off'

/** What is settled about the sandbox. */
export interface SandboxOptions {
  readonly mode: SandboxMode
  /** May commands reach the network? Not if this is absent. */
  readonly network?: boolean
  /** Paths that commands must not write, relative to a workspace folder, beside the usual ones. `name/**` means `name`. */
  readonly protect?: readonly string[]
  /** Folders of ours that commands must not see: settings, sessions. */
  readonly secret?: readonly string[]
  /** The person's home folder; this process's if it is absent. */
  readonly home?: string
}

/** Is there a sandbox? If not, why, and how to get one. */
export type SandboxState =
  | { readonly inForce: true; readonly kind: 'bubblewrap' | 'seatbelt'; readonly network: boolean }
  | { readonly inForce: false; readonly why: string; readonly remedy?: string }

/** A program that starts a command inside, and what must be done when the command has ended. */
export interface Enclosed {
  readonly program: string
  /** To be followed by the command and its arguments. */
  readonly args: readonly string[]
  /** The command has processes of its own numbering, and ends with whoever started it. */
  readonly boxed: boolean
  /** The system counts its processes apart from all others of the person, so it can be held to a number. */
  readonly countedApart?: boolean
  /** Puts back what the command changed and could not be kept from changing; gives the paths. */
  check(): readonly string[]
  /** All processes of the command have ended. */
  release(): void
}

/** Runs programs where they can do little harm. */
export interface Sandbox {
  readonly mode: SandboxMode
  /** Found out once, when it is first asked for. */
  state(): Promise<SandboxState>
  /** A way in, from a folder by its real path, where more paths may be seen; none if there is no sandbox. */
  enclose(folder: string, network?: boolean, seen?: readonly string[]): Promise<Enclosed | undefined>
  /** Folders that only stand in for something that is missing. */
  standingIn(): ReadonlyMap<string, number>
  /** A tool that was allowed to is about to write this path. */
  makeRoom(path: string): void
  close(): void
}

/** The sandbox of this machine: bubblewrap on Linux, Seatbelt on macOS. The folders are read again for each command. */
export function localSandbox(
  options: SandboxOptions,
  places: { readonly folders: readonly string[]; readonly scratch: string },
  roots: Roots,
): Sandbox {
  let found: Promise<Found | Missing> | undefined
  const find = (): Promise<Found | Missing> => {
    if (places.folders.some((folder) => realpathSync(folder) === '/')) return WHOLE_DISK
    return (found ??= options.mode === 'off' ? OFF : look(roots))
  }
  const guards = new Set<Guard>()
  const temporary = join(places.scratch, 'tmp')
  const protect = [...new Set([...PROTECTED, ...(options.protect ?? []).flatMap(plainPath)])]

  return {
    mode: options.mode,

    async state() {
      const have = await find()
      if ('why' in have) return { inForce: false, ...have }
      return { inForce: true, kind: have.kind, network: options.network ?? false }
    },

    async enclose(folder, network = options.network ?? false, seen = []) {
      const have = await find()
      if ('why' in have) return undefined
      mkdirSync(temporary, { recursive: true, mode: 0o700 })
      const scratch = realpathSync(places.scratch)
      const home = realHome(options.home ?? homedir())
      const path = [process.env['PATH'] ?? '', ...seen].join(delimiter)
      const layout = layoutOf({ folders: places.folders, home, secret: options.secret ?? [], path, network })
      const held = guard(layout.workspace, (one) => [...protect, ...atHome(one, home)], NEVER_NEW)
      guards.add(held)
      const release = (): void => {
        held.release()
        guards.delete(held)
      }
      const ends = { check: () => held.check(), release }
      const boxed = have.kind === 'bubblewrap'
      if (boxed) {
        const box = { layout, guard: held, temporary: join(scratch, 'tmp'), scratch, folder, network }
        const countedApart = countsApart(have.way)
        return { program: have.program, args: bubblewrapArguments(have.way, box), boxed, countedApart, ...ends }
      }
      const profile = seatbeltProfile({ layout, guard: held, scratch: [scratch], network })
      return { program: have.program, args: ['-p', profile], boxed, ...ends }
    },

    standingIn,
    makeRoom,
    close() {
      for (const held of guards) held.release()
      guards.clear()
      tidy()
      rmSync(temporary, { recursive: true, force: true })
    },
  }
}

type Found =
  | { readonly kind: 'bubblewrap'; readonly program: string; readonly way: Way }
  | { readonly kind: 'seatbelt'; readonly program: string }

interface Missing {
  readonly why: string
  readonly remedy?: string
}

const OFF: Promise<Missing> = Promise.resolve({ why: 'It is switched off.' })
const WHOLE_DISK: Promise<Missing> = Promise.resolve({ why: 'The workspace is the whole disk.' })
const SEATBELT = '/usr/bin/sandbox-exec'

async function look(roots: Roots): Promise<Found | Missing> {
  if (process.platform === 'darwin') {
    if (existsSync(SEATBELT)) return { kind: 'seatbelt', program: SEATBELT }
    return { why: `${SEATBELT} is missing.` }
  }
  if (process.platform !== 'linux') return { why: `There is no sandbox for ${process.platform} yet.` }
  const program = findProgram('bwrap', roots)
  if (program === undefined) return { why: 'bubblewrap is not installed.', remedy: INSTALL }
  let problem = ''
  for (const way of ways(process.getuid?.() === 0)) {
    const trial = await attempt(program, [...trialArguments(way), 'true'])
    if (trial === undefined) return { kind: 'bubblewrap', program, way }
    problem = trial
  }
  return { why: `bubblewrap is installed, but does not work here: ${problem}`, remedy: PERMIT }
}

const INSTALL =
  'Install it: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch), apk add bubblewrap (Alpine).'
const PERMIT =
  'The system must permit user namespaces: on Ubuntu with an AppArmor profile for bwrap or sysctl kernel.apparmor_restrict_unprivileged_userns=0, in Docker with --security-opt seccomp=unconfined.'

/** What stands in the way, if something does. */
function attempt(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 5000, env: { PATH: '/usr/bin:/bin' } }, (error, _out, said) =>
      resolve(error ? said.trim().split('\n')[0] || error.message : undefined),
    )
  })
}

function realHome(home: string): string {
  try {
    return realpathSync(home)
  } catch {
    return home
  }
}

/** What is protected of the home folder, if it is in this folder of the workspace. */
function atHome(folder: string, home: string): string[] {
  return isBelow(home, folder) ? PROTECTED_AT_HOME.map((path) => join(relative(folder, home), path)) : []
}

/** The path that a rule means, if it means one: patterns are for the policy to judge. */
function plainPath(rule: string): string[] {
  const path = rule.replace(/^(?:\*\*\/)+/, '').replace(/(?:\/\*+)+$/, '')
  return path === '' || path.startsWith('/') || path.startsWith('~') || /[*?[{]|\.\./.test(path) ? [] : [path]
}
