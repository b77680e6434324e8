import { spawn } from 'node:child_process'
import { escapeForTerminal } from '../output/escape.ts'
import { version } from '../version.ts'
import type { StatusInfo } from './ui-state.ts'

interface StatusCommand {
  readonly command: string
  readonly folder: string
  readonly getStatus: () => StatusInfo
  readonly getSession: () => string
  readonly show: (line: string | undefined) => void
}

/** A status line of the user's own: the first line that a command prints. It is run again when something changes. */
export function createCustomStatusLine({ command, folder, getStatus, getSession, show }: StatusCommand) {
  let isRunning = false
  let isDue = false

  async function refresh(): Promise<void> {
    if (isRunning) {
      isDue = true
      return
    }
    isRunning = true
    const output = await runStatusCommand(command, folder, toStatusInput(getStatus(), folder, getSession()))
    isRunning = false
    const line = output?.split('\n', 1)[0]?.trim()
    show(line === undefined || line === '' ? undefined : escapeForTerminal(line.replaceAll(COLORS, '')))
    if (!isDue) return
    isDue = false
    await refresh()
  }
  return { refresh }
}

const COLORS = /\u001B\[[\d;]*m/g
const TIMEOUT_MS = 5000

/** The fields that scripts for the status line of Claude Code read. */
function toStatusInput(status: StatusInfo, folder: string, session: string) {
  const { model, mode, branch, context, window, cost } = status
  return {
    hook_event_name: 'Status',
    session_id: session,
    cwd: folder,
    version,
    model: { id: model, display_name: model.split('/').slice(1).join('/') || model },
    workspace: { current_dir: folder, project_dir: folder },
    output_style: { name: 'default' },
    permission_mode: mode,
    git_branch: branch,
    cost: { total_cost_usd: cost ?? 0 },
    context_window: {
      context_window_size: window,
      total_input_tokens: context ?? 0,
      used_percentage: window === undefined ? undefined : Math.round(((context ?? 0) / window) * 100),
    },
  }
}

function runStatusCommand(command: string, folder: string, input: object): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] })
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < 10_000) output += text
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(JSON.stringify(input))
    child.on('error', () => resolve(undefined))
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve(code === 0 ? output : undefined)
    })
  })
}
