import { createHash } from 'node:crypto'
import type { Files } from '../host/host.ts'
import type { Former } from '../host/keep.ts'
import type { Session } from '../session/session.ts'
import type { Store } from '../session/store/store.ts'
import { undoEntry, type UndoPlan, type UndoStep } from '../session/undo.ts'

/** Keeps in a session what files were, durably: the content beside the log, and in the log what became of it. */
export function keepIn(session: Session, store: Store): (former: Former) => Promise<void> {
  return async ({ path, before, after, folders }) => {
    session.append({
      kind: 'change',
      path,
      ...(before && { before: { blob: store.putBlob(before.bytes), mode: before.mode } }),
      ...(after !== undefined && { after }),
      ...(folders.length > 0 && { folders }),
    })
    await session.saved()
  }
}

/** What will happen to a file: it is written, removed, left as it is because it is so already, or left to whoever changed it. */
export type UndoAction = 'write' | 'remove' | 'nothing' | 'changed' | 'lost'

/** A file to put back, looked at. */
export interface UndoFile extends UndoStep {
  readonly action: UndoAction
}

/** Looks at the files of a plan. `lost`: what the file was cannot be read any more. */
export async function inspectUndo(plan: UndoPlan, files: Files, store: Store): Promise<UndoFile[]> {
  const found: UndoFile[] = []
  for (const step of plan.steps) found.push({ ...step, action: await actionFor(step, files, store) })
  return found
}

/**
 * Puts files back, and tells the model. The files must be those of a host that keeps what they were (see `keepingFormer`):
 * so an undo can be undone. With `force`, also those that somebody else has changed. Gives what was left as it is.
 */
export async function undo(
  plan: UndoPlan,
  files: Files,
  { session, store, force = false }: { session: Session; store: Store; force?: boolean },
): Promise<{ readonly done: readonly UndoFile[]; readonly left: readonly UndoFile[] }> {
  const since = session.entries.at(-1)?.seq ?? 0
  const done: UndoFile[] = []
  const left: UndoFile[] = []
  for (const step of plan.steps) {
    const action = await actionFor(step, files, store)
    const file = { ...step, action }
    if (action === 'nothing') continue
    if (action === 'lost' || (action === 'changed' && !force)) left.push(file)
    else {
      await putBack(step, files, store)
      done.push(file)
    }
  }
  await removeFolders(plan.steps, files)
  session.append(
    undoEntry(
      plan,
      since,
      left.map(({ path }) => path),
    ),
  )
  session.append({ kind: 'note', text: noteOf(plan, done, left) })
  await session.saved()
  return { done, left }
}

async function actionFor({ path, before, expected }: UndoStep, files: Files, store: Store): Promise<UndoAction> {
  const info = await files.info(path)
  const now = info?.kind === 'file' ? hashOf(await files.read(path)) : undefined
  if (info && info.kind !== 'file') return 'changed'
  if (now === before?.blob && (before === undefined || info?.mode === before.mode)) return 'nothing'
  if (before && store.getBlob(before.blob) === undefined) return 'lost'
  if (!expected.includes(now)) return 'changed'
  return before ? 'write' : 'remove'
}

async function putBack({ path, before }: UndoStep, files: Files, store: Store): Promise<void> {
  const bytes = before && store.getBlob(before.blob)
  if (before && bytes) await files.write(path, bytes, { mode: before.mode })
  else if (!before && (await files.info(path)) !== undefined) await files.remove(path)
}

/** Folders that were made for files go with them, the innermost first, unless there is something else in them by now. */
async function removeFolders(steps: readonly UndoStep[], files: Files): Promise<void> {
  const made = new Set(steps.flatMap(({ before, folders }) => (before ? [] : folders)))
  for (const folder of [...made].sort().reverse()) {
    const entries = await files.list(folder).catch(() => undefined)
    if (entries?.length === 0) await files.remove(folder).catch(() => undefined)
  }
}

function noteOf({ turn, redo }: UndoPlan, done: readonly UndoFile[], left: readonly UndoFile[]): string {
  const what =
    redo === undefined ? `as they were before their message number ${turn}` : 'as they were before their undo'
  const names = (list: readonly UndoFile[]): string =>
    list.length <= NAMED
      ? list.map(({ path }) => path).join(', ')
      : `${names(list.slice(0, NAMED))} and ${list.length - NAMED} more`
  const others = left.length > 0 ? ` These were left, because somebody else had changed them: ${names(left)}.` : ''
  const files = done.length === 0 ? 'no file had to be changed for it' : names(done)
  return `The person put files back ${what}: ${files}.${others} What commands did was not undone. Read a file again before you edit it.`
}

const NAMED = 30

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
