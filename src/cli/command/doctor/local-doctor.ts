import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { findProgram } from '../../../host/process/find-program.ts'
import { localHost } from '../../../host/local-host.ts'
import { findRipgrep } from '../../../host/search/ripgrep.ts'
import { createAllowedRoots } from '../../../host/files/allowed-roots.ts'
import type { SandboxState } from '../../../host/sandbox/sandbox.ts'
import { findShell } from '../../../host/process/find-shell.ts'
import { parseRunArgs } from '../../args/run-args.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import {
  EMPTY_SETTINGS,
  getProjectConfigPath,
  readSettings,
  type Settings,
  getUserConfigPath,
} from '../../config/read-settings.ts'
import { readTrustState, TRUST_DESCRIPTIONS } from '../../config/folder-trust.ts'
import { getErrorMessage } from '../../../model/error-message.ts'
import { UserError } from '../../user-error.ts'
import { listProviders } from '../../setup/choose-model.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { getSessionsFolder } from '../../paths/folders.ts'
import { toSandboxOptions } from '../../setup/sandbox-options.ts'
import { version } from '../../version.ts'

/** `dragoman doctor --local`: what is in effect on this machine, for this folder. Keys are named, never shown. */
export async function runLocalDoctor(argv: readonly string[]): Promise<void> {
  const asJson = argv.includes('--json')
  const args = parseRunArgs(argv.filter((arg) => arg !== '--json'))
  const folder = resolveWorkFolder(args)
  const { settings, problem } = readSettingsOrProblem(folder)
  const host = localHost({ folders: [folder], scratch: tmpdir(), ...toSandboxOptions(args, settings, folder) })
  const sandbox = await host.sandbox()
  const roots = createAllowedRoots({ folders: [folder] })
  const git = findProgram('git', roots)
  const facts = {
    dragoman: version,
    node: `${process.version} (${process.platform} ${process.arch})`,
    sandbox: describeSandbox(sandbox),
    shell: findShell(),
    ripgrep: (await findRipgrep(roots)) ?? 'not found; searches are slower without it',
    git: git === undefined ? 'not found' : `${git} (${readFirstOutputLine(git, ['--version'])})`,
    settings: problem ?? joinOrNone(settings.files, 'none found') + describeMissingFiles(folder),
    trust: `this folder is ${TRUST_DESCRIPTIONS[readTrustState(folder)]}`,
    keys: joinOrNone(findKeyVariables(settings), 'none found in the environment'),
    sessions: getSessionsFolder(folder),
  }
  if (asJson) {
    const { isActive: inForce, ...state } = sandbox
    return void process.stdout.write(`${JSON.stringify({ ...facts, sandbox: { inForce, ...state } })}\n`)
  }
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(10)} ${escapeForTerminal(value)}\n`)
  process.stdout.write(lines.join(''))
}

function describeSandbox(state: SandboxState): string {
  if (!state.isActive) return ['none.', state.why, state.remedy].filter(Boolean).join(' ')
  const facts = [
    `${state.kind}, network ${state.network ? 'open' : 'closed'}`,
    state.asRoot && 'running as root: files of root outside the workspace are readable; run as an ordinary user',
    state.unfiltered && 'system calls are not filtered',
  ]
  return facts.filter(Boolean).join('; ')
}

/** Invalid settings are shown as a finding. */
function readSettingsOrProblem(folder: string): { settings: Settings; problem?: string } {
  try {
    return { settings: readSettings(folder) }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { settings: EMPTY_SETTINGS, problem: error.message }
  }
}

function describeMissingFiles(folder: string): string {
  const missingPaths = [getUserConfigPath(), getProjectConfigPath(folder)].filter((path) => !existsSync(path))
  return missingPaths.length === 0 ? '' : ` (looked for: ${missingPaths.join(', ')})`
}

function joinOrNone(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(', ')
}

function findKeyVariables({ config }: Settings): string[] {
  const names = listProviders(config).flatMap(({ keys, tokens = [] }) => [...keys, ...tokens])
  return [...new Set(names)].filter((name) => (process.env[name] ?? '') !== '')
}

function readFirstOutputLine(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', timeout: 5000 }).split('\n')[0] ?? ''
  } catch (error) {
    return `does not run: ${getErrorMessage(error).split('\n')[0]}`
  }
}
