import { joinTextParts } from '../model/text.ts'
import type { Entry, EntryBody, FileSnapshot } from './log/entry.ts'
import { defined } from '../model/defined.ts'

/** How to restore files to an earlier state. */
export interface UndoPlan {
  /** The number of the user message that led to the first of these changes. */
  readonly promptNumber: number
  readonly promptText: string
  readonly steps: readonly UndoStep[]
  /** Commands that ran since then and whose changes were not recorded: they are not undone. */
  readonly commands: readonly string[]
  /** The first entry that is undone. */
  readonly back: number
  /** The undo entry that this plan reverts. */
  readonly redo?: number
}

export interface UndoStep {
  readonly path: string
  /** Absent if the file did not exist. */
  readonly before?: FileSnapshot
  /** Hashes of the expected current content, `undefined` for a missing file. With any other, somebody else changed the file. */
  readonly expected: readonly (string | undefined)[]
  /** Folders that were created for it, the outermost first. */
  readonly folders: readonly string[]
}

/** Plans an undo to before a turn; by default, to before the last turn that changed files. */
export function createUndoPlan(entries: readonly Entry[], turn?: number): UndoPlan | undefined {
  const { changes, isUndone, promptTexts, commands } = readChanges(entries)
  const activeChanges = changes.filter(({ entry }) => !isUndone(entry))
  const from = turn ?? activeChanges.at(-1)?.promptNumber
  const selectedChanges = activeChanges.filter((change) => from !== undefined && change.promptNumber >= from)
  const [first] = selectedChanges
  if (!first || from === undefined) return undefined
  return {
    promptNumber: first.promptNumber,
    promptText: promptTexts[first.promptNumber] ?? '',
    steps: createUndoSteps(selectedChanges, changes),
    commands: commands.flatMap(({ turn: at, text, isRecorded }) => (at >= from && !isRecorded ? [text] : [])),
    back: first.entry.seq,
  }
}

/** The commands that ran since a turn, by default since the start, and whose changes were not recorded. */
export function listUnrecordedCommands(entries: readonly Entry[], turn = 0): string[] {
  return readChanges(entries).commands.flatMap(({ turn: at, text, isRecorded }) =>
    at >= turn && !isRecorded ? [text] : [],
  )
}

/** Plans to revert the last undo, if nothing was changed since. */
export function createRedoPlan(entries: readonly Entry[]): UndoPlan | undefined {
  const { changes, undoEntries, isUndone, promptTexts } = readChanges(entries)
  const last = undoEntries.findLast(
    (undoRecord) => undoRecord.redo === undefined && !undoEntries.some(({ redo }) => redo === undoRecord.seq),
  )
  if (!last || changes.some(({ entry }) => entry.seq > last.seq && !isUndone(entry))) return undefined
  const selectedChanges = changes.filter(({ entry }) => entry.seq > last.since && entry.seq < last.seq)
  const [first] = changes.filter(({ entry }) => entry.seq >= last.back)
  const turn = first?.promptNumber ?? 0
  return {
    promptNumber: turn,
    promptText: promptTexts[turn] ?? '',
    steps: createUndoSteps(selectedChanges, changes),
    commands: [],
    back: selectedChanges[0]?.entry.seq ?? last.seq,
    redo: last.seq,
  }
}

/** The log entry of an undo. `since`: the last entry before it. `left`: the files that were not restored. */
export function createUndoEntry({ back, redo }: UndoPlan, since: number, left: readonly string[]): EntryBody {
  return { kind: 'undo', back, since, ...defined({ redo }), ...(left.length > 0 && { left }) }
}

interface LoggedChange {
  readonly entry: Entry & { kind: 'change' }
  readonly promptNumber: number
}

function readChanges(entries: readonly Entry[]) {
  const changes: LoggedChange[] = []
  const promptTexts: string[] = ['']
  const recorded = new Set<string>()
  for (const entry of entries)
    if (entry.kind === 'result' && entry.facts?.['changesRecorded'] === true) recorded.add(entry.result.id)
  const commands: { readonly turn: number; readonly text: string; readonly isRecorded: boolean }[] = []
  for (const entry of entries) {
    const turn = promptTexts.length - 1
    if (entry.kind === 'user') promptTexts.push(joinTextParts(entry.parts))
    else if (entry.kind === 'change') changes.push({ entry, promptNumber: turn })
    else if (entry.kind === 'intent' && typeof entry.input['command'] === 'string')
      commands.push({ turn, text: entry.input['command'], isRecorded: recorded.has(entry.call) })
  }
  const undoEntries = entries.filter((entry) => entry.kind === 'undo')
  const redone = new Set(undoEntries.flatMap(({ redo }) => redo ?? []))
  const isUndone = ({ seq, path }: LoggedChange['entry']): boolean =>
    undoEntries.some((undoRecord) => {
      if (seq > undoRecord.seq) return false
      // Changes made by the undo itself do not count; changes that it reverted count again after a redo.
      if (seq > undoRecord.since) return true
      const holds = undoRecord.redo === undefined && !redone.has(undoRecord.seq)
      return holds && seq >= undoRecord.back && !undoRecord.left?.includes(path)
    })
  return { changes, undoEntries, isUndone, promptTexts, commands }
}

interface ChangedFile {
  /** Of the selected changes. */
  first?: LoggedChange['entry']
  /** Of all. */
  last: LoggedChange['entry']
  folders: readonly string[]
}

/**
 * The first selected change of a file has its previous content, and the last change its expected current content. The selected changes
 * are some of all, in the same order.
 */
function createUndoSteps(selectedChanges: readonly LoggedChange[], all: readonly LoggedChange[]): UndoStep[] {
  const byPath = new Map<string, ChangedFile>()
  const changed: ChangedFile[] = []
  let next = 0
  for (const change of all) {
    const { entry } = change
    const { path, folders = [] } = entry
    let file = byPath.get(path)
    if (file) file.last = entry
    else byPath.set(path, (file = { last: entry, folders: [] }))
    if (change !== selectedChanges[next]) continue
    next++
    if (!file.first) changed.push(file)
    file.first ??= entry
    if (folders.length > 0) file.folders = [...file.folders, ...folders]
  }
  return changed.map(({ first, last, folders }) => ({
    path: last.path,
    ...defined({ before: first?.before }),
    // A crash may have happened between recording the change and writing the file.
    expected: [last.after, last.before?.blob],
    folders,
  }))
}
