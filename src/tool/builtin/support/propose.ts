import { basename } from 'node:path'
import type { AskDetails, DiffStat, FileDiff, ToolContext, ToolOutput } from '../../define.ts'
import { type Document, hashOf, likeBefore, openDocument, writeDocument } from '../../text/document.ts'
import { failure } from './builtin.ts'
import { shown } from './paths.ts'

/** What a file is, and what it is to become. */
export interface Proposal {
  readonly path: string
  readonly before: Document | undefined
  readonly text: string
  readonly bytes: Uint8Array
}

/** Why there is nothing to propose: an error result. */
export type Refusal = { readonly refused: ToolOutput }

/** Says no to an edit. */
export function refuse(message: string, type: string): Refusal {
  return { refused: failure(message, type) }
}

/** Reads a file to edit it. Refused if it is no text, or if somebody changed it after the model had seen it. */
export async function openForEdit(
  path: string,
  context: ToolContext,
): Promise<{ before: Document | undefined } | Refusal> {
  const before = await openDocument(context.host.files, path)
  if (before === undefined) return { before }
  if ('problem' in before) return refuse(before.problem, 'not-editable')
  const known = context.seen.known(await context.host.files.resolve(path))
  if (known === undefined || known === before.hash) return { before }
  return refuseChanged(path)
}

/** Makes a proposal of a new text; its line ends, encoding and the like become those of the file. */
export async function propose(path: string, before: Document | undefined, fresh: string): Promise<Proposal | Refusal> {
  const text = likeBefore(before?.text, fresh)
  const written = await writeDocument(before, text)
  if ('problem' in written) return refuse(`${written.problem} Nothing was changed: ${path}`, 'not-encodable')
  return { path, before, text, bytes: written.bytes }
}

/**
 * Writes a proposal, and notes that the model knows the file as it is now. If somebody changed the file after the proposal was
 * made, `again` makes it anew. Gives the proposal that was written, with what the model should know besides.
 */
export async function apply<P extends { readonly proposal: Proposal }>(
  planned: P,
  { host, seen }: ToolContext,
  again: () => Promise<P | Refusal>,
): Promise<(P & { readonly remark: string }) | Refusal> {
  const { path } = planned.proposal
  let last = planned
  let refusal: Refusal | undefined
  const others = ((await host.files.info(path))?.names ?? 1) - 1
  await host.files.update(path, async (current) => {
    const hash = current && hashOf(current)
    const next = last.proposal.before?.hash === hash ? last : await again()
    if ('proposal' in next) last = next
    else refusal = next
    return refusal ? undefined : last.proposal.bytes
  })
  if (refusal) return refusal
  seen.note(await host.files.resolve(path), hashOf(last.proposal.bytes))
  const names =
    others === 1 ? '1 other name (hard link), which keeps' : `${others} other names (hard links), which keep`
  return { ...last, remark: others > 0 ? ` The file had ${names} the former content.` : '' }
}

/** Says that a file is not what it was when its new content was made. */
export function refuseChanged(path: string): Refusal {
  return refuse(`The file was changed after you read it; read it again, then edit: ${path}`, 'file-changed')
}

/** What the person sees before they allow it. */
export async function askAbout(title: string, proposal: Proposal, context: ToolContext): Promise<AskDetails> {
  const { folders, host, seen } = context
  const { path, before, text } = proposal
  // What the person judges is what must be there when it is written.
  const real = await host.files.resolve(path)
  if (before && seen.known(real) === undefined) seen.note(real, before.hash)
  const { unifiedDiff } = await import('../../text/diff.ts')
  const fileName = basename(path)
  return {
    kind: 'edit',
    title: `${title} ${shown(path, folders)}`,
    fileName,
    filePath: path,
    fileDiff: unifiedDiff(fileName, before?.text ?? '', text),
    originalContent: before?.text ?? null,
    newContent: text,
  }
}

/** What the person sees afterwards, and the figures. `proposed` is what the model had wanted, if the person changed it. */
export async function fileDiff(
  { path, before, text }: Proposal,
  context: ToolContext,
  proposed: string | undefined,
): Promise<FileDiff> {
  const { countChanges, unifiedDiff } = await import('../../text/diff.ts')
  const fileName = basename(path)
  const original = before?.text ?? ''
  // A changed proposal of which the model's version is not known counts as the person's.
  const models = context.modified ? (proposed ?? original) : text
  const ai = countChanges(original, models)
  const user = countChanges(models, text)
  const diffStat: DiffStat = {
    ai_added_lines: ai.added,
    ai_removed_lines: ai.removed,
    user_added_lines: user.added,
    user_removed_lines: user.removed,
  }
  const originalContent = before?.text ?? null
  return { fileDiff: unifiedDiff(fileName, original, text), fileName, originalContent, newContent: text, diffStat }
}

/** The figures of a change, for the statistics. */
export function factsOf({ diffStat }: FileDiff): Record<string, number> {
  return { ...diffStat }
}
