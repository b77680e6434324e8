import { joinTextParts } from '../../../model/text.ts'
import { createUndoPlan, listUnrecordedCommands } from '../../../session/undo-plan.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { ActiveSession } from '../active-session.ts'
import type { AppParts } from '../app-parts.ts'
import { applyEditorEdit } from '../input/text-editor.ts'
import { BUSY_MESSAGE } from '../run-controller.ts'
import { offerChoices, switchSession, withSessionClosed } from '../session-actions.ts'
import type { MenuItem } from '../ui-state.ts'
import { toRootRelativePath } from '../view/display-path.ts'
import { runCliSubcommand } from './run-cli.ts'

/** What goes back to its state before a message. */
const TARGETS = ['both', 'conversation', 'files'] as const

type RewindTarget = (typeof TARGETS)[number]

/** `/rewind`: goes back to before a message, in the conversation, in the files, or in both. */
export async function rewindSession(app: AppParts, words: string): Promise<void> {
  const { ui, controller } = app
  if (controller.isBusy) return ui.notify(BUSY_MESSAGE, 'warn')
  const [number, word] = words.split(/\s+/)
  const prompts = listPrompts(app)
  if (prompts.length === 0) return ui.notify('There is no message to go back to yet.')
  if (number === undefined || number === '') return offerChoices(app, 'rewind')
  const prompt = prompts.find((one) => one.number === Number(number))
  if (!prompt) return ui.notify(`There is no message ${number}; the messages are 1 to ${prompts.length}.`, 'warn')
  if (word === undefined || word === '') return offerChoices(app, 'rewind', `${number} `)
  const target = TARGETS.find((one) => one === word)
  if (!target) return ui.notify(`Use /rewind ${number} with ${TARGETS.join(', ')}.`, 'warn')
  await rewindTo(app, prompt, target)
}

async function rewindTo(app: AppParts, { number, text }: SessionPrompt, target: RewindTarget): Promise<void> {
  const { ui, session } = app
  const original = session.agent.session.id
  if (target !== 'conversation') await restoreFiles(app, [String(number)])
  if (target !== 'files') {
    await switchSession(app, { fork: `${original}@${number}` })
    if (session.agent.session.id === original) return
    // The message can be changed and sent again.
    ui.update((state) => ({ ...state, editor: applyEditorEdit(state.editor, { do: 'set', text }) }))
  }
  lastRewinds.set(session, { original, target })
  ui.notify('To reverse this: /redo')
}

/** `/redo`: reverses the last rewind; without one, the last undo of this session. */
export async function redoRewind(app: AppParts): Promise<void> {
  const { session, controller, ui } = app
  if (controller.isBusy) return ui.notify(BUSY_MESSAGE, 'warn')
  const last = lastRewinds.get(session)
  lastRewinds.delete(session)
  if (last && last.target !== 'files') await switchSession(app, { resume: last.original })
  if (last?.target !== 'conversation') await restoreFiles(app, ['--redo'])
}

/** Files that somebody else changed since stay as they are, and are named. */
function restoreFiles(app: AppParts, args: readonly string[]): Promise<void> {
  return withSessionClosed(app, (id) => runCliSubcommand(app, ['undo', ...args, '--session', id, '--yes', '--brief']))
}

const lastRewinds = new WeakMap<ActiveSession, { readonly original: string; readonly target: RewindTarget }>()

interface SessionPrompt {
  /** Counted from 1. */
  readonly number: number
  readonly text: string
}

function listPrompts({ session }: Pick<AppParts, 'session'>): SessionPrompt[] {
  return session.agent.session.entries
    .filter((entry) => entry.kind === 'user')
    .map(({ own, parts }, at) => ({ number: at + 1, text: own ?? joinTextParts(parts.slice(0, 1)) }))
}

/** The messages, the last one first; after one was chosen, what can go back. */
export function listRewindChoices(app: AppParts): MenuItem[] {
  const chosen = /^\/\w+ (\d+) /.exec(app.ui.state.editor.text)?.[1]
  if (chosen !== undefined) return listTargets(app, Number(chosen))
  return listPrompts(app)
    .map(({ number, text }) => ({ value: String(number), about: formatPrompt(app, number, text) }))
    .reverse()
}

function formatPrompt({ session }: AppParts, number: number, text: string): string {
  const files = createUndoPlan(session.agent.session.entries, number)?.steps.length ?? 0
  const changes = files === 0 ? '' : `  (${files === 1 ? '1 file' : `${files} files`} changed since)`
  const words = text.replaceAll(/\s+/g, ' ').trim()
  return escapeForTerminal(`${words.length > 60 ? `${words.slice(0, 59)}…` : words}${changes}`)
}

function listTargets({ session, folder }: AppParts, number: number): MenuItem[] {
  const { entries } = session.agent.session
  const plan = createUndoPlan(entries, number)
  const names = (plan?.steps ?? []).map(({ path }) => toRootRelativePath(folder, path))
  const shown = names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ')
  const unrecorded = listUnrecordedCommands(entries, number).length
  const caution = unrecorded > 0 ? '; not what commands changed' : ''
  const conversation = { value: `${number} conversation`, about: 'only the conversation; files stay as they are' }
  if (names.length === 0) return [conversation]
  const files = escapeForTerminal(`${shown}${caution}`)
  return [
    { value: `${number} both`, about: `the conversation and the files ${files}` },
    conversation,
    { value: `${number} files`, about: `only the files ${files}` },
  ]
}
