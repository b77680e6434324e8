import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { type SessionSummary, type Store, StoreError } from '../../../session/store/store.ts'
import { findSessionId, resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError } from '../../user-error.ts'
import { SESSIONS_COMMAND } from './spec.ts'
import { formatLocalTime } from '../../output/format.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { parseCommandLine } from '../../args/parse.ts'
import { sessionsFolderPath } from '../../paths/folders.ts'
import { printHelp } from '../../args/print-help.ts'
import { exportSessionText } from './export.ts'
import { sessionToMarkdown } from './markdown.ts'
import { findOpenApprovals, formatApprovalRequest } from './open-approvals.ts'

/** How many words a verb takes, itself included. */
const MAX_ARGUMENTS: Readonly<Record<string, number>> = { list: 1, show: 2, export: 2, rm: 2 }

/** `dragoman sessions`: looks at what was done, and takes it along. */
export async function runSessionsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseCommandLine('dragoman sessions', SESSIONS_COMMAND.options, args)
  const [subcommand, name = 'latest'] = positionals
  if (subcommand === undefined) return void (await printHelp('sessions'))
  const folder = resolveWorkFolder(values.cwd === undefined ? {} : { cwd: values.cwd })
  const store = jsonlStore(sessionsFolderPath(folder))
  const extra = positionals[MAX_ARGUMENTS[subcommand] ?? Infinity]
  if (extra !== undefined)
    throw new UserError(`dragoman sessions ${subcommand} does not know what to do with “${extra}”`)
  try {
    if (subcommand === 'list') return listSessions(store, values.json ?? false)
    if (subcommand === 'show') return await showSession(store, name, values)
    if (subcommand === 'export')
      return printText(
        await exportSessionText(store.read(findSessionId(name, store)).entries, values.format ?? 'markdown'),
      )
    if (subcommand === 'reply') return replyToApproval(store, name, positionals.slice(2))
    if (subcommand === 'rm') return removeSession(store, positionals[1])
  } catch (error) {
    if (error instanceof StoreError) throw new UserError(error.message)
    throw error
  }
  throw new UserError(`dragoman sessions knows list, show, export, reply and rm, not “${subcommand}”`)
}

function listSessions(store: Store, json: boolean): void {
  const all = store.list()
  if (json) return printText(`${JSON.stringify(all)}\n`)
  if (all.length === 0) return printText('There is no session in this folder yet.\n')
  printText(all.map(formatSessionSummary).join(''))
}

/** When, how long and with whom; and below, what it was about: both fit on a narrow terminal. */
function formatSessionSummary({ id, changed, title, prompts, model, parent, unfinished }: SessionSummary): string {
  const count = prompts === undefined ? '' : `${prompts} ${prompts === 1 ? 'prompt' : 'prompts'}`
  const head = [id, formatLocalTime(changed), count.padEnd(10), escapeForTerminal(model ?? '')].join('  ').trimEnd()
  const fork = parent ? `⑂ of ${escapeForTerminal(parent.session)}  ` : ''
  const note = unfinished ? '  (did not end; --resume goes on)' : ''
  return `${clipText(head, LIST_WIDTH)}\n  ${fork}${clipText(escapeForTerminal(title), LIST_WIDTH - 2 - fork.length - note.length)}${note}\n`
}

const LIST_WIDTH = 80

function clipText(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(width, 20) - 1)}…`
}

async function showSession(
  store: Store,
  name: string,
  values: { stats?: boolean; cache?: boolean; json?: boolean; cwd?: string },
): Promise<void> {
  if (values.stats && values.cache) throw new UserError('give --stats or --cache, not both')
  if (values.json && !values.stats && !values.cache)
    throw new UserError('--json goes with --stats or --cache; dragoman sessions export --format json gives it all')
  const log = store.read(findSessionId(name, store))
  const { entries, damages } = log
  if (values.stats) {
    const { computeSessionStats } = await import('./stats.ts')
    const stats = computeSessionStats(entries, await createLazyCatalog(readSessionSettings(values).config)())
    printText(values.json ? `${JSON.stringify(stats)}\n` : (await import('./stats-text.ts')).formatSessionStats(stats))
  } else if (values.cache) {
    const { analyzeCacheUse, formatCacheReport } = await import('./cache-report.ts')
    const lines = analyzeCacheUse(entries)
    printText(values.json ? `${JSON.stringify(lines)}\n` : formatCacheReport(lines))
  } else {
    printText(escapeForTerminal(sessionToMarkdown(entries)))
    for (const question of findOpenApprovals(log))
      printText(
        `\nThis waits for your answer (dragoman sessions reply ${escapeForTerminal(name)} yes|no):\n${formatApprovalRequest(question)}`,
      )
  }
  if (damages.length > 0) process.stderr.write(`dragoman: the log is damaged in ${damages.length} places\n`)
}

function readSessionSettings({ cwd }: { cwd?: string }) {
  return readSettings(resolveWorkFolder(cwd === undefined ? {} : { cwd }))
}

/**
 * Answers the oldest open question of a session in its log, for the process that takes it up. The question is printed whole
 * with the answer; without an answer it is only printed.
 */
function replyToApproval(store: Store, name: string, [answer, ...words]: string[]): void {
  const outcome = /^y(?:es)?$/i.test(answer ?? '') ? 'proceed-once' : /^no?$/i.test(answer ?? '') ? 'cancel' : undefined
  if (outcome === undefined && answer !== undefined)
    throw new UserError('the answer is yes or no; words after a no go to the model')
  const log = store.open(findSessionId(name, store))
  try {
    const [ask, ...others] = findOpenApprovals(log)
    if (!ask) throw new UserError(`the session ${log.id} waits for no answer`)
    printText(formatApprovalRequest(ask))
    if (outcome === undefined) return printText(`dragoman sessions reply ${log.id} yes|no answers it.\n`)
    log.append({ kind: 'reply', ask: ask.ask, outcome, ...(words.length > 0 && { words: words.join(' ') }) })
    const more = others.length === 0 ? '' : ` ${others.length} more to answer.`
    printText(`Answered ${outcome === 'cancel' ? 'no' : 'yes'}.${more} dragoman --resume ${log.id} goes on.\n`)
  } finally {
    log.close()
  }
}

function removeSession(store: Store, name: string | undefined): void {
  if (name === undefined) throw new UserError('which session? dragoman sessions list shows them')
  const id = findSessionId(name, store)
  store.remove(id)
  printText(`${id} is removed.\n`)
}

function printText(text: string): void {
  process.stdout.write(text)
}
