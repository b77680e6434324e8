import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext } from '../tool.ts'
import { findOmissionPlaceholder } from '../edit/omission-placeholder.ts'
import { matchFormerEnding } from '../text/text-document.ts'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { getTextArgument } from './support/read-arguments.ts'
import { toAbsolutePath, createPathEffects } from './support/paths.ts'
import type { EditProposal, EditRefusal } from './support/edit-proposal.ts'
import {
  applyEditProposal,
  createEditApproval,
  createEditProposal,
  createFileDiff,
  openForEdit,
  refuseChangedFile,
  refuseEdit,
} from './support/edit-proposal.ts'
import text from './write-file.md'

export const writeFileTool: Tool = defineBuiltin({
  name: 'write_file',
  text,
  kind: 'edit',
  hookName: 'Write',
  aliases: { absolute_path: 'file_path', path: 'file_path' },
  ruleAliases: ['WriteFileTool'],
  nameAliases: [
    { name: 'write', parameters: { filePath: 'file_path' } },
    { name: 'create_file', parameters: { filePath: 'file_path' } },
    ...createSameToolAliases('Write', 'write_to_file'),
    ...createSimilarToolAliases('NotebookEdit'),
  ],
  properties: {
    file_path: { type: 'string', description: 'Absolute path of the file.' },
    content: { type: 'string', description: 'All of its content.' },
  },
  required: ['file_path', 'content'],
  ruleInput: (path) => ({ file_path: path }),
  effects: (input, folders) => createPathEffects('write', toAbsolutePath(getTextArgument(input, 'file_path'), folders)),
  check: (input) => (getTextArgument(input, 'file_path').trim() === '' ? 'file_path must not be empty.' : undefined),

  async preview(input, context) {
    const proposal = await createWriteProposal(input, context)
    if ('refused' in proposal) throw new Error(proposal.refused.error?.message)
    return createEditApproval(proposal.before === undefined ? 'Create' : 'Write', proposal, context)
  },

  toModifiedInput: (input, { content }) => ({ ...input, content }),

  async run(input, context) {
    const first = await createWriteProposal(input, context)
    if ('refused' in first) return first.refused
    // Whole content is not reapplied to what somebody else has just written: their change would be lost.
    const written = await applyEditProposal({ proposal: first }, context, async () => refuseChangedFile(first.path))
    if ('refused' in written) return written.refused
    const { proposal, remark } = written
    const { path, before } = proposal
    const proposed = context.proposed && matchFormerEnding(before?.text, getTextArgument(context.proposed, 'content'))
    const display = await createFileDiff(proposal, context, proposed)
    const done =
      before === undefined
        ? `Successfully created and wrote to new file: ${path}.`
        : `Successfully overwrote file: ${path}.${remark}`
    const note = context.modified
      ? ` The user changed the content before it was written; it is now:\n${proposal.text}`
      : ''
    return { content: done + note, display, facts: { ...display.diffStat } }
  },
})

async function createWriteProposal(input: JsonObject, context: ToolContext): Promise<EditProposal | EditRefusal> {
  const path = toAbsolutePath(getTextArgument(input, 'file_path'), context.folders)
  const content = getTextArgument(input, 'content')
  const opened = await openForEdit(path, context)
  if ('refused' in opened) return opened
  const gap = findOmissionPlaceholder(content, opened.before?.text ?? '')
  if (gap !== undefined) {
    return refuseEdit(`content omits code ("${gap}"). Write the complete file, or use smart_edit.`, 'placeholder')
  }
  return createEditProposal(path, opened.before, content)
}
