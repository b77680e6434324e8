import type { UndoAction, UndoFile } from '../../../agent/apply-undo.ts'
import type { Files } from '../../../host/host.ts'
import type { Store } from '../../../session/store/store.ts'
import type { UndoPlan } from '../../../session/undo-plan.ts'
import { createUnifiedDiff } from '../../../tool/text/diff.ts'

export async function formatUndoPlan(
  plan: UndoPlan,
  inspectedFiles: readonly UndoFile[],
  files: Files,
  store: Store,
): Promise<string> {
  const { promptNumber, promptText, redo, commands } = plan
  const when = redo === undefined ? `before turn ${promptNumber}` : 'before the last undo'
  const title = promptText.replace(/\s+/g, ' ').trim().slice(0, 70)
  const lines = [`Restore the state ${when}${title === '' ? '' : ` (“${title}”)`}:`, '']
  const pendingFiles = inspectedFiles.filter(({ action }) => action !== 'nothing')
  for (const [at, file] of pendingFiles.entries()) {
    lines.push(`${ACTION_LABELS[file.action]} ${file.path}`)
    if (at < MAX_DIFFS && ACTIONS_WITH_DIFF.has(file.action)) lines.push(await formatFileDiff(file, files, store))
  }
  if (pendingFiles.length === 0) lines.push('All files already have this state.')
  if (pendingFiles.some(({ action }) => action === 'changed'))
    lines.push('', 'Files that were changed by others since are skipped; --force restores them too.')
  if (commands.length > 0) lines.push('', ...commandLines(commands))
  return `${lines.join('\n')}\n`
}

/** The files only, by their names in the folder. */
export function formatUndoFiles({ commands }: UndoPlan, inspectedFiles: readonly UndoFile[], folder: string): string {
  const lines = inspectedFiles
    .filter(({ action }) => action !== 'nothing')
    .map(
      ({ action, path }) =>
        `${ACTION_LABELS[action]} ${path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path}`,
    )
  if (lines.length === 0) lines.push('All files already have this state.')
  return `${[...lines, ...(commands.length > 0 ? commandLines(commands) : [])].join('\n')}\n`
}

const ACTION_LABELS: Readonly<Record<UndoAction, string>> = {
  write: 'restore',
  remove: 'remove ',
  nothing: 'unchanged',
  changed: 'changed since, skipped:',
  lost: 'old content missing, skipped:',
}

const ACTIONS_WITH_DIFF: ReadonlySet<UndoAction> = new Set(['write', 'remove', 'changed'])
const MAX_DIFFS = 20
const MAX_DIFF_LINES = 60

async function formatFileDiff({ path, before }: UndoFile, files: Files, store: Store): Promise<string> {
  const currentBytes = (await files.info(path)) ? await files.read(path) : new Uint8Array()
  const previousBytes = (before && (await store.getBlob(before.blob))) ?? new Uint8Array()
  if (isBinary(currentBytes) || isBinary(previousBytes))
    return `  ${currentBytes.length} bytes now, ${previousBytes.length} bytes then; not text`
  const [current, previous] = [currentBytes, previousBytes].map((bytes) => Buffer.from(bytes).toString('utf8'))
  const lines = createUnifiedDiff(path, current ?? '', previous ?? '').split('\n')
  return lines.length <= MAX_DIFF_LINES
    ? lines.join('\n')
    : [...lines.slice(0, MAX_DIFF_LINES), `  … ${lines.length - MAX_DIFF_LINES} more lines`].join('\n')
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.length > 200_000 || bytes.subarray(0, 8000).includes(0)
}

/** If there is nothing to undo, the user may have meant changes by commands. */
export function formatNothingToUndo(commands: readonly string[]): string {
  const more = commands.length === 0 ? [] : commandLines(commands)
  return `${['No file was changed since then.', ...more].join('\n')}\n`
}

function commandLines(commands: readonly string[]): string[] {
  const shown = commands.slice(-10).map((command) => `  ${command.replace(/\s+/g, ' ').slice(0, 100)}`)
  const more = commands.length > 10 ? [`  … ${commands.length - 10} more`] : []
  return ['These commands ran since then; what they changed is not known and not undone:', ...more, ...shown]
}
