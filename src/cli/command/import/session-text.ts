import { FOREIGN_AGENTS, type ForeignSession, type ImportFindingKind } from '../../../session/import/foreign-session.ts'
import type { SessionImport } from '../../../session/import/write-session.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { formatLocalTime } from '../../output/format.ts'
import { abbreviateHome } from '../../paths/folders.ts'
import type { FoundSession } from './session-files.ts'

/** Two lines for each: time, agent and id; and the title, with the folder if it is another one. */
export function formatFoundSessions(found: readonly FoundSession[]): string {
  if (found.length === 0)
    return 'No sessions of other agents were found for this folder; --all shows those of others.\n'
  return found
    .map((session) => {
      const { agent, id, path, changed, folder, isOfFolder, title } = session
      const head = [formatLocalTime(changed), FOREIGN_AGENTS[agent].padEnd(11), id ?? abbreviateHome(path)].join('  ')
      const place = isOfFolder || folder === undefined ? '' : `${abbreviateHome(folder)}: `
      return `${escapeForTerminal(head)}\n  ${escapeForTerminal(clip(place + title, 78))}\n`
    })
    .join('')
}

/** For the list in the terminal. */
export function toListItem({ agent, changed, folder, isOfFolder, title }: FoundSession) {
  const place = isOfFolder || folder === undefined ? '' : ` (${abbreviateHome(folder)})`
  const label = `${formatLocalTime(changed)}  ${FOREIGN_AGENTS[agent]}`
  return { label, about: escapeForTerminal(clip(title, 60) + place) }
}

interface ImportReport {
  readonly id: string
  readonly session: ForeignSession
  readonly report: SessionImport
  readonly folder: string
  /** The command that continues it. */
  readonly resume: string
}

export function formatImport({ id, session, report, folder, resume }: ImportReport): string {
  const { prompts, answers, calls, findings } = report
  const counts = [count(prompts, 'message'), count(answers, 'answer'), count(calls, 'tool call')].join(', ')
  const lines = [`Imported from ${FOREIGN_AGENTS[session.agent]} as session ${id}: ${counts}.`]
  for (const finding of findings) lines.push(`  ${FINDING_TEXTS[finding.kind](finding.count)}`)
  if (session.folder !== undefined && session.folder !== folder)
    lines.push(`It was made in ${abbreviateHome(session.folder)} and continues in ${abbreviateHome(folder)}.`)
  lines.push('To continue, with any model (-m provider/model):', `  ${resume}`)
  return lines.map((line) => `${escapeForTerminal(line)}\n`).join('')
}

/** What was repaired or left out. */
const FINDING_TEXTS: Readonly<Record<ImportFindingKind, (count: number) => string>> = {
  'unreadable-line': (n) => `Left out: ${count(n, 'record')} that cannot be read, such as the end of a torn file.`,
  'missing-link': (n) =>
    `Repaired: ${count(n, 'message')} whose predecessor is missing; the one before it in the file was taken.`,
  'unanswered-call': (n) =>
    `Repaired: ${count(n, 'call')} without a result; the model is told that it was interrupted.`,
  'repeated-call-id': (n) => `Repaired: ${count(n, 'call')} with an id that another call has.`,
  'repeated-call': (n) => `Left out: ${count(n, 'call')} that was stored twice.`,
  'result-without-call': (n) => `Repaired: ${count(n, 'result')} without a call; the model gets it as a note.`,
  'repeated-result': (n) => `Left out: ${count(n, 'second result')} of a call.`,
  'misplaced-result': (n) => `Repaired: ${count(n, 'result')} that did not follow its call.`,
  'unnamed-call': (n) => `Repaired: ${count(n, 'call')} without the name of a tool.`,
  'agent-message': (n) =>
    `Left out: ${count(n, 'message')} of the agent itself (its instructions, environment, errors).`,
  'other-branch': (n) => `Left out: ${count(n, 'message')} on branches that were left.`,
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}
