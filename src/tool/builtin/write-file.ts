import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext } from '../define.ts'
import { findPlaceholder } from '../edit/placeholder.ts'
import { likeBefore } from '../text/document.ts'
import { builtin } from './support/builtin.ts'
import { textIn } from './support/input.ts'
import { absolute, touching } from './support/paths.ts'
import {
  apply,
  askAbout,
  factsOf,
  fileDiff,
  openForEdit,
  type Proposal,
  propose,
  type Refusal,
  refuse,
  refuseChanged,
} from './support/propose.ts'
import text from './write-file.md'

/** Writes a file whole. */
export const writeFile: Tool = builtin({
  name: 'write_file',
  text,
  kind: 'edit',
  aliases: { absolute_path: 'file_path', path: 'file_path' },
  nameAliases: [
    { name: 'Write', parameters: {} },
    { name: 'write', parameters: { filePath: 'file_path' } },
    { name: 'create_file', parameters: { filePath: 'file_path' } },
    { name: 'write_to_file', parameters: {} },
    { name: 'NotebookEdit' },
  ],
  properties: {
    file_path: { type: 'string', description: 'Absolute path of the file.' },
    content: { type: 'string', description: 'All of its content.' },
  },
  required: ['file_path', 'content'],
  effects: (input, folders) => touching('write', absolute(textIn(input, 'file_path'), folders)),
  check: (input) => (textIn(input, 'file_path').trim() === '' ? 'file_path must not be empty.' : undefined),

  async preview(input, context) {
    const proposal = await proposalFor(input, context)
    if ('refused' in proposal) throw new Error(proposal.refused.error?.message)
    return askAbout(proposal.before === undefined ? 'Create' : 'Write', proposal, context)
  },

  modified: (input, { content }) => ({ ...input, content }),

  async run(input, context) {
    const first = await proposalFor(input, context)
    if ('refused' in first) return first.refused
    // Whole content is not made anew on what somebody else has just written: it would be lost.
    const written = await apply({ proposal: first }, context, async () => refuseChanged(first.path))
    if ('refused' in written) return written.refused
    const { proposal, remark } = written
    const { path, before } = proposal
    const proposed = context.proposed && likeBefore(before?.text, textIn(context.proposed, 'content'))
    const display = await fileDiff(proposal, context, proposed)
    const done =
      before === undefined
        ? `Successfully created and wrote to new file: ${path}.`
        : `Successfully overwrote file: ${path}.${remark}`
    const note = context.modified
      ? ` The person changed the content before it was written; it is now:\n${proposal.text}`
      : ''
    return { content: done + note, display, facts: factsOf(display) }
  },
})

async function proposalFor(input: JsonObject, context: ToolContext): Promise<Proposal | Refusal> {
  const path = absolute(textIn(input, 'file_path'), context.folders)
  const content = textIn(input, 'content')
  const opened = await openForEdit(path, context)
  if ('refused' in opened) return opened
  const gap = findPlaceholder(content, opened.before?.text ?? '')
  if (gap !== undefined) {
    return refuse(`content leaves code out ("${gap}"). Write the file completely, or use smart_edit.`, 'placeholder')
  }
  return propose(path, opened.before, content)
}
