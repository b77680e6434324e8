import type { JsonObject } from '../../../model/json.ts'
import type { Tool, ToolContext } from '../../define.ts'
import { findPlaceholder } from '../../edit/placeholder.ts'
import type { SelfCorrect } from '../../edit/self-correct.ts'
import { likeBefore } from '../../text/document.ts'
import { textIn } from './input.ts'
import { absolute } from './paths.ts'
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
} from './propose.ts'

/** A text with a change made in it, how often, and what there is to say about it. */
export interface Change {
  readonly text: string
  readonly count: number
  readonly note?: string
}

/** Makes a change in a text with plain line ends, or says why not. */
export type Changer = (current: string, input: JsonObject, path: string, context: ToolContext) => Changing

type Changing = Change | Refusal | Promise<Change | Refusal>

/**
 * What the tools that exchange one text for another have in common: how they ask, and how they answer. With `correct`, an
 * edit that does not fit is put right by a model, once.
 */
export function changeTool(
  attempt: Changer,
  correct?: SelfCorrect,
): Pick<Tool, 'run'> & Required<Pick<Tool, 'preview' | 'modified'>> {
  const change = correct ? corrected(attempt, correct) : attempt
  return {
    async preview(input, context) {
      const planned = await plan(change, input, context)
      if ('refused' in planned) throw new Error(planned.refused.error?.message)
      return askAbout(planned.proposal.before === undefined ? 'Create' : 'Edit', planned.proposal, context)
    },

    // The person's version is of the whole file, and so is what it takes the place of.
    modified(input, { original, content }) {
      const { expected_replacements: _once, allow_multiple: _all, ...rest } = input
      return { ...rest, old_string: original ?? '', new_string: content }
    },

    async run(input, context) {
      const first = await plan(change, input, context)
      if ('refused' in first) return first.refused
      // No model is asked to put it right while others wait for the file.
      const planned = await apply(first, context, () => plan(attempt, input, context))
      if ('refused' in planned) return planned.refused
      const { proposal, count, note, remark } = planned
      const display = await fileDiff(proposal, context, await modelsVersion(change, proposal, context))
      const { path, before } = proposal
      const done =
        before === undefined
          ? `Successfully created and wrote to new file: ${path}.`
          : `Successfully modified file: ${path} (${count} replacements).${remark}`
      const notes = [
        done,
        note,
        context.modified && `The person changed new_string to:\n${textIn(input, 'new_string')}`,
      ]
      return { content: notes.filter(Boolean).join(' '), display, facts: factsOf(display) }
    },
  }
}

type Planned = { readonly proposal: Proposal; readonly count: number; readonly note?: string }

async function plan(change: Changer, input: JsonObject, context: ToolContext): Promise<Planned | Refusal> {
  const path = absolute(textIn(input, 'file_path'), context.folders)
  const [old, fresh] = [textIn(input, 'old_string'), textIn(input, 'new_string')]
  const opened = await openForEdit(path, context)
  if ('refused' in opened) return opened
  const { before } = opened
  const gap = findPlaceholder(fresh, `${old}\n${before?.text ?? ''}`)
  if (gap !== undefined) return refuse(`new_string leaves code out ("${gap}"). Write it completely.`, 'placeholder')

  if (old === '') {
    if (before !== undefined && before.text !== '') {
      return refuse(
        `The file exists already, so old_string must say what to replace: ${path}`,
        'attempt-to-create-existing-file',
      )
    }
    const proposal = await propose(path, before, fresh)
    return 'refused' in proposal ? proposal : { proposal, count: 1 }
  }
  if (before === undefined) {
    return refuse(`File not found: ${path}. To create it, use an empty old_string.`, 'file-not-found')
  }
  if (old === fresh)
    return refuse(`old_string and new_string are the same; nothing to change: ${path}`, 'edit-no-change')
  const changed = await change(before.text, input, path, context)
  if ('refused' in changed) return changed
  if (likeBefore(before.text, changed.text) === before.text) {
    return refuse(`The file already is as new_string wants it; nothing was changed: ${path}`, 'edit-no-change')
  }
  const proposal = await propose(path, before, changed.text)
  if ('refused' in proposal) return proposal
  return { proposal, count: changed.count, ...(changed.note !== undefined && { note: changed.note }) }
}

/** What the file would be if the person had not changed the proposal. */
async function modelsVersion(
  change: Changer,
  { path, before }: Proposal,
  context: ToolContext,
): Promise<string | undefined> {
  const { proposed } = context
  if (!proposed) return undefined
  if (before === undefined || before.text === '') return textIn(proposed, 'new_string')
  const changed = await change(before.text, proposed, path, context)
  return 'refused' in changed ? undefined : likeBefore(before.text, changed.text)
}

/** Tries again with what a model makes of an edit that does not fit. */
function corrected(attempt: Changer, correct: SelfCorrect): Changer {
  return async (current, input, path, context) => {
    const first = await attempt(current, input, path, context)
    const { error } = 'refused' in first ? first.refused : {}
    if (!error || !CORRECTABLE.has(error.type ?? '')) return first
    const [old, fresh] = [textIn(input, 'old_string'), textIn(input, 'new_string')]
    const failure = { path, current, old, fresh, instruction: textIn(input, 'instruction'), message: error.message }
    const better = await correct(failure, context.signal)
    const gap = better && findPlaceholder(better.fresh, `${better.old}\n${current}`)
    if (!better || gap !== undefined) return first
    const second = await attempt(current, { ...input, old_string: better.old, new_string: better.fresh }, path, context)
    return 'refused' in second
      ? first
      : { ...second, note: `${second.note ?? ''} old_string was put right first.`.trim() }
  }
}

const CORRECTABLE = new Set(['edit-no-occurrence-found', 'edit-unclear', 'edit-expected-occurrence-mismatch'])
