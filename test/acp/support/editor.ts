import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { after } from 'node:test'
import {
  type AnyMessage,
  client,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type CreateTerminalRequest,
  type McpServer,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from '@agentclientprotocol/sdk'
import { ISOLATION } from '../../support/environment.ts'
import { root } from '../../support/paths.ts'
import { createSchemaCheck } from './protocol-schema.ts'

export interface EditorOptions {
  readonly capabilities?: ClientCapabilities
  readonly args?: readonly string[]
  /** The answer to a question; without it, none is given. */
  readonly permit?: (
    request: RequestPermissionRequest,
  ) => Promise<RequestPermissionResponse> | RequestPermissionResponse
  readonly readFile?: (path: string) => string | Promise<string>
  readonly writeFile?: (path: string, content: string) => unknown
  readonly elicit?: (
    request: CreateElicitationRequest,
  ) => CreateElicitationResponse | Promise<CreateElicitationResponse>
  readonly terminal?: (request: CreateTerminalRequest) => EditorTerminal | Promise<EditorTerminal>
}

/** A command in the terminal of the editor; without an exit code it runs until it is killed. */
export interface EditorTerminal {
  readonly output: string
  readonly exitCode?: number
  /** From its kill on, the editor answers nothing about it any more. */
  readonly ignoresKill?: true
}

export type Editor = Awaited<ReturnType<typeof openEditor>>

const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** The option of a question with this id. */
export const choose = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } })

/** An answer that never comes. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined)

/** Starts `dragoman acp`, and connects the SDK's client to it. Every message is checked against the schema. */
export async function openEditor(
  { env, work }: { env: Record<string, string>; work: string },
  options: EditorOptions = {},
) {
  const child = spawn(process.execPath, [join(root, 'bin/dragoman'), 'acp', ...(options.args ?? [])], {
    cwd: work,
    env: { ...ISOLATION, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.add(child)
  const exited = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      running.delete(child)
      resolve(code)
    }),
  )
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  child.stdin.on('error', () => undefined)
  const schema = createSchemaCheck()
  const raw = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
  )
  const watch = (from: 'client' | 'agent') =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        schema.onMessage(from, { ...message })
        controller.enqueue(message)
      },
    })
  const outgoing = watch('client')
  void outgoing.readable.pipeTo(raw.writable).catch(() => undefined)
  const stream = { writable: outgoing.writable, readable: raw.readable.pipeThrough(watch('agent')) }

  const updates: { session: string; update: SessionUpdate }[] = []
  const questions: RequestPermissionRequest[] = []
  const completedUrls: string[] = []
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const check of waiting) check()
  }
  const terminals = new Map<string, EditorTerminal>()
  const terminalEnds: string[] = []
  let killTerminal: (signal: string) => void = () => undefined
  const killedTerminal = new Promise<string>((resolve) => (killTerminal = resolve))
  const app = client()
    .onNotification('session/update', ({ params }) => {
      updates.push({ session: params.sessionId, update: params.update })
      wake()
    })
    .onRequest('session/request_permission', async ({ params }) => {
      questions.push(params)
      wake()
      return (await options.permit?.(params)) ?? never()
    })
    .onRequest('fs/read_text_file', async ({ params }) => {
      if (!options.readFile) throw new Error('there are no files')
      return { content: await options.readFile(params.path) }
    })
    .onRequest('fs/write_text_file', async ({ params }) => {
      await options.writeFile?.(params.path, params.content)
      return {}
    })
    .onNotification('elicitation/complete', ({ params }) => {
      completedUrls.push(params.elicitationId)
      wake()
    })
    .onRequest('elicitation/create', ({ params }) => options.elicit?.(params) ?? { action: 'cancel' })
    .onRequest('terminal/create', async ({ params }) => {
      const terminalId = `terminal-${terminals.size + 1}`
      terminals.set(terminalId, (await options.terminal?.(params)) ?? { output: '', exitCode: 0 })
      return { terminalId }
    })
    .onRequest('terminal/output', ({ params: { terminalId } }) => {
      const { output = '', ignoresKill } = terminals.get(terminalId) ?? {}
      if (ignoresKill && terminalEnds.includes(`kill ${terminalId}`)) return never<TerminalOutputResponse>()
      return { output, truncated: false }
    })
    .onRequest('terminal/wait_for_exit', async ({ params }) => {
      const { exitCode, ignoresKill } = terminals.get(params.terminalId) ?? { exitCode: 1 }
      if (exitCode !== undefined) return { exitCode }
      const signal = await killedTerminal
      return ignoresKill ? never<WaitForTerminalExitResponse>() : { signal }
    })
    .onRequest('terminal/kill', ({ params }) => {
      terminalEnds.push(`kill ${params.terminalId}`)
      killTerminal('SIGTERM')
      wake()
      return {}
    })
    .onRequest('terminal/release', ({ params }) => {
      terminalEnds.push(`release ${params.terminalId}`)
      wake()
      return {}
    })
  const connection = app.connect(stream)
  const agent: ClientContext = connection.agent
  const initialized = await agent.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: options.capabilities ?? {},
    clientInfo: { name: 'test', version: '1' },
  })

  /** Waits until something has happened; the test's own limit ends it otherwise. */
  function until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = find()
        if (found === undefined) return
        waiting.delete(check)
        resolve(found)
      }
      waiting.add(check)
      check()
    })
  }

  return {
    child,
    agent,
    initialized,
    updates,
    questions,
    /** The ids of URL requests that are complete. */
    completedUrls,
    schema,
    /** The terminals that were killed and released, in order. */
    terminalEnds,
    exited,
    until,
    stderr: () => stderr,
    newSession: async (more: { mcpServers?: McpServer[] } = {}) =>
      agent.request('session/new', { cwd: work, mcpServers: [], ...more }),
    prompt: async (sessionId: string, text: string) =>
      (await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason,
    /** The updates of one kind. */
    updatesOf: <Kind extends SessionUpdate['sessionUpdate']>(kind: Kind) =>
      updates.flatMap(({ update }) =>
        update.sessionUpdate === kind ? [update as Extract<SessionUpdate, { sessionUpdate: Kind }>] : [],
      ),
    text: () =>
      updates
        .flatMap(({ update }) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
        )
        .join(''),
    /** Ends the input, and checks that the command ends well and that all messages were valid. */
    async close(): Promise<void> {
      child.stdin.end()
      const code = await exited
      assert.deepEqual(schema.problems, [])
      assert.equal(code, 0, stderr)
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await exited
    },
  }
}
