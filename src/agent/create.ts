import { randomBytes } from 'node:crypto'
import { turnKey } from '../model/ids.ts'
import type { Params } from '../model/request.ts'
import { policyByMode } from '../policy/by-mode.ts'
import type { ApprovalMode, Policy } from '../policy/policy.ts'
import { systemClock } from '../provider/clock.ts'
import type { ModelPort } from '../provider/port.ts'
import { resolveModel } from '../provider/resolve.ts'
import { port } from '../provider/send.ts'
import { remember } from '../provider/wrap/remember.ts'
import { retry } from '../provider/wrap/retry.ts'
import { takeUp } from '../session/session.ts'
import { memoryStore } from '../session/store/memory.ts'
import type { Store } from '../session/store/store.ts'
import type { Host } from '../host/host.ts'
import type { Tool } from '../tool/define.ts'
import { toolbox } from '../tool/toolbox.ts'
import { bodyWriter } from '../wire/incremental.ts'
import type { Agent, Limits } from './agent.ts'
import { asRun, type Run } from './library.ts'
import { run } from './run.ts'
import { seenFiles } from './seen-files.ts'

/** What a library user gives; only the model is needed. */
export interface AgentOptions {
  /** `provider/model`, with its key in the environment; or a port of your own. */
  readonly model: string | ModelPort
  readonly tools?: readonly Tool[]
  readonly system?: string
  /** Who decides what may run. Without it, everything that your tools declare as harmless, and nothing else unasked. */
  readonly policy?: Policy | ApprovalMode
  /** Where sessions are kept; in memory without it. */
  readonly store?: Store
  /** The session to go on with; a new one without it. */
  readonly session?: string
  readonly host?: Host
  /** The folders that tools work in. */
  readonly folders?: readonly string[]
  readonly params?: Params
  readonly limits?: Limits
  readonly ask?: Agent['ask']
}

/** An agent in a program. */
export interface LibraryAgent {
  readonly session: string
  /** Works on a prompt. Watch it with `for await`, or await its end. One run at a time. */
  run(prompt: string): Run
  close(): void
}

/** Makes an agent. Throws a sentence if the model cannot be reached like this. */
export function agent(options: AgentOptions): LibraryAgent {
  const folders = options.folders ?? []
  const store = options.store ?? memoryStore()
  const mint = () => turnKey(randomBytes(20))
  const log =
    options.session === undefined ? store.create({ id: mint(), folder: folders[0] ?? '' }) : store.open(options.session)
  const parts: Agent = {
    session: takeUp(log),
    model: typeof options.model === 'string' ? modelNamed(options.model) : options.model,
    toolbox: toolbox(options.tools ?? []),
    policy: policyOf(options.policy, folders),
    host: options.host ?? NO_HOST,
    folders,
    seen: seenFiles(),
    system: options.system ?? '',
    clock: systemClock,
    mint,
    ...(options.params && { params: options.params }),
    ...(options.limits && { limits: options.limits }),
    ...(options.ask && { ask: options.ask }),
  }
  return {
    session: log.id,
    run: (prompt) => asRun((signal) => run(parts, [{ kind: 'text', text: prompt }], signal)),
    close: () => log.close(),
  }
}

function modelNamed(name: string): ModelPort {
  const target = resolveModel(name, process.env)
  if ('problem' in target) throw new Error(target.problem)
  return retry(remember(target, (one) => port(one, { writer: bodyWriter })))
}

function policyOf(given: Policy | ApprovalMode | undefined, folders: readonly string[]): Policy {
  return typeof given === 'object' ? given : policyByMode({ mode: given ?? 'default', folders })
}

/** Tools of one's own need no host; a built-in tool says what is missing. */
const NO_HOST: Host = new Proxy({} as Host, {
  get: (_target, name) => {
    throw new Error(`this agent has no host, so tools cannot use ${String(name)}; give it one, for example localHost()`)
  },
})
