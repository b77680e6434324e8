import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { createTurnKey } from '../model/ids.ts'
import { isObject } from '../model/json.ts'
import { lazy } from '../model/lazy.ts'
import type { ModelParams } from '../model/request.ts'
import { approvalPolicy } from '../policy/approval-policy.ts'
import type { ApprovalMode, Policy } from '../policy/policy.ts'
import type { Catalog } from '../provider/catalog.ts'
import {
  systemClock,
  type Model,
  resolveModel,
  createModel,
  getSharedHttpClient,
  withAdaptation,
  withRetry,
  withServerContextWindow,
} from '../provider/index.ts'
import { withBudget, createBudgetLedger } from '../provider/optional-middleware.ts'
import { resumeSession } from '../session/session.ts'
import { memoryStore } from '../session/store/memory-store.ts'
import type { Store } from '../session/store/store.ts'
import { findBashSyntaxError } from '../host/process/bash-syntax.ts'
import type { Host } from '../host/host.ts'
import { createDiskView } from '../host/files/disk-view.ts'
import type { Tool } from '../tool/tool.ts'
import { createToolbox } from '../tool/toolbox.ts'
import { createIncrementalBodyWriter } from '../wire/history/incremental-body-writer.ts'
import type { Agent, RunLimits } from './agent.ts'
import { createRunHandle, type RunHandle } from './loop/run-handle.ts'
import { run } from './loop/run.ts'
import type { RunEvent } from './loop/run-event.ts'
import { createSeenFiles } from './calls/seen-files.ts'
import type { Tracer } from './telemetry/tracer.ts'
import { defined } from '../model/defined.ts'

/** Only the model is required. */
export interface AgentOptions {
  /** `provider/model`, with the API key in the environment; or a `Model` of your own. */
  readonly model: string | Model
  readonly tools?: readonly Tool[]
  readonly system?: string
  /** Decides which calls may run. The default is the approval mode `default`. */
  readonly policy?: Policy | ApprovalMode
  /** The default keeps sessions in memory. */
  readonly store?: Store
  /** The id of the session to continue; without it, a new session is created. It is opened by the first run. */
  readonly session?: string
  readonly host?: Host
  readonly folders?: readonly string[]
  readonly params?: ModelParams
  readonly limits?: RunLimits
  readonly ask?: Agent['requestApproval']
  /** An OpenTelemetry tracer that gets a span for each run, request and call; with `prompts`, also their content. */
  readonly telemetry?: { readonly tracer: Tracer; readonly prompts?: boolean }
}

export interface LibraryAgent {
  readonly session: string
  /** Works on a prompt. Iterate over the events with `for await`, or await the result. One run at a time. */
  run(prompt: string): RunHandle
  close(): Promise<void>
}

/** Creates an agent. Throws if the model is unknown or its key is missing. */
export function agent(options: AgentOptions): LibraryAgent {
  assertModel(options)
  const folders = options.folders ?? []
  const store = options.store ?? memoryStore()
  const catalog = lazy(() => import('../provider/catalog.ts').then(({ createCatalog }) => createCatalog()))
  const createId = () => createTurnKey(randomBytes(20))
  // Before the session is created, so that an unknown model leaves no empty session.
  const model = createLimitedModel(options, catalog)
  const id = options.session ?? createId()
  const open = async () =>
    resumeSession(
      await (options.session === undefined ? store.create({ id, folder: folders[0] ?? '' }) : store.open(id)),
    )
  let opened: ReturnType<typeof open> | undefined
  const agentParts: Omit<Agent, 'session'> = {
    model,
    toolbox: createToolbox(options.tools ?? []),
    policy: toPolicy(options.policy, folders),
    host: options.host ?? MISSING_HOST,
    folders,
    seenFiles: createSeenFiles(),
    system: options.system ?? '',
    catalog,
    clock: systemClock,
    createId,
    ...defined({ params: options.params, limits: options.limits, requestApproval: options.ask }),
  }
  async function* startRun(prompt: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
    const session = await (opened ??= open())
    yield* run({ ...agentParts, session }, [{ kind: 'text', text: prompt }], signal)
  }
  return {
    session: id,
    run: (prompt) => createRunHandle((signal) => traceEvents(startRun(prompt, signal), options.telemetry)),
    close: async () => (await opened)?.close(),
  }
}

/** Programs without types may pass anything. */
function assertModel(options: unknown): void {
  const model = isObject(options) ? options['model'] : undefined
  if ((typeof model === 'string' && model !== '') || (isObject(model) && typeof model['stream'] === 'function')) return
  throw new TypeError('agent() needs a model: agent({ model: "provider/model" }), or a Model with a stream() method.')
}

function createLimitedModel({ model, limits }: AgentOptions, catalog: () => Promise<Catalog>): Model {
  const { cost: maxCost } = limits ?? {}
  let ledger: ReturnType<typeof createBudgetLedger> | undefined
  const open = async () => (ledger ??= createBudgetLedger(defined({ money: maxCost }), (await catalog()).cost))
  const withCostLimit = (inner: Model) => (maxCost === undefined ? inner : withBudget(inner, open))
  if (typeof model !== 'string') return withCostLimit(model)
  const target = resolveModel(model, process.env)
  if ('problem' in target) throw new Error(target.problem)
  const opened = withAdaptation(target, (one) => createModel(one, { createBodyWriter: createIncrementalBodyWriter }))
  return withRetry(withCostLimit(withServerContextWindow(opened, target, getSharedHttpClient)))
}

async function* traceEvents(
  events: AsyncIterable<RunEvent>,
  telemetry: AgentOptions['telemetry'],
): AsyncGenerator<RunEvent> {
  const runTracer = telemetry && (await import('./telemetry/trace-run.ts')).traceRun(telemetry.tracer, telemetry)
  for await (const event of events) {
    runTracer?.onEvent(event)
    yield event
  }
}

function toPolicy(policyOption: Policy | ApprovalMode | undefined, folders: readonly string[]): Policy {
  if (typeof policyOption === 'object') return policyOption
  const [disk, home] = [createDiskView(), homedir()]
  return approvalPolicy({ mode: policyOption ?? 'default', folders, home, disk, rejected: findBashSyntaxError })
}

/** Custom tools need no host; a built-in tool reports what is missing. */
const MISSING_HOST: Host = new Proxy({} as Host, {
  get: (_target, name) => {
    throw new Error(`this agent has no host, so tools cannot use ${String(name)}; pass one, for example localHost()`)
  },
})
