import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isObject, type Json } from '../../src/model/json.ts'
import { formatResultText } from '../../src/model/text.ts'
import type { WireId } from '../../src/model/turn.ts'
import { parseVendorRoute } from '../../src/wire/vendor-route.ts'
import { loadWire } from '../../src/wire/wires.ts'
import { validateTranscript } from '../../test/support/transcript-validator.ts'
import { startCaptureServer } from './capture-server.ts'
import { type ClientFolders, SECRET } from './run-client.ts'

/** How the session of a client was imported and continued. */
export interface SessionReport {
  readonly wire: WireId
  readonly problems: readonly string[]
  /** How many of the torn copies of its log could be continued, of those that had a message. */
  readonly torn: string
}

/** On which wire a session continues: never on the one that the client spoke. */
const OTHER_WIRES: Readonly<Record<WireId, { readonly wire: WireId; readonly model: string }>> = {
  anthropic: { wire: 'openai-responses', model: 'openai/client' },
  'openai-responses': { wire: 'anthropic', model: 'anthropic/client' },
  'openai-chat': { wire: 'gemini', model: 'gemini/client' },
  gemini: { wire: 'openai-chat', model: 'openai-chat/client' },
  interactions: { wire: 'openai-chat', model: 'openai-chat/client' },
  'code-assist': { wire: 'openai-chat', model: 'openai-chat/client' },
}

/** The clients whose sessions can be imported. */
export const SESSION_CLIENTS: ReadonlySet<string> = new Set(['claude', 'codex', 'gemini', 'opencode', 'pi'])

/** Imports the session that a client has just made, and copies of it with torn ends, and continues each on another wire. */
export async function checkSession(client: string, wire: WireId, folders: ClientFolders): Promise<SessionReport> {
  const target = OTHER_WIRES[wire]
  const problems = await continueSession(client, ['latest', '--from', client], target, folders, SECRET)
  const log = client === 'opencode' ? undefined : findNewestLog(folders.home)
  if (log === undefined) return { wire: target.wire, problems, torn: '' }
  const text = readFileSync(log)
  let [continued, all] = [0, 0]
  for (const share of TORN_SHARES) {
    const copy = join(folders.home, `torn-${share}.jsonl`)
    writeFileSync(copy, text.subarray(0, Math.floor(text.length * share)))
    const found = await continueSession(client, [copy], target, folders, undefined)
    if (found[0] === NO_MESSAGES) continue
    all++
    if (found.length === 0) continued++
    else problems.push(...found.map((problem) => `torn at ${share}: ${problem}`))
  }
  return { wire: target.wire, problems, torn: `${continued} of ${all}` }
}

const TORN_SHARES = [0.5, 0.8, 0.9, 0.95, 0.99]
const NO_MESSAGES = 'no messages'

async function continueSession(
  client: string,
  source: readonly string[],
  { wire, model }: { readonly wire: WireId; readonly model: string },
  { home, workspace }: ClientFolders,
  secret: string | undefined,
): Promise<string[]> {
  const server = await startCaptureServer({ say: 'I go on.' }, { say: 'I go on.' }, workspace)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    DRAGOMAN_LOCAL_SERVERS: 'off',
    ...Object.fromEntries(['OPENAI', 'ANTHROPIC', 'GEMINI'].map((name) => [`${name}_API_KEY`, 'sk-dummy'])),
    ...Object.fromEntries(
      ['OPENAI', 'ANTHROPIC', 'OPENAI_CHAT'].map((name) => [`DRAGOMAN_${name}_BASE_URL`, `${server.url}/v1`]),
    ),
    DRAGOMAN_GEMINI_BASE_URL: `${server.url}/v1beta`,
  }
  const dragoman = async (...args: readonly string[]): Promise<string> => {
    const program = [join(process.cwd(), 'bin/dragoman'), ...args]
    const child = promisify(execFile)(process.execPath, program, { cwd: workspace, env })
    child.child.stdin?.end()
    return (await child).stdout
  }
  try {
    const imported: unknown = JSON.parse(await dragoman('import', 'session', ...source, '--json'))
    const session = isObject(imported) && typeof imported['session'] === 'string' ? imported['session'] : ''
    await dragoman('--resume', session, '-m', model, '-p', 'And now?')
    const request = server.requests.findLast(({ path, headers }) => parseVendorRoute(path, headers)?.kind === 'ask')
    return request ? await checkRequest(request.body, wire, secret) : ['no request was sent']
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
    return [
      words.includes('has no messages') || words.includes('is not a session')
        ? NO_MESSAGES
        : `${client}: ${words.trim()}`,
    ]
  } finally {
    server.close()
  }
}

async function checkRequest(body: Json, id: WireId, secret: string | undefined): Promise<string[]> {
  const wire = await loadWire(id)
  const problems = validateTranscript(id, body, wire.profile)
  const { turns } = wire.readRequest(body).request
  const results = turns.flatMap((turn) => (turn.role === 'results' ? turn.parts.map(formatResultText) : []))
  if (secret !== undefined && !results.some((text) => text.includes(secret)))
    problems.push('the result of its tool is lost')
  return problems
}

/** The newest log below a home folder. */
function findNewestLog(home: string): string | undefined {
  const logs = ['.claude/projects', '.codex/sessions', '.gemini/tmp', '.pi/agent/sessions']
    .map((folder) => join(home, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => join(entry.parentPath, entry.name))
  return logs.toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0]
}
