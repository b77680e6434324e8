import type { JsonObject } from '../../../model/json.ts'
import type { Tool, ToolContext } from '../../tool.ts'
import { findOmissionPlaceholder } from '../../edit/omission-placeholder.ts'
import type { EditCorrector } from '../../edit/correct-edit.ts'
import { matchFormerEnding } from '../../text/text-document.ts'
import { getTextArgument } from './read-arguments.ts'
import { toAbsolutePath } from './paths.ts'
import type { EditProposal, EditRefusal } from './edit-proposal.ts'
import {
  applyEditProposal,
  createEditApproval,
  createEditProposal,
  createFileDiff,
  openForEdit,
  refuseEdit,
} from './edit-proposal.ts'
import { defined } from '../../../model/defined.ts'

/** Names that rules of other agents have for tools that edit a file; they mean both of ours. */
export const EDIT_RULE_ALIASES = [
  ...'Edit MultiEdit EditTool edit multiedit edit_file apply_patch apply_diff replace_in_file'.split(' '),
  ...'replace_string_in_file search_replace str_replace_editor str_replace_based_edit_tool'.split(' '),
]

export interface TextChange {
  readonly text: string
  readonly count: number
  readonly note?: string
}

/** Makes a change in a text with LF line endings, or says why not. */
export type TextChanger = (
  current: string,
  input: JsonObject,
  path: string,
  context: ToolContext,
) => TextChange | EditRefusal | Promise<TextChange | EditRefusal>

/** The handlers that edit tools share. With `correct`, a model corrects an edit that does not match, once. */
export function createEditHandlers(
  attempt: TextChanger,
  correct?: EditCorrector,
): Pick<Tool, 'run'> & Required<Pick<Tool, 'preview' | 'toModifiedInput'>> {
  const change = correct ? withCorrection(attempt, correct) : attempt
  return {
    async preview(input, context) {
      const planned = await planEdit(change, input, context)
      if ('refused' in planned) throw new Error(planned.refused.error?.message)
      return createEditApproval(planned.proposal.before === undefined ? 'Create' : 'Edit', planned.proposal, context)
    },

    // The user edited the whole file, so the whole file is replaced.
    toModifiedInput(input, { original, content }) {
      const { expected_replacements: _once, allow_multiple: _all, ...rest } = input
      return { ...rest, old_string: original ?? '', new_string: content }
    },

    async run(input, context) {
      const first = await planEdit(change, input, context)
      if ('refused' in first) return first.refused
      // No model corrects an edit while other writers wait for the file.
      const planned = await applyEditProposal(first, context, () => planEdit(attempt, input, context))
      if ('refused' in planned) return planned.refused
      const { proposal, count, note, remark } = planned
      const display = await createFileDiff(proposal, context, await computeModelVersion(change, proposal, context))
      const { path, before } = proposal
      const done =
        before === undefined
          ? `Successfully created and wrote to new file: ${path}.`
          : `Successfully modified file: ${path} (${count} replacements).${remark}`
      const modified = context.modified && `The user changed new_string to:\n${getTextArgument(input, 'new_string')}`
      return { content: [done, note, modified].filter(Boolean).join(' '), display, facts: { ...display.diffStat } }
    },
  }
}

type PlannedEdit = { readonly proposal: EditProposal; readonly count: number; readonly note?: string }

async function planEdit(
  change: TextChanger,
  input: JsonObject,
  context: ToolContext,
): Promise<PlannedEdit | EditRefusal> {
  const path = toAbsolutePath(getTextArgument(input, 'file_path'), context.folders)
  const [old, replacement] = [getTextArgument(input, 'old_string'), getTextArgument(input, 'new_string')]
  const opened = await openForEdit(path, context)
  if ('refused' in opened) return opened
  const { before } = opened
  const placeholder = findOmissionPlaceholder(replacement, `${old}\n${before?.text ?? ''}`)
  if (placeholder !== undefined)
    return refuseEdit(`new_string omits code ("${placeholder}"). Write it completely.`, 'placeholder')

  if (old === '') {
    const message = `The file already exists, so old_string must not be empty: ${path}`
    if (before !== undefined && before.text !== '') return refuseEdit(message, 'attempt-to-create-existing-file')
    const proposal = await createEditProposal(path, before, replacement)
    return 'refused' in proposal ? proposal : { proposal, count: 1 }
  }
  if (before === undefined) {
    return refuseEdit(`File not found: ${path}. To create it, use an empty old_string.`, 'file-not-found')
  }
  if (old === replacement)
    return refuseEdit(`old_string and new_string are the same; nothing to change: ${path}`, 'edit-no-change')
  const changed = await change(before.text, input, path, context)
  if ('refused' in changed) return changed
  if (matchFormerEnding(before.text, changed.text) === before.text) {
    return refuseEdit(`The file already has the content of new_string; nothing was changed: ${path}`, 'edit-no-change')
  }
  const proposal = await createEditProposal(path, before, changed.text)
  if ('refused' in proposal) return proposal
  return { proposal, count: changed.count, ...defined({ note: changed.note }) }
}

/** What the file would be without the changes that the user made to the proposal. */
async function computeModelVersion(
  change: TextChanger,
  { path, before }: EditProposal,
  context: ToolContext,
): Promise<string | undefined> {
  const { proposed } = context
  if (!proposed) return undefined
  if (before === undefined || before.text === '') return getTextArgument(proposed, 'new_string')
  const changed = await change(before.text, proposed, path, context)
  return 'refused' in changed ? undefined : matchFormerEnding(before.text, changed.text)
}

function withCorrection(attempt: TextChanger, correct: EditCorrector): TextChanger {
  return async (current, input, path, context) => {
    const first = await attempt(current, input, path, context)
    const { error } = 'refused' in first ? first.refused : {}
    if (!error || !CORRECTABLE_ERROR_TYPES.has(error.type ?? '')) return first
    const [old, replacement] = [getTextArgument(input, 'old_string'), getTextArgument(input, 'new_string')]
    const [instruction, { message }] = [getTextArgument(input, 'instruction'), error]
    const correction = await correct({ path, current, old, replacement, instruction, message }, context.signal)
    const placeholder = correction && findOmissionPlaceholder(correction.replacement, `${correction.old}\n${current}`)
    if (!correction || placeholder !== undefined) return first
    const corrected = { ...input, old_string: correction.old, new_string: correction.replacement }
    const second = await attempt(current, corrected, path, context)
    if ('refused' in second) return first
    return { ...second, note: `${second.note ?? ''} old_string was corrected first.`.trim() }
  }
}

const CORRECTABLE_ERROR_TYPES = new Set([
  'edit-no-occurrence-found',
  'edit-unclear',
  'edit-expected-occurrence-mismatch',
])
