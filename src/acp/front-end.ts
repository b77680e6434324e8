import { withClientFiles } from './client-files.ts'
import { withClientTerminal } from './client-terminal.ts'
import type { Connection } from './connection.ts'
import type { EditorSession } from './editor-session.ts'
import { createElicitationView } from './elicitation.ts'
import type { ClientCapabilities, ReadTextFileResponse } from './protocol.ts'
import type { SessionFrontEnd } from './setup.ts'

interface FrontEndOptions {
  readonly connection: Connection
  readonly client: ClientCapabilities
  readonly createId: () => string
  readonly folders: readonly string[]
}

/** Questions, files and commands of a session, as far as the editor offers them. */
export function createFrontEnd(
  session: EditorSession,
  { connection, client, createId, folders }: FrontEndOptions,
): SessionFrontEnd {
  const sessionId = (): string => session.id
  const elicitationView = createElicitationView({ connection, client, sessionId, createId })
  const { readTextFile = false, writeTextFile = false } = client.fs ?? {}
  const files = {
    ...(readTextFile && {
      async readText(path: string) {
        const params = { sessionId: session.id, path }
        return (await connection.request<ReadTextFileResponse>('fs/read_text_file', params, session.runSignal)).content
      },
    }),
    ...(writeTextFile && {
      async writeText(path: string, content: string) {
        const params = { sessionId: session.id, path, content }
        await connection.request('fs/write_text_file', params, session.runSignal)
      },
    }),
  }
  return {
    requestApproval: session.requestApproval,
    ...(elicitationView && { elicitationView }),
    wrapHost(host, options) {
      const withFiles = withClientFiles(host, files, folders)
      const { onTerminal } = session
      return client.terminal
        ? withClientTerminal(withFiles, { ...options, connection, sessionId, onTerminal })
        : withFiles
    },
  }
}
