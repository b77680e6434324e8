import { jsonlStore } from '../../session/store/jsonl.ts'
import { type SessionSummary, type Store, StoreProblem } from '../../session/store/store.ts'
import { sessionNamed, workFolder } from '../setup/assemble.ts'
import { catalogWith } from '../setup/catalog.ts'
import { readSettings } from '../config/read.ts'
import { Complaint } from '../exit.ts'
import { SESSIONS } from '../manual/sessions.ts'
import { localTime } from '../output/columns.ts'
import { visible } from '../output/visible.ts'
import { parseLine } from '../line/parse.ts'
import { sessionsFolder } from '../own/places.ts'
import { showHelp } from '../line/show-help.ts'
import { exportText } from './session-export.ts'
import { asMarkdown } from './session-markdown.ts'
import { openQuestions, questionText } from './session-question.ts'

/** How many words a verb takes, itself included. */
const MOST_WORDS: Readonly<Record<string, number>> = { list: 1, show: 2, export: 2, rm: 2 }

/** `dragoman sessions`: looks at what was done, and takes it along. */
export async function sessionsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseLine('dragoman sessions', SESSIONS.options, args)
  const [verb, name = 'latest'] = positionals
  if (verb === undefined) return void (await showHelp('sessions'))
  const folder = workFolder(values.cwd === undefined ? {} : { cwd: values.cwd })
  const store = jsonlStore(sessionsFolder(folder))
  const extra = positionals[MOST_WORDS[verb] ?? Infinity]
  if (extra !== undefined) throw new Complaint(`dragoman sessions ${verb} does not know what to do with “${extra}”`)
  try {
    if (verb === 'list') return list(store, values.json ?? false)
    if (verb === 'show') return await show(store, name, values)
    if (verb === 'export')
      return print(await exportText(store.read(sessionNamed(name, store)).entries, values.format ?? 'markdown'))
    if (verb === 'reply') return reply(store, name, positionals.slice(2))
    if (verb === 'rm') return remove(store, positionals[1])
  } catch (error) {
    if (error instanceof StoreProblem) throw new Complaint(error.message)
    throw error
  }
  throw new Complaint(`dragoman sessions knows list, show, export, reply and rm, not “${verb}”`)
}

function list(store: Store, json: boolean): void {
  const all = store.list()
  if (json) return print(`${JSON.stringify(all)}\n`)
  if (all.length === 0) return print('There is no session in this folder yet.\n')
  print(all.map(inTwoLines).join(''))
}

/** When, how long and with whom; and below, what it was about: both fit on a narrow terminal. */
function inTwoLines({ id, changed, title, prompts, model, parent, unfinished }: SessionSummary): string {
  const count = prompts === undefined ? '' : `${prompts} ${prompts === 1 ? 'prompt' : 'prompts'}`
  const head = [id, localTime(changed), count.padEnd(10), visible(model ?? '')].join('  ').trimEnd()
  const fork = parent ? `⑂ of ${visible(parent.session)}  ` : ''
  const note = unfinished ? '  (did not end; --resume goes on)' : ''
  return `${clipped(head, WIDTH)}\n  ${fork}${clipped(visible(title), WIDTH - 2 - fork.length - note.length)}${note}\n`
}

const WIDTH = 80

function clipped(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(width, 20) - 1)}…`
}

async function show(
  store: Store,
  name: string,
  values: { stats?: boolean; cache?: boolean; json?: boolean; cwd?: string },
): Promise<void> {
  if (values.stats && values.cache) throw new Complaint('give --stats or --cache, not both')
  if (values.json && !values.stats && !values.cache)
    throw new Complaint('--json goes with --stats or --cache; dragoman sessions export --format json gives it all')
  const log = store.read(sessionNamed(name, store))
  const { entries, damages } = log
  if (values.stats) {
    const { sessionStats } = await import('./session-stats.ts')
    const stats = sessionStats(entries, await catalogWith(settingsOf(values).config)())
    print(values.json ? `${JSON.stringify(stats)}\n` : (await import('./session-stats-text.ts')).statsText(stats))
  } else if (values.cache) {
    const { cacheLines, cacheText } = await import('./session-cache.ts')
    const lines = cacheLines(entries)
    print(values.json ? `${JSON.stringify(lines)}\n` : cacheText(lines))
  } else {
    print(visible(asMarkdown(entries)))
    for (const question of openQuestions(log))
      print(
        `\nThis waits for your answer (dragoman sessions reply ${visible(name)} yes|no):\n${questionText(question)}`,
      )
  }
  if (damages.length > 0) process.stderr.write(`dragoman: the log is damaged in ${damages.length} places\n`)
}

function settingsOf({ cwd }: { cwd?: string }) {
  return readSettings(workFolder(cwd === undefined ? {} : { cwd }))
}

/**
 * Answers the oldest open question of a session in its log, for the process that takes it up. The question is printed whole
 * with the answer; without an answer it is only printed.
 */
function reply(store: Store, name: string, [answer, ...words]: string[]): void {
  const outcome = /^y(?:es)?$/i.test(answer ?? '') ? 'proceed-once' : /^no?$/i.test(answer ?? '') ? 'cancel' : undefined
  if (outcome === undefined && answer !== undefined)
    throw new Complaint('the answer is yes or no; words after a no go to the model')
  const log = store.open(sessionNamed(name, store))
  try {
    const [ask, ...others] = openQuestions(log)
    if (!ask) throw new Complaint(`the session ${log.id} waits for no answer`)
    print(questionText(ask))
    if (outcome === undefined) return print(`dragoman sessions reply ${log.id} yes|no answers it.\n`)
    log.append({ kind: 'reply', ask: ask.ask, outcome, ...(words.length > 0 && { words: words.join(' ') }) })
    const more = others.length === 0 ? '' : ` ${others.length} more to answer.`
    print(`Answered ${outcome === 'cancel' ? 'no' : 'yes'}.${more} dragoman --resume ${log.id} goes on.\n`)
  } finally {
    log.close()
  }
}

function remove(store: Store, name: string | undefined): void {
  if (name === undefined) throw new Complaint('which session? dragoman sessions list shows them')
  const id = sessionNamed(name, store)
  store.remove(id)
  print(`${id} is removed.\n`)
}

function print(text: string): void {
  process.stdout.write(text)
}
