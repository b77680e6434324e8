import { createRedactor } from '../../../model/security/redactor.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { importConversation } from '../../../session/import-conversation.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { builtinTools } from '../../../tool/builtin/index.ts'
import { createToolbox } from '../../../tool/toolbox.ts'
import { type RunArgs, toRunArgs } from '../../args/run-args.ts'
import { newSessionId, resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { REPLAY_COMMAND } from './spec.ts'
import { listProviders } from '../../setup/choose-model.ts'
import { RUN_OPTIONS } from '../../args/options.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { parseCommandLine, parsePositiveInteger } from '../../args/parse-command-line.ts'
import { getMemoryFilePath, getSessionsFolder } from '../../paths/folders.ts'
import { readRecording, type SessionRecording } from '../../recording/read-recording.ts'
import { type ReplayDifference, replayRecording, type ReplayReport } from '../../recording/replay-recording.ts'
import { printHelp } from '../../args/print-help.ts'
import { loadSystemPrompt } from '../../setup/system-prompt.ts'

export async function runReplayCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(
    'dragoman replay',
    { ...RUN_OPTIONS, ...REPLAY_COMMAND.options },
    args,
  )
  const [folder, ...words] = positionals
  if (folder === undefined) return printHelp('replay')
  const liveArgs = toRunArgs(values, words)
  const sessionRecording = readRecording(folder)
  const until = parsePositiveInteger('--until', values.until)
  if (until !== undefined && liveArgs.model === undefined)
    throw new UserError('--until needs --model: the model to continue with')
  const initialEntries = until === undefined ? [] : collectEntriesUntil(sessionRecording, until)
  const { config } = readSettings(resolveWorkFolder(liveArgs))
  const memory = getMemoryFilePath()
  const report = await replayRecording(sessionRecording, {
    providers: listProviders(config),
    system: loadSystemPrompt(liveArgs),
    tools: createToolbox(builtinTools({ memory, background: true })).specs,
    // The recording was redacted, and so must be what is compared with it.
    redactor: createRedactor(),
    ...(until !== undefined && { stopBeforeAnswer: until + 1 }),
  })
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  else (until === undefined ? process.stdout : process.stderr).write(formatReplayReport(report))
  if (until === undefined) return report.differences.length === 0 ? EXIT_CODE.ok : EXIT_CODE.failure
  return continueLive(initialEntries, liveArgs, resolveWorkFolder(liveArgs))
}

async function continueLive(entries: readonly Entry[], args: RunArgs, folder: string): Promise<number> {
  const log = await jsonlStore(getSessionsFolder(folder)).create({ id: newSessionId(), folder })
  importConversation(log, entries)
  await log.flush()
  await log.close()
  const { runHeadless } = await import('../../headless.ts')
  const { fork: _unused, ...others } = args
  return runHeadless({ ...others, resume: log.id })
}

/** The entries up to the request that followed the n-th answer. */
function collectEntriesUntil({ lines }: SessionRecording, until: number): Entry[] {
  let entries: Entry[] = []
  let answers = 0
  for (const line of lines) {
    if (line.kind === 'session') entries = []
    if (line.kind === 'ask' && line.turns === undefined && answers >= until) return entries
    if (line.kind !== 'entry') continue
    if (line.entry.kind === 'turn') answers++
    entries.push(line.entry)
  }
  throw new UserError(
    answers === 0
      ? 'the recording contains no responses'
      : `no request follows the last of the ${answers} responses; use a smaller number for --until`,
  )
}

function formatReplayReport({ requests, answers, differences }: ReplayReport): string {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
  const summary = `Replayed ${count(requests, 'request')}, ${count(answers, 'response')}.`
  const [first] = differences
  if (!first) return `${summary} No differences.\n`
  const formatPosition = (found: ReplayDifference): string => `${found.in} ${found.number}, ${found.place}`
  const more = new Set(differences.slice(1).map(formatPosition))
  const shown = [...more].slice(0, 10).map((one) => `  also: ${one}\n`)
  return escapeForTerminal(
    `${summary} First difference: ${formatPosition(first)}\n  recorded: ${first.recorded}\n  now:      ${first.now}\n${shown.join('')}`,
  )
}
