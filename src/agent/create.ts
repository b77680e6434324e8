import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { turnKey } from '../model/ids.ts'
import { isObject } from '../model/json.ts'
import type { Params } from '../model/request.ts'
import { approvalPolicy } from '../policy/approval.ts'
import type { ApprovalMode, Policy } from '../policy/policy.ts'
import type { Catalog } from '../provider/catalog.ts'
import { systemClock } from '../provider/clock.ts'
import type { ModelPort } from '../provider/port.ts'
import { resolveModel } from '../provider/resolve.ts'
import { port, sharedPost } from '../provider/send.ts'
import { budget, startLedger } from '../provider/wrap/budget.ts'
import { remember } from '../provider/wrap/remember.ts'
import { retry } from '../provider/wrap/retry.ts'
import { serverWindow } from '../provider/wrap/server-window.ts'
import { takeUp } from '../session/session.ts'
import { memoryStore } from '../session/store/memory.ts'
import type { Store } from '../session/store/store.ts'
import { bashRejects } from '../host/bash-syntax.ts'
import type { Host } from '../host/host.ts'
import { lookAtDisk } from '../host/look.ts'
import type { Tool } from '../tool/define.ts'
import { toolbox } from '../tool/toolbox.ts'
import { bodyWriter } from '../wire/incremental.ts'
import type { Agent, Limits } from './agent.ts'
import { asRun, type Run } from './library.ts'
import { run } from './run.ts'
import type { RunEvent } from './run-event.ts'
import { seenFiles } from './seen-files.ts'
import type { Tracer } from './tracer.ts'

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
  /** A tracer of OpenTelemetry's API that gets a span for each run, request and call; with `prompts`, also what was said. */
  readonly telemetry?: { readonly tracer: Tracer; readonly prompts?: boolean }
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
  demandModel(options)
  const folders = options.folders ?? []
  const store = options.store ?? memoryStore()
  const catalog = lazyCatalog()
  const mint = () => turnKey(randomBytes(20))
  // Whoever names a model that is not there leaves no session behind.
  const model = modelFor(options, catalog)
  const log =
    options.session === undefined ? store.create({ id: mint(), folder: folders[0] ?? '' }) : store.open(options.session)
  const parts: Agent = {
    session: takeUp(log),
    model,
    toolbox: toolbox(options.tools ?? []),
    policy: policyOf(options.policy, folders),
    host: options.host ?? NO_HOST,
    folders,
    seen: seenFiles(),
    system: options.system ?? '',
    catalog,
    clock: systemClock,
    mint,
    ...(options.params && { params: options.params }),
    ...(options.limits && { limits: options.limits }),
    ...(options.ask && { ask: options.ask }),
  }
  return {
    session: log.id,
    run: (prompt) =>
      asRun((signal) => watched(run(parts, [{ kind: 'text', text: prompt }], signal), options.telemetry)),
    close: () => log.close(),
  }
}

/** Programs without types may call with anything. */
function demandModel(options: unknown): void {
  const model = isObject(options) ? options['model'] : undefined
  if ((typeof model === 'string' && model !== '') || (isObject(model) && typeof model['ask'] === 'function')) return
  throw new TypeError('agent() needs a model: agent({ model: "provider/model" }), or a port with an ask() of its own.')
}

/** The model, within the limit of cost, if there is one. */
function modelFor({ model, limits }: AgentOptions, catalog: () => Promise<Catalog>): ModelPort {
  const { cost: money } = limits ?? {}
  let ledger: ReturnType<typeof startLedger> | undefined
  const open = async () => (ledger ??= startLedger({ ...(money !== undefined && { money }) }, (await catalog()).cost))
  const limited = (inner: ModelPort) => (money === undefined ? inner : budget(inner, open))
  if (typeof model !== 'string') return limited(model)
  const target = resolveModel(model, process.env)
  if ('problem' in target) throw new Error(target.problem)
  const opened = remember(target, (one) => port(one, { writer: bodyWriter }))
  return retry(limited(serverWindow(opened, target, sharedPost)))
}

async function* watched(
  events: AsyncIterable<RunEvent>,
  telemetry: AgentOptions['telemetry'],
): AsyncGenerator<RunEvent> {
  const watcher = telemetry && (await import('./telemetry.ts')).watchRun(telemetry.tracer, telemetry)
  for await (const event of events) {
    watcher?.see(event)
    yield event
  }
}

function lazyCatalog(): () => Promise<Catalog> {
  let opened: Promise<Catalog> | undefined
  return () => (opened ??= import('../provider/catalog.ts').then(({ openCatalog }) => openCatalog()))
}

function policyOf(given: Policy | ApprovalMode | undefined, folders: readonly string[]): Policy {
  if (typeof given === 'object') return given
  const [disk, home] = [lookAtDisk(), homedir()]
  return approvalPolicy({ mode: given ?? 'default', folders, home, disk, rejected: bashRejects })
}

/** Tools of one's own need no host; a built-in tool says what is missing. */
const NO_HOST: Host = new Proxy({} as Host, {
  get: (_target, name) => {
    throw new Error(`this agent has no host, so tools cannot use ${String(name)}; give it one, for example localHost()`)
  },
})
