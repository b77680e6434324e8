import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import type { SessionSummary, Store } from '../../../session/store/store.ts'
import { findSessionId, resolveWorkFolder, withStoreErrors } from '../../setup/assemble-agent.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError } from '../../user-error.ts'
import { SESSIONS_COMMAND } from './spec.ts'
import { formatLocalTime } from '../../output/format.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { findSubcommand, type OptionValues, parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { getSessionsFolder } from '../../paths/folders.ts'
import { printHelp } from '../../args/print-help.ts'
import { exportSessionText } from './export.ts'
import { sessionToMarkdown } from './markdown.ts'
import { findOpenApprovals } from '../../../session/open-calls.ts'
import { formatApprovalRequest } from './open-approvals.ts'
import { formatSessionTree, listSubagentIds, readSubagentLogs } from './session-tree.ts'

type SessionsOptions = OptionValues<typeof SESSIONS_COMMAND.options>

export async function runSessionsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseCommandLine('dragoman sessions', SESSIONS_COMMAND.options, args)
  const [subcommand, ...rest] = positionals
  if (subcommand === undefined) return void (await printHelp('sessions'))
  const run = findSubcommand('dragoman sessions', SESSIONS_SUBCOMMANDS, subcommand)
  if (subcommand !== 'reply') rejectExtraArgs(`dragoman sessions ${subcommand}`, rest, subcommand === 'list' ? 0 : 1)
  const store = jsonlStore(getSessionsFolder(resolveWorkFolder(values)))
  process.stdout.write(await withStoreErrors(() => run(store, rest, values)))
}

/** Each returns the text to print. */
const SESSIONS_SUBCOMMANDS: Readonly<
  Record<
    keyof typeof SESSIONS_COMMAND.subcommands,
    (store: Store, rest: readonly string[], values: SessionsOptions) => Promise<string>
  >
> = {
  list: async (store, _rest, { json }) => formatSessionList(await store.list(), json ?? false),
  show: (store, [name = 'latest'], values) => formatSession(store, name, values),
  export: async (store, [name = 'latest'], { format = 'markdown' }) =>
    exportSessionText((await store.read(await findSessionId(name, store))).entries, format),
  reply: (store, [name = 'latest', ...answer]) => replyToApproval(store, name, answer),
  rm: (store, [name]) => removeSession(store, name),
}

function formatSessionList(all: readonly SessionSummary[], json: boolean): string {
  if (json) return `${JSON.stringify(all)}\n`
  // Sessions of subagents are shown with the session that they worked for, as long as there is one.
  const ids = new Set(all.map(({ id }) => id))
  const counts = new Map<string, number>()
  for (const { subagent } of all) if (subagent) counts.set(subagent.session, (counts.get(subagent.session) ?? 0) + 1)
  const own = all.filter(({ subagent }) => !subagent || !ids.has(subagent.session))
  if (own.length === 0) return 'This folder has no sessions yet.\n'
  return own.map((session) => formatSessionSummary(session) + formatSubagentCount(session.id, counts)).join('')
}

function formatSubagentCount(id: string, counts: ReadonlyMap<string, number>): string {
  const count = counts.get(id) ?? 0
  return count === 0 ? '' : `  ${count} ${count === 1 ? 'subagent' : 'subagents'} (dragoman sessions show ${id})\n`
}

/** Two lines, for narrow terminals: time, length and model; and the title. */
function formatSessionSummary({ id, changed, title, prompts, model, parent, unfinished }: SessionSummary): string {
  const count = prompts === undefined ? '' : `${prompts} ${prompts === 1 ? 'prompt' : 'prompts'}`
  const head = [id, formatLocalTime(changed), count.padEnd(10), escapeForTerminal(model ?? '')].join('  ').trimEnd()
  const fork = parent ? `⑂ of ${escapeForTerminal(parent.session)}  ` : ''
  const note = unfinished ? '  (unfinished; continue with --resume)' : ''
  return `${clipText(head, LIST_WIDTH)}\n  ${fork}${clipText(escapeForTerminal(title), LIST_WIDTH - 2 - fork.length - note.length)}${note}\n`
}

const LIST_WIDTH = 80

function clipText(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(width, 20) - 1)}…`
}

async function formatSession(store: Store, name: string, values: SessionsOptions): Promise<string> {
  if (values.stats && values.cache) throw new UserError('use --stats or --cache, not both')
  if (values.json && !values.stats && !values.cache)
    throw new UserError(
      '--json needs --stats or --cache; for the whole session: dragoman sessions export --format json',
    )
  const id = await findSessionId(name, store)
  const log = await store.read(id)
  const { entries, damages } = log
  if (damages.length > 0) process.stderr.write(`dragoman: the log is damaged in ${damages.length} places\n`)
  if (values.stats) {
    const { computeSessionStats } = await import('./stats.ts')
    const { config } = readSettings(resolveWorkFolder(values))
    const children = await readSubagentLogs(id, store)
    const stats = computeSessionStats(entries, await createLazyCatalog(config)(), children)
    return values.json ? `${JSON.stringify(stats)}\n` : (await import('./stats-text.ts')).formatSessionStats(stats)
  }
  if (values.cache) {
    const { analyzeCacheUse, formatCacheReport } = await import('./cache-report.ts')
    const lines = analyzeCacheUse(entries)
    return values.json ? `${JSON.stringify(lines)}\n` : formatCacheReport(lines)
  }
  const open = findOpenApprovals(log).map(
    (request) =>
      `\nWaiting for approval (dragoman sessions reply ${escapeForTerminal(name)} yes|no):\n${formatApprovalRequest(request)}`,
  )
  return escapeForTerminal(sessionToMarkdown(entries) + formatSessionTree(id, await store.list())) + open.join('')
}

/** Answers the oldest open approval of a session in its log, for the process that resumes it; without an answer, shows it. */
async function replyToApproval(store: Store, name: string, [answer, ...words]: readonly string[]): Promise<string> {
  const outcome = /^y(?:es)?$/i.test(answer ?? '') ? 'proceed-once' : /^no?$/i.test(answer ?? '') ? 'cancel' : undefined
  if (outcome === undefined && answer !== undefined)
    throw new UserError('the answer must be yes or no; words after a no go to the model')
  const log = await store.open(await findSessionId(name, store))
  try {
    const [ask, ...others] = findOpenApprovals(log)
    if (!ask) throw new UserError(`the session ${log.id} has no open approval`)
    const question = formatApprovalRequest(ask)
    if (outcome === undefined) return `${question}To answer: dragoman sessions reply ${log.id} yes|no\n`
    log.append({ kind: 'reply', ask: ask.ask, outcome, ...(words.length > 0 && { words: words.join(' ') }) })
    const more = others.length === 0 ? '' : ` Open approvals left: ${others.length}.`
    return `${question}Answered ${outcome === 'cancel' ? 'no' : 'yes'}.${more} Continue with dragoman --resume ${log.id}\n`
  } finally {
    await log.close()
  }
}

async function removeSession(store: Store, name: string | undefined): Promise<string> {
  if (name === undefined) throw new UserError('the session is missing; list them with dragoman sessions list')
  const id = await findSessionId(name, store)
  const children = listSubagentIds(id, await store.list())
  await store.remove(id)
  for (const child of children) await store.remove(child)
  return `${id} was removed.\n`
}
