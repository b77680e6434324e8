import type { ApprovalMode } from '../../policy/policy.ts'
import { findLastModel } from '../setup/resumed-model.ts'
import { UserError } from '../user-error.ts'
import type { SessionTarget } from './active-session.ts'
import type { AppParts } from './app-parts.ts'
import { applyEditorEdit } from './input/text-editor.ts'
import { BUSY_MESSAGE } from './run-controller.ts'
import { isEmptySession, removeEmptySession } from '../session-end.ts'
import { renderSessionHistory } from './session-history.ts'
import { styledLine } from './term/styled-line.ts'

const NOT_SAVED_MESSAGE = 'Not possible with --no-session: this session is not saved.'

/** Switches to another model from the next request on; returns the problem if that is not possible. */
export async function setModel({ session, status }: AppParts, name: string): Promise<string | undefined> {
  try {
    await session.setModel(name)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return error.message
  }
  status.refresh()
  return undefined
}

export function setMode({ session, status }: AppParts, mode: ApprovalMode): void {
  session.agent.mode?.set(mode)
  status.refresh()
}

/** Closes the session while another process works on it. */
export async function withSessionClosed(
  { args, ui, controller, session }: AppParts,
  use: (id: string) => Promise<void>,
): Promise<void> {
  if (args.noSession) return ui.notify(NOT_SAVED_MESSAGE, 'warn')
  if (controller.isBusy) return ui.notify(BUSY_MESSAGE, 'warn')
  const { id } = session.agent.session
  await session.suspend()
  try {
    await use(id)
  } finally {
    await session.open({ resume: id })
  }
}

/** Leaves the current session for another; if that cannot be opened, the current one is opened again. */
export async function switchSession(parts: AppParts, target: SessionTarget): Promise<void> {
  const { args, ui, controller, session, status, folder } = parts
  const isExisting = (target.resume ?? target.fork) !== undefined
  if (args.noSession && isExisting) return ui.notify(NOT_SAVED_MESSAGE, 'warn')
  if (controller.isBusy) return ui.notify(BUSY_MESSAGE, 'warn')
  const previous = session.agent.session
  try {
    await session.suspend()
    await session.open(target)
    const wasEmpty = isEmptySession(previous)
    const current = session.agent.session
    if (previous.id !== current.id && !args.noSession) await removeEmptySession(previous, folder)
    const description = describeOpenedSession(target, current.id, wasEmpty)
    if (target.fork === undefined) ui.notify(description)
    ui.print(renderSessionHistory(current.entries, ui.viewOptions))
    // The history may fill the screen: what a fork did, and a change of the model, are told below it.
    if (target.fork !== undefined) ui.notify(description)
    if (target.resume !== undefined) await useSessionModel(parts)
    status.reset()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    ui.notify(error.message, 'bad')
    await session.open({ resume: previous.id })
  }
}

function describeOpenedSession({ resume, fork }: SessionTarget, id: string, wasEmpty: boolean): string {
  if (fork !== undefined) {
    const original = fork.replace(/@\d+$/, '')
    return `Forked from ${original} into ${id}. The original is unchanged: /resume ${original}`
  }
  if (resume !== undefined) return `Session ${id}.`
  return wasEmpty ? 'New session.' : 'New session; the previous one is saved: /resume'
}

/** A session continues with the model that it used, if that is available here. */
async function useSessionModel(parts: AppParts): Promise<void> {
  const { ui, session } = parts
  const sessionModel = findLastModel(session.agent.session.entries)
  const { provider, model } = session.agent.model.origin
  if (sessionModel === undefined || sessionModel === `${provider}/${model}`) return
  const problem = await setModel(parts, sessionModel)
  if (problem === undefined) return ui.notify(`Continuing with the model of this session, ${sessionModel}.`)
  ui.notify(
    `This session used ${sessionModel}, which is not available: ${problem} Continuing with ${provider}/${model}.`,
    'warn',
  )
}

/** Puts a command into the input and shows its choices; a plain front end, which has no list, prints them. */
export async function offerChoices(app: AppParts, name: string, words = ''): Promise<void> {
  const { ui, commands, completer } = app
  const text = `/${name} ${words}`
  if (ui.isPlain) {
    const choices = (await commands.find(name)?.choices?.(app)) ?? []
    return ui.print(choices.map(({ value, about = '' }) => styledLine(`/${name} ${value}  ${about}`)))
  }
  completer.forgetArguments()
  ui.update((state) => ({ ...state, editor: applyEditorEdit(state.editor, { do: 'set', text }) }))
  completer.update()
}
