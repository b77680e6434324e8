import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { findProgram } from '../../host/find-program.ts'
import { localHost } from '../../host/local.ts'
import { ripgrepProgram } from '../../host/ripgrep.ts'
import { rootsOf } from '../../host/roots.ts'
import type { SandboxState } from '../../host/sandbox/sandbox.ts'
import { shell } from '../../host/shell.ts'
import { readArgs } from '../line/args.ts'
import { workFolder } from '../setup/assemble.ts'
import { projectConfig, readSettings, type Settings, userConfig } from '../config/read.ts'
import { trustOf } from '../config/trust.ts'
import { Complaint } from '../exit.ts'
import { rowsWith } from '../setup/model.ts'
import { visible } from '../output/visible.ts'
import { sessionsFolder } from '../own/places.ts'
import { shutIn } from '../setup/shut-in.ts'
import { version } from '../version.ts'

/** `dragoman doctor --local`: what is in force on this machine, for this folder. Of keys it says only where they are. */
export async function doctorLocal(argv: readonly string[]): Promise<void> {
  const asJson = argv.includes('--json')
  const args = readArgs(argv.filter((arg) => arg !== '--json'))
  const folder = workFolder(args)
  const { settings, problem } = settingsOr(folder)
  const host = localHost({ folders: [folder], scratch: tmpdir(), ...shutIn(args, settings, folder) })
  const sandbox = await host.sandbox()
  const roots = rootsOf({ folders: [folder] })
  const git = findProgram('git', roots)
  const facts = {
    dragoman: version,
    node: `${process.version} (${process.platform} ${process.arch})`,
    sandbox: sandboxWords(sandbox),
    shell: shell(),
    ripgrep: (await ripgrepProgram(roots)) ?? 'none; searches are slower without it',
    git: git === undefined ? 'none' : `${git} (${firstLine(git, ['--version'])})`,
    settings: problem ?? listed(settings.files.length > 0 ? settings.files : [], 'none found', absent(folder)),
    trust: `this folder is ${TRUST[trustOf(folder)]}`,
    keys: listed(keysFound(settings), 'none found in the environment'),
    sessions: sessionsFolder(folder),
  }
  if (asJson) return void process.stdout.write(`${JSON.stringify({ ...facts, sandbox })}\n`)
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(10)} ${visible(value)}\n`)
  process.stdout.write(lines.join(''))
}

function sandboxWords(state: SandboxState): string {
  if (state.inForce) {
    const facts = [
      `${state.kind}, network ${state.network ? 'open' : 'closed'}`,
      ...(state.asRoot
        ? ['as root: files of root outside of the workspace can be read; an ordinary user is safer']
        : []),
      ...(state.unfiltered ? ['system calls are not filtered'] : []),
    ]
    return facts.join('; ')
  }
  return ['none.', state.why, state.remedy].filter(Boolean).join(' ')
}

const TRUST = {
  unknown: 'not trusted yet',
  trusted: 'trusted as it is now',
  changed: 'no longer trusted, because its settings have changed',
  refused: 'not trusted, as you said',
}

/** Settings that are wrong are one of the things that a person looks for here. */
function settingsOr(folder: string): { settings: Settings; problem?: string } {
  try {
    return { settings: readSettings(folder) }
  } catch (error) {
    if (!(error instanceof Complaint)) throw error
    return { settings: { config: {}, policies: {}, files: [], notices: [] }, problem: error.message }
  }
}

function absent(folder: string): string {
  const places = [userConfig(), projectConfig(folder)].filter((path) => !existsSync(path))
  return places.length === 0 ? '' : ` (looked for: ${places.join(', ')})`
}

function listed(names: readonly string[], none: string, more = ''): string {
  return (names.length === 0 ? none : names.join(', ')) + more
}

/** The names of variables that hold a key; never a key. */
function keysFound({ config }: Settings): string[] {
  const names = rowsWith(config).flatMap(({ keys, tokens = [] }) => [...keys, ...tokens])
  return [...new Set(names)].filter((name) => (process.env[name] ?? '') !== '')
}

function firstLine(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', timeout: 5000 }).split('\n')[0] ?? ''
  } catch (error) {
    return `does not run: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`
  }
}
