import type { SessionSummary } from '../session/store/store.ts'
import { type Connection, createConnection, type Params, type RequestContext } from './connection.ts'
import type { EditorSession } from './editor-session.ts'
import {
  type ClientCapabilities,
  ERROR_CODE,
  type InitializeResponse,
  type ListSessionsResponse,
  PROTOCOL_VERSION,
  ProtocolError,
} from './protocol.ts'
import {
  invalidParams,
  readAdditionalFolders,
  readClientCapabilities,
  readFolder,
  readMcpServers,
  readPrompt,
  readText,
} from './read-params.ts'
import type { AcpSetup } from './setup.ts'

interface ServeOptions {
  readonly send: (line: string) => void
  readonly log: (message: string) => void
  readonly createId: () => string
}

/** An agent for editors: it answers the requests of one client, with any number of sessions. */
export function createAcpServer(setup: AcpSetup, { send, log, createId }: ServeOptions) {
  const sessions = new Map<string, EditorSession>()
  /** Sessions that are being opened; existing ones by id, so that none is opened twice. */
  const opening = new Map<string | symbol, Promise<EditorSession>>()
  let client: ClientCapabilities = {}
  let isLoggedOut = false
  const connection: Connection = createConnection({ send, log, onRequest, onNotification })

  function findSession(params: Params): EditorSession {
    const id = readText(params, 'sessionId')
    const session = sessions.get(id)
    if (session) return session
    throw new ProtocolError(ERROR_CODE.notFound, `There is no open session ${id}; open it with session/load.`)
  }

  function trackOpening(key: string | symbol, params: Params, resume?: string): Promise<EditorSession> {
    const promise = openSession(params, resume).finally(() => opening.delete(key))
    opening.set(key, promise)
    return promise
  }

  async function openSession(params: Params, resume?: string): Promise<EditorSession> {
    if (isLoggedOut) throw new ProtocolError(ERROR_CODE.authRequired, 'You are signed out; sign in first.')
    const folder = readFolder(params)
    const directories = readAdditionalFolders(params)
    // Loaded here, so that `initialize` is answered at once.
    const { createEditorSession } = await import('./editor-session.ts')
    const { createFrontEnd } = await import('./front-end.ts')
    const session = createEditorSession({ connection, client, log })
    const opened = await setup.openSession(
      { folder, directories, mcpServers: readMcpServers(params), ...(resume !== undefined && { resume }) },
      createFrontEnd(session, { connection, client, createId, folders: [folder, ...directories] }),
    )
    session.attach(opened)
    sessions.set(session.id, session)
    return session
  }

  /** A session that is open in this process already is used as it is. */
  async function openExisting(params: Params): Promise<EditorSession> {
    const id = readText(params, 'sessionId')
    return sessions.get(id) ?? opening.get(id) ?? trackOpening(id, params, id)
  }

  async function closeSession(id: string): Promise<void> {
    const session = sessions.get(id)
    sessions.delete(id)
    await session?.close()
  }

  const methods: Readonly<Record<string, (params: Params, context: RequestContext) => unknown>> = {
    initialize: (params): InitializeResponse => {
      client = readClientCapabilities(params)
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'dragoman', title: 'Dragoman', version: setup.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: true, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
          auth: { logout: {} },
        },
        authMethods: setup.listAuthMethods(client.auth?.terminal === true),
      }
    },
    authenticate: async (params) => {
      const id = readText(params, 'methodId')
      const method = setup.listAuthMethods(true).find((one) => one.id === id)
      if (!method) throw new ProtocolError(ERROR_CODE.invalidParams, `There is no way to sign in named ${id}.`)
      await setup.authenticate()
      isLoggedOut = false
    },
    logout: async () => {
      await setup.logout()
      isLoggedOut = true
    },
    'session/new': async (params, { afterResponse }) => {
      const session = await trackOpening(Symbol('new session'), params)
      afterResponse(() => void session.announce())
      return { sessionId: session.id, ...session.describe() }
    },
    'session/load': async (params, { afterResponse }) => {
      const session = await openExisting(params)
      session.replay()
      afterResponse(() => {
        void session.announce()
        session.resumePendingCalls()
      })
      return session.describe()
    },
    'session/resume': async (params, { afterResponse }) => {
      const session = await openExisting(params)
      afterResponse(() => {
        void session.announce()
        session.resumePendingCalls()
      })
      return session.describe()
    },
    'session/list': async (params): Promise<ListSessionsResponse> => {
      const { cwd, cursor } = params
      const all = await setup.listSessions(isAbsent(cwd) ? undefined : readFolder(params))
      const rest = isAbsent(cursor) ? all : listAfter(all, cursor)
      const page = rest.slice(0, LIST_PAGE_SIZE)
      const last = page.at(-1)
      return {
        sessions: page.map(({ id, folder, title, changed }) => ({
          sessionId: id,
          cwd: folder,
          title,
          updatedAt: new Date(changed).toISOString(),
        })),
        ...(last && page.length < rest.length && { nextCursor: toCursor(last) }),
      }
    },
    // A session that is gone already is closed, and deleted.
    'session/close': (params) => closeSession(readText(params, 'sessionId')),
    'session/delete': async (params) => {
      const id = readText(params, 'sessionId')
      await closeSession(id)
      await setup.removeSession(id)
    },
    'session/prompt': async (params, { signal }) => {
      const session = findSession(params)
      const prompt = readPrompt(params)
      // When the client is gone, `close` decides what happens to the run.
      signal.addEventListener('abort', () => !connection.isClosed && session.cancel(), { once: true })
      return { stopReason: await session.prompt(prompt) }
    },
    'session/set_mode': (params) => findSession(params).setMode(params['modeId']),
    'session/set_config_option': async (params) => ({
      configOptions: await findSession(params).setOption(params['configId'], params['value']),
    }),
  }

  async function onRequest(method: string, params: Params, context: RequestContext): Promise<unknown> {
    const handle = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (!handle) throw new ProtocolError(ERROR_CODE.unknownMethod, `There is no method ${method}.`)
    return handle(params, context)
  }

  function onNotification(method: string, params: Params): void {
    if (method === 'session/cancel') sessions.get(String(params['sessionId']))?.cancel()
  }

  return {
    receive: (bytes: Uint8Array) => connection.receive(bytes),
    /** The client is gone: all sessions are closed; what waited for an answer still waits. */
    async close(): Promise<void> {
      connection.close()
      await Promise.allSettled(opening.values())
      await Promise.allSettled([...sessions.keys()].map(closeSession))
      await connection.waitForAnswers()
    },
  }
}

const LIST_PAGE_SIZE = 50

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** The next page begins after this session, also if sessions were added, changed or removed meanwhile. */
function toCursor({ changed, id }: SessionSummary): string {
  return `${changed}:${id}`
}

function listAfter(all: readonly SessionSummary[], cursor: unknown): readonly SessionSummary[] {
  const [, time, id = ''] = /^(\d+(?:\.\d+)?):(.+)$/s.exec(String(cursor)) ?? []
  if (time === undefined) throw invalidParams('cursor must be a nextCursor of session/list.')
  const changed = Number(time)
  return all.filter((one) => one.changed < changed || (one.changed === changed && one.id < id))
}
