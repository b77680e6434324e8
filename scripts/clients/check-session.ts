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
  /** How many of them had a call without a result. */
  readonly unanswered: number
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
  const latest = ['latest', '--from', client]
  const { problems } = await continueSession(client, latest, target, folders, SECRET)
  // A database is torn where its latest changes are, and is read at its own place.
  const database = join(folders.home, '.local/share/opencode/opencode.db-wal')
  const log = client === 'opencode' ? database : findNewestLog(folders.home)
  if (log === undefined || !existsSync(log)) return { wire: target.wire, problems, torn: '', unanswered: 0 }
  const text = readFileSync(log)
  const copy = log === database ? log : join(folders.home, 'torn.jsonl')
  let [continued, all, unanswered] = [0, 0, 0]
  for (const end of log === database ? listShares(text) : listTornEnds(text)) {
    writeFileSync(copy, text.subarray(0, end))
    const found = await continueSession(client, log === database ? latest : [copy], target, folders, undefined)
    if (found.problems[0] === NO_MESSAGES) continue
    all++
    if (found.hasUnansweredCall) unanswered++
    if (found.problems.length === 0) continued++
    else problems.push(...found.problems.map((problem) => `torn at ${end}: ${problem}`))
  }
  if (log === database) writeFileSync(database, text)
  return { wire: target.wire, problems, torn: `${continued} of ${all}`, unanswered }
}

const NO_MESSAGES = 'no messages'

/** The end of every line, and the middle of every line. */
function listTornEnds(text: Buffer): number[] {
  const ends = [...text.entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []))
  return ends.flatMap((end, at) => [Math.floor(((ends[at - 1] ?? 0) + end) / 2), end])
}

function listShares(text: Buffer): number[] {
  return Array.from({ length: 20 }, (_, at) => Math.floor((text.length * (at + 1)) / 20))
}

interface Continuation {
  readonly problems: string[]
  readonly hasUnansweredCall: boolean
}

async function continueSession(
  client: string,
  source: readonly string[],
  { wire, model }: { readonly wire: WireId; readonly model: string },
  { home, workspace }: ClientFolders,
  secret: string | undefined,
): Promise<Continuation> {
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
  let hasUnansweredCall = false
  try {
    const imported: unknown = JSON.parse(await dragoman('import', 'session', ...source, '--json'))
    const session = isObject(imported) && typeof imported['session'] === 'string' ? imported['session'] : ''
    hasUnansweredCall = JSON.stringify(imported).includes('"unanswered')
    await dragoman('--resume', session, '-m', model, '-p', 'And now?')
    const request = server.requests.findLast(({ path, headers }) => parseVendorRoute(path, headers)?.kind === 'ask')
    const problems = request ? await checkRequest(request.body, wire, secret) : ['no request was sent']
    return { problems, hasUnansweredCall }
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
    const isEmpty = /has no messages|is not a session|no session of/.test(words)
    return { problems: [isEmpty ? NO_MESSAGES : `${client}: ${words.trim()}`], hasUnansweredCall }
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
