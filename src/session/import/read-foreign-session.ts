import { readClaudeCodeSession } from './claude-code.ts'
import { readCodexSession } from './codex.ts'
import type { ForeignAgent, ForeignSession } from './foreign-session.ts'
import { readGeminiCliSession } from './gemini-cli.ts'
import { readOpencodeSession } from './opencode.ts'
import { readOpencodeExport } from './opencode-export.ts'
import { readPiSession } from './pi.ts'

/** Reads the log of a session from its text. A database of opencode is read by `listOpencodeSessions`. */
export function readForeignSession(agent: ForeignAgent, text: string): ForeignSession {
  return READERS[agent](text)
}

const READERS: Readonly<Record<ForeignAgent, (text: string) => ForeignSession>> = {
  claude: readClaudeCodeSession,
  codex: readCodexSession,
  gemini: readGeminiCliSession,
  opencode: (text) => readOpencodeSession(readOpencodeExport(text)),
  pi: readPiSession,
}
