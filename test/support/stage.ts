import { randomBytes } from 'node:crypto'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import { run } from '../../src/agent/loop/run.ts'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import { createSeenFiles } from '../../src/agent/calls/seen-files.ts'
import type { Host } from '../../src/host/host.ts'
import { createTurnKey } from '../../src/model/ids.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { Policy } from '../../src/policy/policy.ts'
import { systemClock } from '../../src/provider/clock.ts'
import type { Model } from '../../src/provider/model.ts'
import { resolveModel } from '../../src/provider/resolve-model.ts'
import { createModel, type ModelOptions } from '../../src/provider/http/node-http-client.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import type { Entry } from '../../src/session/log/entry.ts'
import { resumeSession, type Session } from '../../src/session/session.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { createToolbox } from '../../src/tool/toolbox.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'

/** The key of all models of a rehearsal, to be looked for where it must not be. */
export const KEY = 'sk-rehearsal-canary-71'

/** Under which row each wire is reached. */
const ROWS: Record<WireId, string> = {
  gemini: 'gemini',
  interactions: 'gemini-interactions',
  'code-assist': 'code-assist',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
}

/** The model of a rehearsal, reached over real HTTP on any wire. */
export function modelOn(
  wire: WireId,
  server: Pick<RehearsalServer, 'url'>,
  script = 'script',
  writer = createIncrementalBodyWriter,
  more: ModelOptions = {},
): Model {
  const env: Record<string, string> = {
    GEMINI_API_KEY: KEY,
    OPENAI_API_KEY: KEY,
    ANTHROPIC_API_KEY: KEY,
    GOOGLE_CLOUD_PROJECT: 'p',
    CODE_ASSIST_ACCESS_TOKEN: KEY,
    GOOGLE_CLOUD_ACCESS_TOKEN: KEY,
    DRAGOMAN_GEMINI_BASE_URL: `${server.url}/v1beta`,
    DRAGOMAN_GEMINI_INTERACTIONS_BASE_URL: `${server.url}/v1beta`,
    DRAGOMAN_CODE_ASSIST_BASE_URL: server.url,
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_OPENAI_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_ANTHROPIC_BASE_URL: `${server.url}/v1`,
  }
  const target = resolveModel(`${ROWS[wire]}/${script}`, env)
  if ('problem' in target) throw new Error(target.problem)
  return createModel(target, { createBodyWriter: writer, ...more })
}

/** Starts a server that plays one script. */
export function rehearse(
  steps: RehearsalScript['steps'],
  more: Partial<RehearsalScript> = {},
): Promise<RehearsalServer> {
  return startRehearsalServer({ scripts: { script: { steps, ...more } } })
}

/** Everything is allowed, unless a test says otherwise. */
export const FREE: Policy = { decide: () => ({ verdict: 'allow', rule: 'test', why: '' }), remember: () => '' }

const NO_HOST: Host = new Proxy({}, { get: () => undefined }) as Host

/** A new session that is only in memory. */
export function memorySession(id: string): Session {
  const open: Entry = { seq: 1, at: Date.now(), kind: 'open', version: 1, session: id, folder: '/' }
  let { seq } = open
  return resumeSession({
    id,
    folder: '/',
    entries: [open],
    damages: [],
    lost: new AbortController().signal,
    append: (body) => ({ seq: ++seq, at: Date.now(), ...body }),
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
}

/** An agent in memory, with a model and tools of the test's own. */
export function agentOf(model: Model, tools: readonly Tool[], more: Partial<AgentContext> = {}): AgentContext {
  return {
    session: memorySession('session'),
    model,
    toolbox: createToolbox(tools),
    policy: FREE,
    host: NO_HOST,
    folders: ['/'],
    seenFiles: createSeenFiles(),
    system: 'You are tested.',
    clock: systemClock,
    createId: () => createTurnKey(randomBytes(20)),
    ...more,
  }
}

/** Runs a prompt to its end; gives all events. */
export async function play(agent: AgentContext, said: string | undefined, signal?: AbortSignal): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  const parts = said === undefined ? undefined : [{ kind: 'text', text: said } as const]
  for await (const event of run(agent, parts, signal)) events.push(event)
  return events
}

/** How a run ended. */
export function closing(events: readonly RunEvent[]): Extract<RunEvent, { type: 'run-close' }> {
  const last = events.at(-1)
  if (last?.type !== 'run-close') throw new Error(`a run must end with run-close, not ${last?.type}`)
  return last
}
