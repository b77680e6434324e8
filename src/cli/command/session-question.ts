import { renderQuestion, renderSafe } from '../../policy/terminal.ts'
import type { Entry } from '../../session/entry.ts'
import { openCalls } from '../../session/repair.ts'
import type { Opened } from '../../session/store/store.ts'
import type { AskDetails } from '../../tool/define.ts'

/** A question in a log. */
export type LoggedQuestion = Extract<Entry, { kind: 'ask' }>

/** The questions of a session that nobody has answered, the oldest first. */
export function openQuestions(log: Pick<Opened, 'entries' | 'uncertainUpTo'>): readonly LoggedQuestion[] {
  const { entries } = log
  const open = new Set(openCalls(log).flatMap(({ call, begun }) => (begun ? [] : [call.id])))
  const answered = new Set(entries.flatMap((entry) => (entry.kind === 'reply' ? [entry.ask] : [])))
  return entries.filter(
    (entry) => entry.kind === 'ask' && open.has(entry.call) && !answered.has(entry.ask),
  ) as LoggedQuestion[]
}

/** A question whole: nothing of what would happen is masked, shortened or left out. */
export function questionText({ details: logged }: LoggedQuestion): string {
  const details = logged as unknown as AskDetails
  const framed = (text: string): string => text.replace(/\n$/, '').replace(/^/gm, '│ ')
  const whole = (text: string): string => framed(renderQuestion(text, { reveal: true }).text)
  const name = (text: string): string => renderSafe(text, 'file-name')
  if (details.kind === 'exec') {
    const closed = details.isOffline ? 'It needs the network, which the sandbox closes to it.\n' : ''
    return `Run this in ${name(details.folder)}?\n${whole(details.command)}\n${closed}`
  }
  if (details.kind === 'edit')
    return `Change ${name(details.filePath)}?\n${framed(renderSafe(details.fileDiff, 'diff'))}\n`
  if (details.kind === 'plan') return `Carry out this plan?\n${whole(details.plan)}\n`
  if (details.kind === 'info')
    return `${name(details.title)}?\n${whole([details.prompt, ...(details.urls ?? [])].join('\n'))}\n`
  if (details.kind === 'sandbox') return `${name(details.title)}\n${whole(details.command)}\n`
  const { toolName, serverName, input = '', changes } = details
  const news = changes === undefined ? '' : `It has changed since you allowed it:\n${whole(changes)}\n`
  return `Call ${name(toolName)} of the server ${name(serverName)}?\n${news}${whole(input)}\n`
}
