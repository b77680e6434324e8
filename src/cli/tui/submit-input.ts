import { editDistance } from '../../model/edit-distance.ts'
import type { AppParts } from './app-parts.ts'
import { applyEditorEdit } from './input/text-editor.ts'
import { OTHER_SLASH_COMMANDS } from './slash/other-agents.ts'
import { findAttachmentProblems } from './mention/attachments.ts'
import { BUSY_MESSAGE } from './run-controller.ts'
import { renderBlock } from './view/live-screen.ts'

/** Words that other programs use to leave or to show help; they are not sent to a model. */
const COMMAND_WORDS: ReadonlyMap<string, string> = new Map([
  ...['exit', 'quit', ':q', ':q!', ':wq', ':x'].map((word) => [word, '/quit'] as const),
  ...['help', '?'].map((word) => [word, '/help'] as const),
])

/** Handles a line that the user has sent: a shell command, a slash command or a message to the model. */
export async function submitInput(app: AppParts, text: string): Promise<void> {
  const { ui, userShell } = app
  app.completer.forgetArguments()
  if (userShell.isBusy) {
    ui.update((state) => ({ ...state, editor: applyEditorEdit(state.editor, { do: 'set', text }) }))
    return ui.notify('Your command is running; stop it first (Esc).', 'warn')
  }
  if (text.startsWith('!')) return runShellCommand(app, text.slice(1).trim())
  // Other agents save what follows `#` as a memory; a heading of a longer text is part of a message.
  const fact = /^#\s+(\S.*)$/.exec(text.trim())?.[1]
  if (fact !== undefined) return runSlashCommand(app, text, 'memory', `add ${fact}`)
  const command = /^\/(?<name>[\w.:-]+)(?:\s+(?<words>[^]*))?$/.exec(COMMAND_WORDS.get(text.trim()) ?? text)?.groups
  if (!command) return isMistypedCommand(app, text) ? undefined : sendMessage(app, text)
  return runSlashCommand(app, text, command['name'] ?? '', command['words']?.trim() ?? '')
}

async function runShellCommand(app: AppParts, command: string): Promise<void> {
  if (app.controller.isBusy) return app.ui.notify(BUSY_MESSAGE, 'warn')
  await app.userShell.run(app, command)
  app.status.refreshBranch()
}

/**
 * A single word that is the name of a command, or nearly, was probably meant as one. It is not sent to a model that costs money
 * before it is sent a second time. Within a conversation, single words are also replies: a second name of a command, such as
 * “continue”, and a word that differs from one by more than a letter are sent.
 */
function isMistypedCommand({ ui, commands, session }: AppParts, text: string): boolean {
  const word = text.trim()
  if (!/^[a-z-]{3,}$/.test(word) || confirmedWords.get(session) === word) return false
  const command = commands.find(word)
  const isFirst = !session.agent.session.entries.some(({ kind }) => kind === 'user')
  if (command && command.name !== word && !isFirst) return false
  const nearest = (command ? [`/${word}`] : commands.findNearest(word)).filter(
    (name) => isFirst || editDistance(`/${word}`, name, { swaps: true }) <= 1,
  )
  if (nearest.length === 0) return false
  confirmedWords.set(session, word)
  ui.update((state) => ({ ...state, editor: applyEditorEdit(state.editor, { do: 'set', text: word }) }))
  ui.notify(`Did you mean ${nearest.join(' or ')}? To send “${word}” to the model, press Enter again.`, 'warn')
  return true
}

const confirmedWords = new WeakMap<AppParts['session'], string>()

async function sendMessage({ ui, folder, controller, mentions }: AppParts, text: string): Promise<void> {
  await mentions.load(text)
  for (const problem of findAttachmentProblems(text, folder, (name) => mentions.get(name))) ui.notify(problem)
  controller.submit(text)
}

async function runSlashCommand(app: AppParts, text: string, name: string, words: string): Promise<void> {
  const { ui, commands } = app
  const command = commands.find(name)
  if (!command) {
    const equivalent = Object.hasOwn(OTHER_SLASH_COMMANDS, name) ? OTHER_SLASH_COMMANDS[name] : undefined
    if (equivalent !== undefined) return ui.notify(`There is no /${name} here: ${equivalent}`, 'warn')
    const nearest = commands.findNearest(name)
    const advice = nearest.length === 0 ? 'see /help' : `did you mean ${nearest.join(' or ')}?`
    return ui.notify(`Unknown command /${name}; ${advice}`, 'warn')
  }
  ui.print(renderBlock({ kind: 'user', text }, ui.viewOptions, 0))
  await command.run(app, words)
}
