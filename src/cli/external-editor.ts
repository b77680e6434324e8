import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { ApprovalRequest, ApprovalReply } from '../agent/calls/call-state.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { CallPart } from '../model/turn.ts'
import type { Toolbox } from '../tool/toolbox.ts'

/** Lets a person change a text in an editor of their own; gives the new text, or a sentence about what went wrong. */
export async function openInEditor(
  text: string,
  name: string,
  editorSetting: string | undefined,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const [program = 'vi', ...args] = resolveEditorCommand(editorSetting, process.env)
  const tempFolder = mkdtempSync(join(tmpdir(), 'dragoman-'))
  // The name tells the editor what language it is.
  const path = join(tempFolder, basename(name) || 'text')
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const code = await new Promise<number | string | null>((resolve) => {
      const child = spawn(program, [...args, path], { stdio: 'inherit' })
      child.on('close', resolve)
      child.on('error', ({ message }) => resolve(message))
    })
    if (code !== 0) return { problem: `The editor ${program} did not end well (${code}); nothing was taken over.` }
    return { text: readFileSync(path, 'utf8') }
  } finally {
    rmSync(tempFolder, { recursive: true, force: true })
  }
}

/**
 * The editor and its arguments, from the settings or the environment. It is started as it is, without a shell. One that opens
 * a window of its own must be told to wait, or the text would be read back before anybody has seen it.
 */
export function resolveEditorCommand(editorSetting: string | undefined, env: NodeJS.ProcessEnv): readonly string[] {
  const commandText =
    [editorSetting, env['VISUAL'], env['EDITOR']].find((one) => one !== undefined && one.trim() !== '') ?? 'vi'
  const words = [...commandText.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, other, bare]) => one ?? other ?? bare ?? '',
  )
  const wait = EDITOR_WAIT_FLAGS[basename(words[0] ?? '').replace(/\.(?:exe|cmd)$/i, '')]
  return wait === undefined || words.some((word) => wait.includes(word)) ? words : [...words, wait[0] ?? '']
}

/** How editors with windows are told to wait; the first spelling is used. */
const EDITOR_WAIT_FLAGS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['code', 'code-insiders', 'codium', 'cursor', 'windsurf', 'zed', 'subl', 'atom'].map((name) => [
      name,
      ['--wait', '-w'],
    ]),
  ),
  gvim: ['--nofork', '-f'],
  mvim: ['--nofork', '-f'],
  mate: ['--wait', '-w'],
  gedit: ['--wait', '-w'],
  kate: ['--block', '-b'],
}

/** A plan as the person changed it is approved by that. */
async function editPlan(
  { id }: ApprovalRequest,
  plan: string,
  editorSetting: string | undefined,
): Promise<ApprovalReply | { readonly problem: string }> {
  const edited = await openInEditor(plan, 'plan.md', editorSetting)
  if ('problem' in edited) return edited
  if (edited.text === plan) return { problem: 'Nothing was changed in the editor; the question stands.' }
  return { ask: id, outcome: 'modify', input: { plan: edited.text } }
}

/** Lets a person change a proposed edit before it is made; gives the answer to the question, or says why there is none. */
export async function editProposal(
  ask: ApprovalRequest,
  call: CallPart | undefined,
  toolbox: Toolbox,
  editorSetting: string | undefined,
): Promise<ApprovalReply | { readonly problem: string }> {
  const { details } = ask
  if (details.kind === 'info' && details.form) return fillForm(ask, details.form, editorSetting)
  if (details.kind === 'plan') return editPlan(ask, details.plan, editorSetting)
  const found = toolbox.find(ask.tool)
  if (details.kind !== 'edit' || !call?.input || !('tool' in found) || !found.tool.toModifiedInput)
    return { problem: 'This cannot be changed in an editor.' }
  const edited = await openInEditor(details.newContent, details.fileName, editorSetting)
  if ('problem' in edited) return edited
  // Who leaves an editor as it was has not said yes.
  if (edited.text === details.newContent) return { problem: 'Nothing was changed in the editor; the question stands.' }
  const accepted = toolbox.validateInput(found.tool, call.input, call.name)
  if ('problem' in accepted) return accepted
  const change = { original: details.originalContent, content: edited.text }
  return { ask: ask.id, outcome: 'modify', input: found.tool.toModifiedInput(accepted.input, change) }
}

/** Lets a person fill in what a server asks for. */
async function fillForm(
  ask: ApprovalRequest,
  form: JsonObject,
  editorSetting: string | undefined,
): Promise<ApprovalReply | { readonly problem: string }> {
  const edited = await openInEditor(`${JSON.stringify(form, undefined, 2)}\n`, 'answer.json', editorSetting)
  if ('problem' in edited) return edited
  try {
    const input: unknown = JSON.parse(edited.text)
    if (isObject(input)) return { ask: ask.id, outcome: 'modify', input: input as JsonObject }
  } catch {
    // Said below.
  }
  return { problem: 'This is no JSON object; nothing was answered.' }
}
