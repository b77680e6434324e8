import { redactor } from '../../model/secret.ts'
import type { Entry } from '../../session/entry.ts'
import { importSaid } from '../../session/import.ts'
import { jsonlStore } from '../../session/store/jsonl.ts'
import { builtinTools } from '../../tool/builtin/index.ts'
import { toolbox } from '../../tool/toolbox.ts'
import { type RunArgs, runArgs } from '../line/args.ts'
import { newId, workFolder } from '../setup/assemble.ts'
import { readSettings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { REPLAY } from '../manual/replay.ts'
import { rowsWith } from '../setup/model.ts'
import { RUN_OPTIONS } from '../line/options.ts'
import { visible } from '../output/visible.ts'
import { parseLine } from '../line/parse.ts'
import { memoryFile, sessionsFolder } from '../own/places.ts'
import { readRecording, type Recorded } from '../tape/recording.ts'
import { type Found, replay } from '../tape/replay.ts'
import { showHelp } from '../line/show-help.ts'
import { systemPrompt } from '../setup/system-prompt.ts'

/** `dragoman replay`: plays a recorded session again. */
export async function replayCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseLine('dragoman replay', { ...RUN_OPTIONS, ...REPLAY.options }, args)
  const [folder, ...words] = positionals
  if (folder === undefined) return showHelp('replay')
  const live = runArgs(values, words)
  const recorded = readRecording(folder)
  const until = values.until === undefined ? undefined : wholeNumber(values.until)
  if (until !== undefined && live.model === undefined) throw new Complaint('--until needs a --model to go on with')
  const begun = until === undefined ? [] : entriesUntil(recorded, until)
  const { config } = readSettings(workFolder(live))
  const memory = memoryFile()
  const report = await replay(recorded, {
    rows: rowsWith(config),
    system: systemPrompt(live),
    tools: toolbox(builtinTools({ memory })).specs,
    // What was recorded was cleaned, and so must be what is compared with it.
    secrets: redactor(),
    ...(until !== undefined && { before: until + 1 }),
  })
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  else (until === undefined ? process.stdout : process.stderr).write(told(report))
  if (until === undefined) return report.differences.length === 0 ? EXIT.ok : EXIT.failure
  return goOn(begun, live, workFolder(live))
}

/** Begins a session with what was recorded up to some answer, and goes on with it as with any other. */
async function goOn(entries: readonly Entry[], args: RunArgs, folder: string): Promise<number> {
  const log = jsonlStore(sessionsFolder(folder)).create({ id: newId(), folder })
  importSaid(log, entries)
  await log.saved()
  log.close()
  const { headless } = await import('../headless.ts')
  const { fork: _unused, ...others } = args
  return headless({ ...others, resume: log.id })
}

/** The entries up to the question that followed the n-th answer. */
function entriesUntil({ lines }: Recorded, until: number): Entry[] {
  let entries: Entry[] = []
  let answers = 0
  for (const line of lines) {
    if (line.kind === 'session') entries = []
    if (line.kind === 'ask' && line.turns === undefined && answers >= until) return entries
    if (line.kind !== 'entry') continue
    if (line.entry.kind === 'turn') answers++
    entries.push(line.entry)
  }
  throw new Complaint(
    answers === 0
      ? 'nothing was answered in this recording'
      : `nothing was asked after the last of the ${answers} answers in this recording; --until takes a number below that`,
  )
}

function told({
  requests,
  answers,
  differences,
}: {
  requests: number
  answers: number
  differences: readonly Found[]
}) {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
  const played = `Played again: ${count(requests, 'request')}, ${count(answers, 'answer')}.`
  const [first] = differences
  if (!first) return `${played} Nothing differs.\n`
  const where = (found: Found): string => `${found.in} ${found.number}, ${found.place}`
  const more = new Set(differences.slice(1).map(where))
  const shown = [...more].slice(0, 10).map((one) => `  also: ${one}\n`)
  return visible(
    `${played} The first difference: ${where(first)}\n  recorded: ${first.recorded}\n  now:      ${first.now}\n${shown.join('')}`,
  )
}

function wholeNumber(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new Complaint(`--until takes a whole number above 0, not “${text}”`)
}
