import { basename } from 'node:path'
import { sha256Hex } from '../../../host/files/sha256.ts'
import type { ApprovalDetails, DiffStat, FileDiff, ToolContext, ToolOutput } from '../../tool.ts'
import { type TextDocument, matchFormerEnding, openTextDocument, encodeTextDocument } from '../../text/text-document.ts'
import { createErrorOutput } from '../../error-output.ts'
import { toDisplayPath } from './paths.ts'

export interface EditProposal {
  readonly path: string
  readonly before: TextDocument | undefined
  readonly text: string
  readonly bytes: Uint8Array
}

export type EditRefusal = { readonly refused: ToolOutput }

export function refuseEdit(message: string, type: string): EditRefusal {
  return { refused: createErrorOutput(message, type) }
}

/** Reads a file to edit it. Refused if it is not text, or if it was changed after the model had read it. */
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

/** The new text gets the line endings, the encoding and the last line ending of the file. */
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

/** Writes a proposal; if the file has changed, `replan` makes it again. `remark` is what else the model should know. */
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

export function refuseChangedFile(path: string): EditRefusal {
  return refuseEdit(`The file was changed after you read it. Read it again, then edit it: ${path}`, 'file-changed')
}

export async function createEditApproval(
  title: string,
  proposal: EditProposal,
  context: ToolContext,
): Promise<ApprovalDetails> {
  const { folders, host, seenFiles } = context
  const { path, before, text } = proposal
  // The file must still be what the user saw when it is written.
  const real = await host.files.resolve(path)
  if (before && seenFiles.getHash(real) === undefined) seenFiles.setHash(real, before.hash)
  const { createUnifiedDiff: unifiedDiff } = await import('../../text/diff.ts')
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

/** `proposed` is what the model wanted, if the user changed it. */
export async function createFileDiff(
  { path, before, text }: EditProposal,
  context: ToolContext,
  proposed: string | undefined,
): Promise<FileDiff> {
  const { countChanges, createUnifiedDiff: unifiedDiff } = await import('../../text/diff.ts')
  const fileName = basename(path)
  const original = before?.text ?? ''
  // If the model's version is not known, all changes count as the user's.
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
