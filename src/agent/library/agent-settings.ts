import { homedir } from 'node:os'
import { createDiskView } from '../../host/files/disk-view.ts'
import type { Host } from '../../host/host.ts'
import { findBashSyntaxError } from '../../host/process/bash-syntax.ts'
import { defined } from '../../model/defined.ts'
import { approvalPolicy } from '../../policy/approval-policy.ts'
import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { systemClock } from '../../provider/index.ts'
import type { Schema } from '../../tool/infer-schema.ts'
import type { Tool } from '../../tool/tool.ts'
import { createToolbox } from '../../tool/toolbox.ts'
import type { AgentContext } from '../agent-context.ts'
import { createSeenFiles } from '../calls/seen-files.ts'
import { createOutputContract } from '../output/output-contract.ts'
import type { OutputSpec } from '../output/output-spec.ts'
import type { AgentOptions, ModelSettings, RunOptions } from './agent-options.ts'

/** What all runs of an agent have in common. */
export function createSharedContext(
  options: AgentOptions<Schema | undefined>,
  moreTools: readonly Tool[],
  createId: () => string,
): Omit<AgentContext, 'session' | 'model'> {
  const folders = options.folders ?? []
  return {
    toolbox: createToolbox([...(options.tools ?? []), ...moreTools]),
    policy: toPolicy(options.policy, folders),
    host: options.host ?? MISSING_HOST,
    folders,
    seenFiles: createSeenFiles(),
    system: options.instructions ?? '',
    clock: systemClock,
    createId,
    onRequestSent: () => options.host?.processes.onIdle?.(),
    ...defined({ hooks: options.hooks }),
    stopRequest: {},
  }
}

/** What the requests of a run have of its options and of those of its agent. */
export function toRequestSettings(
  settings: ModelSettings & Pick<RunOptions<Schema | undefined>, 'output'>,
): Pick<AgentContext, 'params' | 'toolChoice' | 'providerOptions' | 'output'> {
  const { maxTokens, temperature, topP, stop, reasoningEffort, parallelToolCalls, cacheTtl } = settings
  const { toolChoice, providerOptions } = settings
  const thinking = { effort: reasoningEffort, parallelCalls: parallelToolCalls }
  return {
    params: defined({ maxTokens, temperature, topP, stop, cacheTtl, ...thinking }),
    ...defined({ toolChoice, providerOptions, output: settings.output && toOutputSpec(settings.output) }),
  }
}

/** The same schema gives the same spec, by which later requests find what is known of it. */
const outputSpecs = new WeakMap<Schema, OutputSpec>()

export function toOutputSpec(schema: Schema): OutputSpec {
  const spec = outputSpecs.get(schema) ?? { schema: schema as OutputSpec['schema'] }
  outputSpecs.set(schema, spec)
  createOutputContract(spec) // Throws if it cannot be used.
  return spec
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
