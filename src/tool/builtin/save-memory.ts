import type { Tool, ToolContext } from '../tool.ts'
import text from './save-memory.md'
import { defineBuiltin } from './support/define-builtin.ts'
import { addMemory, toMemoryLine } from './support/memory-list.ts'
import { getTextArgument } from './support/read-arguments.ts'
import type { EditProposal, EditRefusal } from './support/edit-proposal.ts'
import {
  applyEditProposal,
  createEditApproval,
  createEditProposal,
  createFileDiff,
  openForEdit,
} from './support/edit-proposal.ts'

export function createSaveMemoryTool(file: string): Tool {
  async function createMemoryProposal(fact: string, context: ToolContext): Promise<EditProposal | EditRefusal> {
    // The file is ours, so it does not matter which version the model has seen.
    const opened = await openForEdit(file, {
      ...context,
      seenFiles: { setHash: () => undefined, getHash: () => undefined },
    })
    if ('refused' in opened) return opened
    return createEditProposal(file, opened.before, addMemory(opened.before?.text ?? '', fact))
  }

  return defineBuiltin({
    name: 'save_memory',
    text,
    kind: 'other',
    ruleAliases: ['MemoryTool'],
    properties: { fact: { type: 'string', description: 'The fact, as one clear sentence.' } },
    required: ['fact'],
    // One line in a fixed format in our own file: the model cannot write instructions for itself with it.
    effects: () => [{ kind: 'write', path: file, isToolOwned: true }],
    check: (input) => (toMemoryLine(getTextArgument(input, 'fact')) === '' ? 'fact must not be empty.' : undefined),

    async preview(input, context) {
      const planned = await createMemoryProposal(toMemoryLine(getTextArgument(input, 'fact')), context)
      if ('refused' in planned) throw new Error(planned.refused.error?.message)
      return createEditApproval('Remember in', planned, context)
    },

    toModifiedInput(input, { original, content }) {
      const former = new Set((original ?? '').split('\n').map((line) => line.trim()))
      const added = content.split('\n').find((line) => line.startsWith('- ') && !former.has(line.trim()))
      return added === undefined ? input : { ...input, fact: added.slice(2) }
    },

    async run(input, context) {
      const fact = toMemoryLine(getTextArgument(input, 'fact'))
      const plan = async () => {
        const next = await createMemoryProposal(fact, context)
        return 'refused' in next ? next : { proposal: next }
      }
      const first = await plan()
      const planned = 'refused' in first ? first : await applyEditProposal(first, context, plan)
      if ('refused' in planned) {
        const message = planned.refused.error?.message ?? ''
        return {
          ...planned.refused,
          content: JSON.stringify({ success: false, error: `Failed to save memory. ${message}` }),
        }
      }
      const message = `Okay, I've remembered that: "${fact}"`
      const { diffStat } = await createFileDiff(planned.proposal, context, undefined)
      return { content: JSON.stringify({ success: true, message }), display: message, facts: { ...diffStat } }
    },
  })
}
