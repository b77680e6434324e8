import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { ApprovalRequest, ApprovalReply } from '../agent/calls/call-state.ts'
import { isObject, type JsonObject, tryParseJson } from '../model/json.ts'
import type { CallPart } from '../model/turn.ts'
import type { Toolbox } from '../tool/toolbox.ts'

type EditResult = { readonly text: string } | { readonly problem: string }

export async function openInEditor(text: string, name: string, editorSetting: string | undefined): Promise<EditResult> {
  const [program = 'vi', ...args] = resolveEditorCommand(editorSetting, process.env)
  const tempFolder = mkdtempSync(join(tmpdir(), 'dragoman-'))
  // The name tells the editor the language.
  const path = join(tempFolder, basename(name) || 'text')
  try {
    writeFileSync(path, text, { mode: 0o600 })
    const code = await new Promise<number | string | null>((resolve) => {
      const child = spawn(program, [...args, path], { stdio: 'inherit' })
      child.on('close', resolve)
      child.on('error', ({ message }) => resolve(message))
    })
    if (code !== 0) return { problem: `The editor ${program} failed (${code}); nothing was changed.` }
    return { text: readFileSync(path, 'utf8') }
  } finally {
    rmSync(tempFolder, { recursive: true, force: true })
  }
}

/**
 * The editor and its arguments, from the settings or the environment, without a shell. An editor with windows needs a flag
 * to wait, or the text would be read back before the user has seen it.
 */
export function resolveEditorCommand(editorSetting: string | undefined, env: NodeJS.ProcessEnv): readonly string[] {
  const commandText =
    [editorSetting, env['VISUAL'], env['EDITOR']].find((one) => one !== undefined && one.trim() !== '') ?? 'vi'
  const words = [...commandText.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, other, bare]) => one ?? other ?? bare ?? '',
  )
  const program = basename(words[0] ?? '').replace(/\.(?:exe|cmd)$/i, '')
  const wait = EDITOR_WAIT_FLAGS.find(([editors]) => editors.test(program))?.[1]
  return wait === undefined || words.some((word) => wait.includes(word)) ? words : [...words, wait[0] ?? '']
}

/** The flags with which editors wait; the first spelling is used. */
const EDITOR_WAIT_FLAGS: readonly (readonly [editors: RegExp, flags: readonly string[]])[] = [
  [/^(?:code|code-insiders|codium|cursor|windsurf|zed|subl|atom|mate|gedit)$/, ['--wait', '-w']],
  [/^[gm]vim$/, ['--nofork', '-f']],
  [/^kate$/, ['--block', '-b']],
]

/** Lets the user change a proposal before it is carried out; an unchanged text is not an approval. */
export async function editProposal(
  ask: ApprovalRequest,
  call: CallPart | undefined,
  toolbox: Toolbox,
  editorSetting: string | undefined,
): Promise<ApprovalReply | { readonly problem: string }> {
  const { details } = ask
  const edit = async (text: string, name: string): Promise<EditResult> => {
    const edited = await openInEditor(text, name, editorSetting)
    const isUnchanged = 'text' in edited && edited.text === text
    return isUnchanged ? { problem: 'Nothing was changed; the approval is still open.' } : edited
  }
  if (details.kind === 'info' && details.form) return fillForm(ask, details.form, editorSetting)
  if (details.kind === 'plan') {
    const edited = await edit(details.plan, 'plan.md')
    return 'problem' in edited ? edited : { ask: ask.id, outcome: 'modify', input: { plan: edited.text } }
  }
  const found = toolbox.find(ask.tool)
  if (details.kind !== 'edit' || !call?.input || !('tool' in found) || !found.tool.toModifiedInput)
    return { problem: 'This cannot be edited.' }
  const edited = await edit(details.newContent, details.fileName)
  if ('problem' in edited) return edited
  const accepted = toolbox.validateInput(found.tool, call.input, call.name)
  if ('problem' in accepted) return accepted
  const change = { original: details.originalContent, content: edited.text }
  return { ask: ask.id, outcome: 'modify', input: found.tool.toModifiedInput(accepted.input, change) }
}

async function fillForm(
  ask: ApprovalRequest,
  form: JsonObject,
  editorSetting: string | undefined,
): Promise<ApprovalReply | { readonly problem: string }> {
  const edited = await openInEditor(`${JSON.stringify(form, undefined, 2)}\n`, 'answer.json', editorSetting)
  if ('problem' in edited) return edited
  const input = tryParseJson(edited.text)
  if (isObject(input)) return { ask: ask.id, outcome: 'modify', input: input as JsonObject }
  return { problem: 'The text is not a JSON object; no answer was sent.' }
}
