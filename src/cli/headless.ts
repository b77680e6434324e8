import { OUTPUT_LOST } from '../agent/deadline.ts'
import { run } from '../agent/run.ts'
import type { CloseReason, RunEvent } from '../agent/run-event.ts'
import type { RunArgs } from './line/args.ts'
import { assemble, workFolder } from './setup/assemble.ts'
import { readSettings } from './config/read.ts'
import { Complaint, EXIT } from './exit.ts'
import { chooseModel } from './setup/model.ts'
import { outputFor, STANDARD } from './output/standard.ts'
import { recalledModel } from './setup/recall.ts'
import { readPiped } from './piped.ts'
import { onStop } from './stopping.ts'
import { startTelemetry } from './setup/telemetry.ts'
import type { Tap } from './tape/tap.ts'

/** Runs a prompt without a person: prints what happens in the form that was asked for, and gives the exit code. */
export async function headless(args: RunArgs, piped?: string): Promise<number> {
  const prompt = wholePrompt(args, piped ?? (await readPiped()))
  const settings = readSettings(workFolder(args))
  const telemetry = startTelemetry(settings.config.telemetry)
  const tap = await tapFor(args)
  const model = await chooseModel(args.model, settings.config, {
    recalled: recalledModel(args),
    maxCost: args.maxCost,
    tap,
  })
  const ready = await assemble(args, settings, model.port).catch(async (error: unknown) => {
    await model.close()
    throw error
  })
  tap?.follow(ready.agent.session)
  const output = outputFor(args.format)
  const stop = new AbortController()
  const listenNoMore = onStop((cause) => stop.abort(cause === 'output-lost' ? OUTPUT_LOST : undefined))
  // However we end, what we have started ends with us.
  const close = (): void => void ready.close()
  process.once('exit', close)
  let code: number = EXIT.failure
  try {
    for (const text of [...(model.notices ?? []), ...ready.notices]) output.show({ type: 'notice', text })
    const said = prompt === undefined ? undefined : [{ kind: 'text', text: prompt } as const]
    // What is piped in beside a prompt, others may have written.
    const own = prompt === args.prompt ? undefined : args.prompt
    for await (const event of run(ready.agent, said, stop.signal, own)) {
      output.show(event)
      telemetry?.see(event)
      if (event.type === 'run-close') code = codeOf(event)
    }
    return code
  } finally {
    process.off('exit', close)
    tap?.close()
    await ready.close()
    listenNoMore()
    await model.close()
    const undelivered = await telemetry?.close()
    if (undelivered !== undefined) STANDARD.err(`dragoman: ${undelivered}\n`)
  }
}

/** What watches the wire, if the person asked for it. */
export async function tapFor(args: Pick<RunArgs, 'record' | 'trace'>): Promise<Tap | undefined> {
  const trace = args.trace ?? (process.env['DRAGOMAN_TRACE'] || undefined)
  if (args.record === undefined && trace === undefined) return undefined
  const { startTap } = await import('./tape/tap.ts')
  return startTap({ record: args.record, trace }, (sentence) => void process.stderr.write(`dragoman: ${sentence}\n`))
}

/** A key that is refused and a model that does not exist are the person's to mend. */
function codeOf({ reason, fault }: Extract<RunEvent, { type: 'run-close' }>): number {
  if (fault?.kind === 'auth') return EXIT.signIn
  return fault?.kind === 'invalid' && fault.param === 'model' ? EXIT.input : CODES[reason]
}

const CODES: Record<CloseReason, number> = {
  done: EXIT.ok,
  'turn-limit': EXIT.turnLimit,
  'time-limit': EXIT.turnLimit,
  'cost-limit': EXIT.turnLimit,
  loop: EXIT.failure,
  cancelled: EXIT.interrupted,
  'output-lost': EXIT.failure,
  length: EXIT.failure,
  filter: EXIT.failure,
  fault: EXIT.failure,
  unsaved: EXIT.failure,
}

/** The prompt, with what stands on standard input before it. Going on with a session needs none. */
function wholePrompt(args: RunArgs, piped: string): string | undefined {
  const whole = [piped, args.prompt ?? ''].filter((text) => text !== '').join('\n\n')
  if (whole !== '') return whole
  if (args.resume !== undefined) return undefined
  throw new Complaint('there is nothing to do: give a prompt with -p, or on standard input')
}
