import { existsSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../../host/files/regular-file.ts'
import { sha256Hex } from '../../../host/files/sha256.ts'
import { joinTextParts } from '../../../model/text.ts'
import { detectAgent } from '../../../session/import/detect-agent.ts'
import { FOREIGN_AGENTS, type ForeignAgent, type ForeignSession } from '../../../session/import/foreign-session.ts'
import { readForeignSession } from '../../../session/import/read-foreign-session.ts'
import { isSqliteFile } from '../../../session/import/sqlite-reader.ts'
import { defined } from '../../../model/defined.ts'
import { realPathOrSelf } from '../../paths/folders.ts'
import { describeFileProblem } from '../../paths/project-file.ts'
import { UserError } from '../../user-error.ts'
import { findOpencodeSessions, isOpencodeSessionFile, readOpencodeSessionFile } from './opencode-files.ts'

/** A session of another agent on this machine. */
export interface FoundSession {
  readonly agent: ForeignAgent
  readonly id?: string
  readonly path: string
  /** Where it was made. */
  readonly folder?: string
  /** Was it made in the current folder? */
  readonly isOfFolder: boolean
  readonly title: string
  readonly changed: number
  load(): ForeignSession
}

/** The newest sessions of other agents, newest first. */
export function findForeignSessions(agents: readonly ForeignAgent[], folder: string): FoundSession[] {
  const real = realPathOrSelf(folder)
  return agents
    .flatMap((agent) =>
      agent === 'opencode'
        ? findOpencodeSessions(getAgentFolder(agent), real)
        : listSessionFiles(agent).flatMap((file) => inspectFile(agent, file, real)),
    )
    .toSorted((one, other) => other.changed - one.changed)
}

/** Reads a session from any file of another agent; which one is seen from its content, unless it is named. */
export function readSessionFile(path: string, agent: ForeignAgent | undefined, folder: string): ForeignSession {
  if (statSync(path).isDirectory()) throw new UserError(`${path} is a folder; name the file of a session`)
  const bytes = readBytes(path, MAX_LOG_BYTES)
  if (isSqliteFile(bytes) || isOpencodeSessionFile(path)) return readOpencodeSessionFile(path, realPathOrSelf(folder))
  const text = bytes.toString('utf8')
  const found = agent ?? detectAgent(text)
  if (found === undefined)
    throw new UserError(
      `${path} is not a session of ${Object.values(FOREIGN_AGENTS).join(', ')}; if it is, name the agent with --from`,
    )
  const session = readForeignSession(found, text)
  return { ...session, ...defined({ folder: session.folder ?? findProjectFolder(path) }) }
}

const MAX_LOG_BYTES = 1 << 30
/** Enough for the head of a log and the first message. */
const HEAD_BYTES = 512 * 1024
const MAX_FILES = 200

/** Where each agent keeps its data; its own variable for that counts, too. */
function getAgentFolder(agent: ForeignAgent): string {
  const { env } = process
  const home = homedir()
  switch (agent) {
    case 'claude':
      return env['CLAUDE_CONFIG_DIR'] || join(home, '.claude')
    case 'codex':
      return env['CODEX_HOME'] || join(home, '.codex')
    case 'gemini':
      return join(env['GEMINI_CLI_HOME'] || home, '.gemini')
    case 'opencode':
      return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode')
    case 'pi':
      return env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent')
    default:
      return agent satisfies never
  }
}

/** The folders with logs, how deep they are, and how a log is called. */
const LOG_FILES: Readonly<Record<Exclude<ForeignAgent, 'opencode'>, { in: string[]; depth: number; name: RegExp }>> = {
  claude: { in: ['projects'], depth: 1, name: /^(?!agent-).*\.jsonl$/ },
  codex: { in: ['sessions', 'archived_sessions'], depth: 3, name: /^rollout-.*\.jsonl$/ },
  gemini: { in: ['tmp'], depth: 2, name: /^(?:session-.*\.jsonl?|checkpoint.*\.json)$/ },
  pi: { in: ['sessions'], depth: 1, name: /\.jsonl$/ },
}

interface LogFile {
  readonly path: string
  readonly changed: number
}

function listSessionFiles(agent: Exclude<ForeignAgent, 'opencode'>): LogFile[] {
  const { in: folders, depth, name } = LOG_FILES[agent]
  return folders
    .flatMap((folder) => walk(join(getAgentFolder(agent), folder), depth))
    .filter((path) => name.test(basename(path)))
    .flatMap((path): LogFile[] => {
      const info = statSync(path, { throwIfNoEntry: false })
      return info?.isFile() && info.size > 0 ? [{ path, changed: info.mtimeMs }] : []
    })
    .toSorted((one, other) => other.changed - one.changed)
    .slice(0, MAX_FILES)
}

function walk(folder: string, depth: number): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? (depth > 0 ? walk(path, depth - 1) : []) : [path]
    })
  } catch {
    return []
  }
}

/** Nothing for a log without a message of the user, such as one of a session that was left at once. */
function inspectFile(agent: ForeignAgent, { path, changed }: LogFile, folder: string): FoundSession[] {
  const head = readRegularFile(path, { maxBytes: HEAD_BYTES })
  if ('problem' in head) return []
  const session = readForeignSession(agent, head.bytes.toString('utf8'))
  const title = getTitle(session)
  if (title === undefined) return []
  const made = session.folder ?? findProjectFolder(path)
  return [
    {
      agent,
      path,
      title,
      changed,
      isOfFolder: made === undefined ? isHashOf(path, folder) : realPathOrSelf(made) === folder,
      ...defined({ id: session.id, folder: made }),
      load: () => ({
        ...readForeignSession(agent, readBytes(path, MAX_LOG_BYTES).toString('utf8')),
        ...defined({ folder: made }),
      }),
    },
  ]
}

export function getTitle({ steps }: ForeignSession): string | undefined {
  for (const step of steps) {
    const text = step.role === 'user' ? joinTextParts(step.parts) : step.role === 'summary' ? step.text : ''
    if (text.trim() !== '') return text.replace(/\s+/g, ' ').trim()
  }
  return undefined
}

/** Gemini CLI writes the folder into a file beside the chats. */
function findProjectFolder(path: string): string | undefined {
  for (const folder of [dirname(path), dirname(dirname(path))]) {
    const file = join(folder, '.project_root')
    const content = existsSync(file) ? readRegularFile(file, { maxBytes: 10_000 }) : undefined
    if (content && 'bytes' in content) return content.bytes.toString('utf8').trim() || undefined
  }
  return undefined
}

/** Its older versions name the folder of a project by the hash of its path. */
function isHashOf(path: string, folder: string): boolean {
  return path.split('/').includes(sha256Hex(folder))
}

function readBytes(path: string, maxBytes: number): Buffer {
  const content = readRegularFile(path, { maxBytes })
  if ('problem' in content) throw new UserError(`${path} cannot be imported: ${describeFileProblem(content)}`)
  if (content.isCut) throw new UserError(`${path} cannot be imported: it is larger than 1 GB`)
  return content.bytes
}
