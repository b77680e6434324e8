import { basename } from 'node:path'
import { sha256Hex } from '../../../model/sha256.ts'
import type { ApprovalDetails, DiffStat, FileDiff, ToolContext, ToolOutput } from '../../tool.ts'
import { type TextDocument, matchFormerEnding, openTextDocument, encodeTextDocument } from '../../text/text-document.ts'
import { createErrorOutput } from '../../error-output.ts'
import { toDisplayPath } from './paths.ts'

/** What a file is, and what it is to become. */
export interface EditProposal {
  readonly path: string
  readonly before: TextDocument | undefined
  readonly text: string
  readonly bytes: Uint8Array
}

/** Why there is nothing to propose: an error result. */
export type EditRefusal = { readonly refused: ToolOutput }

/** Says no to an edit. */
export function refuseEdit(message: string, type: string): EditRefusal {
  return { refused: createErrorOutput(message, type) }
}

/** Reads a file to edit it. Refused if it is no text, or if somebody changed it after the model had seen it. */
export async function openForEdit(
  path: string,
  context: ToolContext,
): Promise<{ before: TextDocument | undefined } | EditRefusal> {
  const before = await openTextDocument(context.host.files, path)
  if (before === undefined) return { before }
  if ('problem' in before) return refuseEdit(before.problem, 'not-editable')
  const seenHash = context.seenFiles.getHash(await context.host.files.resolve(path))
  if (seenHash === undefined || seenHash === before.hash) return { before }
  return refuseChangedFile(path)
}

/** Makes a proposal of a new text; its line ends, encoding and the like become those of the file. */
export async function createEditProposal(
  path: string,
  before: TextDocument | undefined,
  newText: string,
): Promise<EditProposal | EditRefusal> {
  const text = matchFormerEnding(before?.text, newText)
  const written = await encodeTextDocument(before, text)
  if ('problem' in written) return refuseEdit(`${written.problem} Nothing was changed: ${path}`, 'not-encodable')
  return { path, before, text, bytes: written.bytes }
}

/**
 * Writes a proposal, and notes that the model knows the file as it is now. If somebody changed the file after the proposal was
 * made, `again` makes it anew. Gives the proposal that was written, with what the model should know besides.
 */
export async function applyEditProposal<P extends { readonly proposal: EditProposal }>(
  planned: P,
  { host, seenFiles }: ToolContext,
  replan: () => Promise<P | EditRefusal>,
): Promise<(P & { readonly remark: string }) | EditRefusal> {
  const { path } = planned.proposal
  let last = planned
  let refusal: EditRefusal | undefined
  const others = ((await host.files.info(path))?.linkCount ?? 1) - 1
  await host.files.update(path, async (current) => {
    const hash = current && sha256Hex(current)
    const next = last.proposal.before?.hash === hash ? last : await replan()
    if ('proposal' in next) last = next
    else refusal = next
    return refusal ? undefined : last.proposal.bytes
  })
  if (refusal) return refusal
  seenFiles.setHash(await host.files.resolve(path), sha256Hex(last.proposal.bytes))
  const names =
    others === 1 ? '1 other name (hard link), which keeps' : `${others} other names (hard links), which keep`
  return { ...last, remark: others > 0 ? ` The file had ${names} the former content.` : '' }
}

/** Says that a file is not what it was when its new content was made. */
export function refuseChangedFile(path: string): EditRefusal {
  return refuseEdit(`The file was changed after you read it; read it again, then edit: ${path}`, 'file-changed')
}

/** What the person sees before they allow it. */
export async function createEditApproval(
  title: string,
  proposal: EditProposal,
  context: ToolContext,
): Promise<ApprovalDetails> {
  const { folders, host, seenFiles } = context
  const { path, before, text } = proposal
  // What the person judges is what must be there when it is written.
  const real = await host.files.resolve(path)
  if (before && seenFiles.getHash(real) === undefined) seenFiles.setHash(real, before.hash)
  const { unifiedDiff } = await import('../../text/diff.ts')
  const fileName = basename(path)
  return {
    kind: 'edit',
    title: `${title} ${toDisplayPath(path, folders)}`,
    fileName,
    filePath: path,
    fileDiff: unifiedDiff(fileName, before?.text ?? '', text),
    originalContent: before?.text ?? null,
    newContent: text,
  }
}

/** What the person sees afterwards, and the figures. `proposed` is what the model had wanted, if the person changed it. */
export async function createFileDiff(
  { path, before, text }: EditProposal,
  context: ToolContext,
  proposed: string | undefined,
): Promise<FileDiff> {
  const { countChanges, unifiedDiff } = await import('../../text/diff.ts')
  const fileName = basename(path)
  const original = before?.text ?? ''
  // A changed proposal of which the model's version is not known counts as the person's.
  const modelText = context.modified ? (proposed ?? original) : text
  const ai = countChanges(original, modelText)
  const user = countChanges(modelText, text)
  const diffStat: DiffStat = {
    ai_added_lines: ai.added,
    ai_removed_lines: ai.removed,
    user_added_lines: user.added,
    user_removed_lines: user.removed,
  }
  const originalContent = before?.text ?? null
  return { fileDiff: unifiedDiff(fileName, original, text), fileName, originalContent, newContent: text, diffStat }
}
