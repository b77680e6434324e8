import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { createTurnKey } from '../model/ids.ts'
import { isObject } from '../model/json.ts'
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

/** What a library user gives; only the model is needed. */
export interface AgentOptions {
  /** `provider/model`, with its key in the environment; or a port of your own. */
  readonly model: string | Model
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
  readonly params?: ModelParams
  readonly limits?: RunLimits
  readonly ask?: Agent['requestApproval']
  /** A tracer of OpenTelemetry's API that gets a span for each run, request and call; with `prompts`, also what was said. */
  readonly telemetry?: { readonly tracer: Tracer; readonly prompts?: boolean }
}

/** An agent in a program. */
export interface LibraryAgent {
  readonly session: string
  /** Works on a prompt. Watch it with `for await`, or await its end. One run at a time. */
  run(prompt: string): RunHandle
  close(): void
}

/** Makes an agent. Throws a sentence if the model cannot be reached like this. */
export function agent(options: AgentOptions): LibraryAgent {
  assertModel(options)
  const folders = options.folders ?? []
  const store = options.store ?? memoryStore()
  const catalog = createLazyCatalog()
  const createId = () => createTurnKey(randomBytes(20))
  // Whoever names a model that is not there leaves no session behind.
  const model = createLimitedModel(options, catalog)
  const log =
    options.session === undefined
      ? store.create({ id: createId(), folder: folders[0] ?? '' })
      : store.open(options.session)
  const agentParts: Agent = {
    session: resumeSession(log),
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
  return {
    session: log.id,
    run: (prompt) =>
      createRunHandle((signal) =>
        traceEvents(run(agentParts, [{ kind: 'text', text: prompt }], signal), options.telemetry),
      ),
    close: () => log.close(),
  }
}

/** Programs without types may call with anything. */
function assertModel(options: unknown): void {
  const model = isObject(options) ? options['model'] : undefined
  if ((typeof model === 'string' && model !== '') || (isObject(model) && typeof model['stream'] === 'function')) return
  throw new TypeError('agent() needs a model: agent({ model: "provider/model" }), or a Model with a stream() method.')
}

/** The model, within the limit of cost, if there is one. */
function createLimitedModel({ model, limits }: AgentOptions, catalog: () => Promise<Catalog>): Model {
  const { cost: maxCost } = limits ?? {}
  let ledger: ReturnType<typeof createBudgetLedger> | undefined
  const open = async () => (ledger ??= createBudgetLedger({ ...defined({ money: maxCost }) }, (await catalog()).cost))
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

function createLazyCatalog(): () => Promise<Catalog> {
  let opened: Promise<Catalog> | undefined
  return () => (opened ??= import('../provider/catalog.ts').then(({ createCatalog }) => createCatalog()))
}

function toPolicy(policyOption: Policy | ApprovalMode | undefined, folders: readonly string[]): Policy {
  if (typeof policyOption === 'object') return policyOption
  const [disk, home] = [createDiskView(), homedir()]
  return approvalPolicy({ mode: policyOption ?? 'default', folders, home, disk, rejected: findBashSyntaxError })
}

/** Tools of one's own need no host; a built-in tool says what is missing. */
const MISSING_HOST: Host = new Proxy({} as Host, {
  get: (_target, name) => {
    throw new Error(`this agent has no host, so tools cannot use ${String(name)}; give it one, for example localHost()`)
  },
})
