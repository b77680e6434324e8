import { OUTPUT_LOST_ERROR } from '../agent/loop/run-deadline.ts'
import { run } from '../agent/loop/run.ts'
import type { CloseReason, RunEvent } from '../agent/loop/run-event.ts'
import type { RunArgs } from './args/run-args.ts'
import { assembleAgent, resolveWorkFolder } from './setup/assemble-agent.ts'
import { readSettings } from './config/read-settings.ts'
import { UserError, EXIT_CODE } from './user-error.ts'
import { chooseModel } from './setup/choose-model.ts'
import { createRunOutput, STANDARD_STREAMS } from './output/create-output.ts'
import { findResumedModel } from './setup/resumed-model.ts'
import { readStdin } from './stdin.ts'
import { onStopRequest } from './stop-signals.ts'
import { createTelemetry } from './setup/telemetry.ts'
import type { TrafficRecorder } from './recording/traffic-recorder.ts'

/** Runs a prompt without interaction, and returns the exit code. */
export async function runHeadless(args: RunArgs, stdinText?: string): Promise<number> {
  const prompt = composePrompt(args, stdinText ?? (await readStdin()))
  const settings = readSettings(resolveWorkFolder(args))
  const telemetry = createTelemetry(settings.config.telemetry)
  const recorder = await openTrafficRecorder(args)
  const model = await chooseModel(args.model, settings.config, {
    recalled: findResumedModel(args),
    maxCost: args.maxCost,
    tap: recorder,
  })
  const assembled = await assembleAgent(args, settings, model.model).catch(async (error: unknown) => {
    await model.close()
    throw error
  })
  recorder?.followSession(assembled.agent.session)
  const output = createRunOutput(args.outputFormat)
  const stop = new AbortController()
  const stopListening = onStopRequest((cause) => stop.abort(cause === 'output-lost' ? OUTPUT_LOST_ERROR : undefined))
  // Started processes must not outlive this one, however it ends.
  const close = (): void => void assembled.close()
  process.once('exit', close)
  let code: number = EXIT_CODE.failure
  try {
    for (const text of [...(model.notices ?? []), ...assembled.notices]) output.onEvent({ type: 'notice', text })
    const userParts = prompt === undefined ? undefined : [{ kind: 'text', text: prompt } as const]
    // Standard input may have been written by others; only the prompt was typed by the user.
    const typedPrompt = prompt === args.prompt ? undefined : args.prompt
    for await (const event of run(assembled.agent, userParts, stop.signal, typedPrompt)) {
      output.onEvent(event)
      telemetry?.onEvent(event)
      if (event.type === 'run-close') code = toExitCode(event)
    }
    return code
  } finally {
    process.off('exit', close)
    recorder?.close()
    await assembled.close()
    stopListening()
    await model.close()
    const deliveryProblem = await telemetry?.close()
    if (deliveryProblem !== undefined) STANDARD_STREAMS.err(`dragoman: ${deliveryProblem}\n`)
  }
}

export async function openTrafficRecorder(
  args: Pick<RunArgs, 'record' | 'trace'>,
): Promise<TrafficRecorder | undefined> {
  const trace = args.trace ?? (process.env['DRAGOMAN_TRACE'] || undefined)
  if (args.record === undefined && trace === undefined) return undefined
  const { createTrafficRecorder } = await import('./recording/traffic-recorder.ts')
  return createTrafficRecorder(
    { record: args.record, trace },
    (message) => void process.stderr.write(`dragoman: ${message}\n`),
  )
}

/** A refused key and an unknown model have exit codes of their own, because the user can fix them. */
export function toExitCode({ reason, fault }: Extract<RunEvent, { type: 'run-close' }>): number {
  if (fault?.kind === 'auth') return EXIT_CODE.signIn
  return fault?.kind === 'invalid' && fault.param === 'model' ? EXIT_CODE.input : EXIT_CODE_BY_CLOSE_REASON[reason]
}

const EXIT_CODE_BY_CLOSE_REASON: Record<CloseReason, number> = {
  done: EXIT_CODE.ok,
  'turn-limit': EXIT_CODE.turnLimit,
  'time-limit': EXIT_CODE.turnLimit,
  'cost-limit': EXIT_CODE.turnLimit,
  loop: EXIT_CODE.failure,
  cancelled: EXIT_CODE.interrupted,
  'output-lost': EXIT_CODE.failure,
  length: EXIT_CODE.failure,
  filter: EXIT_CODE.failure,
  fault: EXIT_CODE.failure,
  unsaved: EXIT_CODE.failure,
}

/** Standard input, then the prompt. A resumed session needs neither. */
function composePrompt(args: RunArgs, stdinText: string): string | undefined {
  const combined = [stdinText, args.prompt ?? ''].filter((text) => text !== '').join('\n\n')
  if (combined !== '') return combined
  if (args.resume !== undefined) return undefined
  throw new UserError('no prompt: pass one with -p or on standard input')
}
