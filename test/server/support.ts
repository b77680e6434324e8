import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Tool } from '../../src/tool/tool.ts'
import type { ScriptInput } from '../../src/rehearsal/testing/assert-done.ts'
import { scriptedServer } from '../../src/rehearsal/testing/scripted-server.ts'
import { provider } from '../../src/agent/library/provider.ts'
import type { LiveEvents } from '../../src/server/backend.ts'
import { type TenantConfig, hashToken } from '../../src/server/http/tenants.ts'
import { localBackend, type LocalBackend } from '../../src/server/local/local-backend.ts'
import { createSingleTenant, type SessionServer, startSessionServer } from '../../src/server/session-server.ts'
import { createAgentSource } from '../../src/server/worker/named-agents.ts'
import type { SessionServerOptions } from '../../src/server/session-server.ts'
import type { RetryOptions } from '../../src/server/worker/retry-delay.ts'
import { clearAway } from '../support/clear.ts'

export const place = mkdtempSync(join(tmpdir(), 'dragoman-server-'))
const closers: (() => Promise<unknown>)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
  clearAway(place)
})

export const TOKEN = 'test-token'

export interface TestServer {
  readonly server: SessionServer
  readonly backend: LocalBackend
  readonly folder: string
  readonly model: Awaited<ReturnType<typeof scriptedServer>>
  readonly errors: string[]
  readonly api: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<ApiAnswer>
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Record<string, never> & { [key: string]: never }
}

/** A tenant whose token is its name with `-token`. */
export function tenant(name: string, config: Partial<TenantConfig> = {}): Record<string, TenantConfig> {
  return { [name]: { tokens: [{ hash: hashToken(`${name}-token`), scopes: ['admin'] }], ...config } }
}

/** A server in this process, with a scripted model and these tools. */
export async function startTestServer(
  steps: ScriptInput,
  more: Partial<SessionServerOptions> & {
    readonly tools?: readonly Tool[]
    readonly retry?: RetryOptions
    readonly folder?: string
    readonly labels?: readonly string[]
    readonly wrapLive?: (live: LiveEvents) => LiveEvents
  } = {},
): Promise<TestServer> {
  const { tools = [], retry, folder = mkdtempSync(join(place, 'data-')), labels, wrapLive, ...options } = more
  const errors: string[] = []
  const scripted = await scriptedServer(steps)
  const model = provider('openai', { apiKey: 'k', baseUrl: `${scripted.url}/v1` })('gpt-5')
  const local = localBackend({ folder, onError: (message) => errors.push(message) })
  const backend = wrapLive ? { ...local, live: wrapLive(local.live) } : local
  const openAgent = createAgentSource({ main: { model, tools } })
  const server = await startSessionServer({
    backend,
    agents: ['main'],
    model: 'openai/gpt-5',
    tenants: createSingleTenant(TOKEN),
    worker: { openAgent, ...(retry && { retry }), ...(labels && { labels }) },
    onError: (message) => errors.push(message),
    ...options,
  })
  closers.push(
    () => scripted.close(),
    () => backend.close(),
    () => server.close(),
  )
  return {
    server,
    backend,
    folder,
    model: scripted,
    errors,
    api: (method, path, body, headers) => callApi(server.url, method, path, body, headers),
  }
}

/** What each answer is checked with. */
export const checks: ((method: string, path: string, answer: ApiAnswer) => void)[] = []

export async function callApi(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const answer = { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} }
  for (const check of checks) check(method, path, answer)
  return answer
}

export async function until<T>(
  what: string,
  get: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (const end = Date.now() + 60_000; ;) {
    const value = await get()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`it did not happen: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
