import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import { ISOLATION } from './environment.ts'
import { root } from './paths.ts'
import { clearAway } from './clear.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-command-'))
const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
  clearAway(place)
})

/** A folder to work in, a home of its own, and a server that plays a script or its steps, which may use more values. */
export async function stage(
  play: RehearsalScript['steps'] | RehearsalScript,
  values: Readonly<Record<string, string>> = {},
) {
  const script: RehearsalScript = 'steps' in play ? play : { steps: play }
  const work = mkdtempSync(join(place, 'work-'))
  const home = mkdtempSync(join(place, 'home-'))
  const server = await startRehearsalServer({ scripts: { script }, templateValues: { cwd: work, home, ...values } })
  servers.push(server)
  const env: Record<string, string> = {
    ...ISOLATION,
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    OPENAI_API_KEY: 'k',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_MODEL: 'openai-chat/script',
  }
  return { work, home, server, env }
}

/** How the command ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the real command in a process of its own. */
export function dragoman(
  args: readonly string[],
  { env, work }: { env: Record<string, string>; work: string },
  more: { input?: string; open?: true; started?: (child: ChildProcess) => void } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'bin/dragoman'), ...args], {
      cwd: work,
      env: { ...ISOLATION, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.on('data', (text: Buffer) => (out += text.toString()))
    child.stderr.on('data', (text: Buffer) => (err += text.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
    if (!more.open) child.stdin.end(more.input ?? '')
    more.started?.(child)
  })
}
