import { compactHistory } from '../../../agent/history/compact.ts'
import { callHook } from '../../../agent/hooks/call-hook.ts'
import { joinTextParts } from '../../../model/text.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { formatLocalTime } from '../../output/format.ts'
import { getSessionsFolder } from '../../paths/folders.ts'
import type { AppParts } from '../app-parts.ts'
import { applyRunEvent } from '../conversation-state.ts'
import { BUSY_MESSAGE } from '../run-controller.ts'
import { offerChoices, switchSession } from '../session-actions.ts'
import type { MenuItem } from '../ui-state.ts'

/** The other sessions of this folder that are not empty, the newest first. */
export async function listOtherSessions({ folder, session }: AppParts): Promise<MenuItem[]> {
  const sessions = await jsonlStore(getSessionsFolder(folder)).list()
  return sessions
    .filter(({ id, title, subagent }) => id !== session.agent.session.id && title !== '' && !subagent)
    .toSorted((one, other) => other.changed - one.changed)
    .map(({ id: value, changed, title }) => ({
      value,
      about: `${formatLocalTime(changed)}  ${escapeForTerminal(title.replace(/\s+/g, ' '))}`,
    }))
}

export async function resumeOtherSession(app: AppParts, words: string): Promise<void> {
  if (words !== '') return switchSession(app, { resume: words })
  if ((await listOtherSessions(app)).length === 0) return app.ui.notify('There is no other session in this folder.')
  return offerChoices(app, 'resume')
}

export async function compressHistory({ ui, session: { agent }, controller }: AppParts, focus: string): Promise<void> {
  if (controller.isBusy) return ui.notify(BUSY_MESSAGE, 'warn')
  const prompt = `${agent.session.id}#compress`
  let problem: string | undefined = 'a summary would not be shorter than the conversation.'
  const { signal } = new AbortController()
  const before = await callHook(
    agent,
    'preCompact',
    { trigger: 'manual', instructions: focus },
    signal,
    () => undefined,
  )
  if (before?.block) return ui.notify(`Not summarised, because of a hook: ${before.block.reason}`, 'warn')
  for await (const event of compactHistory(agent, prompt, signal, focus)) {
    if (event.type === 'compact') problem = event.done ? undefined : (event.fault?.message ?? problem)
    ui.update((state) => ({ ...state, conversation: applyRunEvent(state.conversation, event, Date.now()) }))
  }
  // Otherwise the list of sessions would call this one unfinished.
  agent.session.append({ kind: 'close', prompt, reason: 'done' })
  if (problem !== undefined) ui.notify(`Not summarised: ${problem}`, 'warn')
}

export function copyLastAnswer({ ui, session }: AppParts): void {
  const last = session.agent.session.turns.findLast((turn) => turn.role === 'assistant')
  const text = joinTextParts(last?.parts ?? [])
  if (text === '') return ui.notify('There is no answer yet.', 'warn')
  // OSC 52: the terminal itself puts it into the clipboard, also over SSH.
  process.stdout.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`)
  ui.notify(`Copied ${text.length} characters, if your terminal allows it.`)
}
