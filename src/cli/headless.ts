import { OUTPUT_CLOSED_REASON } from '../agent/loop/run-deadline.ts'
import { run } from '../agent/loop/run.ts'
import type { CloseReason, RunEvent } from '../agent/loop/run-event.ts'
import { defined } from '../model/defined.ts'
import type { UserTurn } from '../model/turn.ts'
import type { RunArgs } from './args/run-args.ts'
import { resolveWorkFolder, type AssembledAgent } from './setup/assemble-agent.ts'
import { readSettings } from './config/read-settings.ts'
import { UserError, EXIT_CODE } from './user-error.ts'
import { createRunOutput } from './output/create-output.ts'
import { assembleRunAgent, closeRun, openRunResources } from './setup/run-resources.ts'
import { loadOutputSpec } from './setup/output-schema.ts'
import { readStdin } from './stdin.ts'
import { onStopRequest } from './stop-signals.ts'

/** Runs a prompt without interaction, and returns the exit code. */
export async function runHeadless(args: RunArgs, stdinText?: string): Promise<number> {
  const prompt = composePrompt(args, stdinText ?? (await readStdin()))
  const outputSpec = loadOutputSpec(args.jsonSchema)
  const settings = readSettings(resolveWorkFolder(args))
  // A command may name its model, unless the user has.
  const commandModel = args.model === undefined ? (await findCalledPrompt(args))?.prompt.model : undefined
  const resources = await openRunResources(args, settings, commandModel?.includes('/') ? commandModel : args.model)
  const assembled = await assembleRunAgent(args, settings, resources).catch(async (error: unknown) => {
    await resources.model.close()
    throw error
  })
  const output = createRunOutput(args.outputFormat, {
    isStructured: outputSpec !== undefined,
    isSaved: !args.noSession,
  })
  const stop = new AbortController()
  const stopListening = onStopRequest((cause) => stop.abort(cause === 'output-lost' ? OUTPUT_CLOSED_REASON : undefined))
  // Started processes must not outlive this one, however it ends.
  const close = (): void => void assembled.close('exit')
  process.once('exit', close)
  let code: number = EXIT_CODE.failure
  try {
    const notices = [...(resources.model.notices ?? []), ...assembled.notices]
    for (const text of notices) output.onEvent({ type: 'notice', text })
    const message = await createMessage(args, prompt, assembled, stop.signal)
    for (const text of message.remarks ?? []) output.onEvent({ type: 'notice', text })
    const agent = { ...assembled.agent, ...defined({ output: outputSpec }) }
    for await (const event of run(agent, message.parts, stop.signal, message.ownText)) {
      output.onEvent(event)
      resources.telemetry?.onEvent(event)
      if (event.type === 'run-close') code = toExitCode(event)
    }
    return code
  } finally {
    process.off('exit', close)
    stopListening()
    const kept = assembled.listKeptCommands()
    if (kept.length > 0) {
      const { formatKeptCommands } = await import('./session-end.ts')
      process.stderr.write(`dragoman: ${formatKeptCommands(kept)}\n`)
    }
    await closeRun(resources, assembled)
  }
}

interface HeadlessMessage {
  readonly parts: UserTurn['parts'] | undefined
  /** What the user typed, if there is also text of others. */
  readonly ownText?: string
  readonly remarks?: readonly string[]
}

/** The message for the model. A prompt may call a custom command or a skill: `/review src`. */
async function createMessage(
  args: RunArgs,
  prompt: string | undefined,
  { agent, grants }: AssembledAgent,
  signal: AbortSignal,
): Promise<HeadlessMessage> {
  const custom = await findCalledPrompt(args)
  if (custom) {
    const { preparePrompt } = await import('./prompt-files/prepare-prompt.ts')
    const prepared = await preparePrompt(custom.prompt, custom.words, { agent, grants, signal })
    if ('problem' in prepared) throw new UserError(prepared.problem)
    const stdinText = prompt === args.prompt ? '' : (prompt ?? '').slice(0, -(args.prompt?.length ?? 0)).trim()
    const [first, ...more] = prepared.parts
    const parts =
      stdinText === '' || !first ? prepared.parts : [{ kind: 'text', text: stdinText } as const, first, ...more]
    return { ...prepared, parts }
  }
  // Standard input may have been written by others; only the prompt was typed by the user.
  const ownText = prompt === args.prompt ? undefined : args.prompt
  return { parts: prompt === undefined ? undefined : [{ kind: 'text', text: prompt }], ...defined({ ownText }) }
}

async function findCalledPrompt(args: RunArgs) {
  if (!args.prompt?.trimStart().startsWith('/')) return undefined
  const { findCustomPrompt } = await import('./prompt-files/custom-prompts.ts')
  return findCustomPrompt(args.prompt, resolveWorkFolder(args))
}

/** A refused key and an unknown model have exit codes of their own, because the user can fix them. */
export function toExitCode({ reason, fault }: Extract<RunEvent, { type: 'run-close' }>): number {
  if (fault?.kind === 'auth') return EXIT_CODE.signIn
  return fault?.kind === 'invalid' && fault.param === 'model' ? EXIT_CODE.input : EXIT_CODE_BY_CLOSE_REASON[reason]
}

const EXIT_CODE_BY_CLOSE_REASON: Record<CloseReason, number> = {
  done: EXIT_CODE.ok,
  'awaiting-approval': EXIT_CODE.failure,
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
  'taken-over': EXIT_CODE.failure,
}

/** Standard input, then the prompt. A resumed session needs neither. */
function composePrompt(args: RunArgs, stdinText: string): string | undefined {
  const combined = [stdinText, args.prompt ?? ''].filter((text) => text !== '').join('\n\n')
  if (combined !== '') return combined
  if (args.resume !== undefined) return undefined
  throw new UserError('no prompt: pass one with -p or on standard input')
}
