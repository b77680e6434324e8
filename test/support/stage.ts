import { randomBytes } from 'node:crypto'
import type { Agent } from '../../src/agent/agent.ts'
import { run } from '../../src/agent/run.ts'
import type { RunEvent } from '../../src/agent/run-event.ts'
import { seenFiles } from '../../src/agent/seen-files.ts'
import type { Host } from '../../src/host/host.ts'
import { turnKey } from '../../src/model/ids.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { Policy } from '../../src/policy/policy.ts'
import { systemClock } from '../../src/provider/clock.ts'
import type { ModelPort } from '../../src/provider/port.ts'
import { resolveModel } from '../../src/provider/resolve.ts'
import { port, type PortOptions } from '../../src/provider/send.ts'
import type { Script } from '../../src/rehearsal/script.ts'
import { type Rehearsal, startRehearsal } from '../../src/rehearsal/server.ts'
import { takeUp } from '../../src/session/session.ts'
import { memoryStore } from '../../src/session/store/memory.ts'
import type { Tool } from '../../src/tool/define.ts'
import { toolbox } from '../../src/tool/toolbox.ts'
import { bodyWriter } from '../../src/wire/incremental.ts'

/** The key of all models of a rehearsal, to be looked for where it must not be. */
export const KEY = 'sk-rehearsal-canary-71'

/** Under which row each wire is reached. */
const ROWS: Record<WireId, string> = {
  gemini: 'gemini',
  'code-assist': 'code-assist',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
}

/** The model of a rehearsal, reached over real HTTP on any wire. */
export function modelOn(
  wire: WireId,
  server: Pick<Rehearsal, 'url'>,
  script = 'script',
  writer = bodyWriter,
  more: PortOptions = {},
): ModelPort {
  const env: Record<string, string> = {
    GEMINI_API_KEY: KEY,
    OPENAI_API_KEY: KEY,
    ANTHROPIC_API_KEY: KEY,
    GOOGLE_CLOUD_PROJECT: 'p',
    CODE_ASSIST_ACCESS_TOKEN: KEY,
    GOOGLE_CLOUD_ACCESS_TOKEN: KEY,
    DRAGOMAN_GEMINI_BASE_URL: `${server.url}/v1beta`,
    DRAGOMAN_CODE_ASSIST_BASE_URL: server.url,
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_OPENAI_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_ANTHROPIC_BASE_URL: `${server.url}/v1`,
  }
  const target = resolveModel(`${ROWS[wire]}/${script}`, env)
  if ('problem' in target) throw new Error(target.problem)
  return port(target, { writer, ...more })
}

/** Starts a server that plays one script. */
export function rehearse(steps: Script['steps'], more: Partial<Script> = {}): Promise<Rehearsal> {
  return startRehearsal({ scripts: { script: { steps, ...more } } })
}

/** Everything is allowed, unless a test says otherwise. */
export const FREE: Policy = { decide: () => ({ verdict: 'allow', rule: 'test', why: '' }), remember: () => '' }

const NO_HOST: Host = new Proxy({}, { get: () => undefined }) as Host

/** An agent in memory, with a model and tools of the test's own. */
export function agentOf(model: ModelPort, tools: readonly Tool[], more: Partial<Agent> = {}): Agent {
  return {
    session: takeUp(memoryStore().create({ id: 'session', folder: '/' })),
    model,
    toolbox: toolbox(tools),
    policy: FREE,
    host: NO_HOST,
    folders: ['/'],
    seen: seenFiles(),
    system: 'You are tested.',
    clock: systemClock,
    mint: () => turnKey(randomBytes(20)),
    ...more,
  }
}

/** Runs a prompt to its end; gives all events. */
export async function play(agent: Agent, said: string | undefined, signal?: AbortSignal): Promise<RunEvent[]> {
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
