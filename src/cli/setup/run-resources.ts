import type { AgentContext } from '../../agent/agent-context.ts'
import { defined } from '../../model/defined.ts'
import type { RunArgs } from '../args/run-args.ts'
import type { Settings } from '../config/read-settings.ts'
import { STANDARD_STREAMS } from '../output/create-output.ts'
import type { TrafficRecorder } from '../recording/traffic-recorder.ts'
import { type AgentExtension, assembleAgent, type AssembledAgent } from './assemble-agent.ts'
import { chooseModel, type ChosenModel } from './choose-model.ts'
import { findResumedModel } from './resumed-model.ts'
import { createTelemetry, type Telemetry } from './telemetry.ts'

/** What a run needs besides the agent. The headless and the interactive front end open and close it in the same way. */
export interface RunResources {
  readonly model: ChosenModel
  readonly recorder: TrafficRecorder | undefined
  readonly telemetry: Telemetry | undefined
}

export async function openRunResources(args: RunArgs, { config }: Settings, name = args.model): Promise<RunResources> {
  const telemetry = createTelemetry(config.telemetry)
  const recorder = await openTrafficRecorder(args)
  const options = {
    recalled: await findResumedModel(args),
    maxCost: args.maxCost,
    tap: recorder,
    generation: args.generation,
  }
  return { model: await chooseModel(name, config, options), recorder, telemetry }
}

export async function assembleRunAgent(
  args: RunArgs,
  settings: Settings,
  { model, recorder }: RunResources,
  requestApproval?: AgentContext['requestApproval'],
  extension: AgentExtension = {},
): Promise<AssembledAgent> {
  const openModel = (name: string) =>
    chooseModel(name, settings.config, {
      tap: recorder,
      limitCost: model.limitCost,
      ...defined({ generation: args.generation }),
    })
  const withModels = { ...extension, openModel }
  const assembled = await assembleAgent(args, settings, model.model, requestApproval, withModels)
  recorder?.followSession(assembled.agent.session)
  return assembled
}

/** Closes what a run has opened; the telemetry last, because it waits for the collector. */
export async function closeRun(resources: RunResources, assembled?: AssembledAgent): Promise<void> {
  resources.recorder?.close()
  await assembled?.close()
  await resources.model.close()
  const deliveryProblem = await resources.telemetry?.close()
  if (deliveryProblem !== undefined) STANDARD_STREAMS.err(`dragoman: ${deliveryProblem}\n`)
}

async function openTrafficRecorder(args: Pick<RunArgs, 'record' | 'trace'>): Promise<TrafficRecorder | undefined> {
  const trace = args.trace ?? (process.env['DRAGOMAN_TRACE'] || undefined)
  if (args.record === undefined && trace === undefined) return undefined
  const { createTrafficRecorder } = await import('../recording/traffic-recorder.ts')
  const warn = (message: string) => void process.stderr.write(`dragoman: ${message}\n`)
  return createTrafficRecorder({ record: args.record, trace }, warn)
}
