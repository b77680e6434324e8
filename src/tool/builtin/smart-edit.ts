import type { JsonObject } from '../../model/json.ts'
import type { Tool } from '../define.ts'
import { nearestPassage } from '../edit/nearest.ts'
import type { SelfCorrect } from '../edit/self-correct.ts'
import { type Edited, smartEdit as makeEdit, type Strategy } from '../edit/smart-edit.ts'
import { builtin } from './support/builtin.ts'
import { type Change, changeTool } from './support/change.ts'
import { flagIn, textIn } from './support/input.ts'
import { absolute, touching } from './support/paths.ts'
import { type Refusal, refuse } from './support/propose.ts'
import text from './smart-edit.md'

/** Replaces a passage that may be remembered not quite rightly. With `correct`, a model may put a search text right. */
export function smartEdit(correct?: SelfCorrect): Tool {
  return builtin({
    name: 'smart_edit',
    text,
    kind: 'edit',
    aliases: { absolute_path: 'file_path', path: 'file_path' },
    nameAliases: [{ name: 'apply_patch' }, { name: 'apply_diff' }, { name: 'edit_file' }, { name: 'patch' }],
    properties: {
      file_path: { type: 'string', description: 'Absolute path of the file.' },
      instruction: { type: 'string', description: 'What the change is for.' },
      old_string: { type: 'string', description: 'The passage to replace.' },
      new_string: { type: 'string', description: 'What to put there.' },
    },
    required: ['file_path', 'instruction', 'old_string', 'new_string'],
    effects: (input, folders) => touching('write', absolute(textIn(input, 'file_path'), folders)),
    check: (input) => (textIn(input, 'file_path').trim() === '' ? 'file_path must not be empty.' : undefined),
    ...changeTool(editIn, correct),
  })
}

function editIn(current: string, input: JsonObject, path: string): Change | Refusal {
  const old = textIn(input, 'old_string').replaceAll('\r\n', '\n')
  const fresh = textIn(input, 'new_string').replaceAll('\r\n', '\n')
  const edited = makeEdit(current, { old, fresh, all: flagIn(input, 'allow_multiple', false) })
  if ('why' in edited) return refusal(edited, current, old, fresh, path)
  const { first, last, strategy } = edited
  const lines = first === last ? `line ${first}` : `lines ${first}-${last}`
  return { text: edited.text, count: edited.count, note: `Matched ${HOW[strategy]}, ${lines}.` }
}

const HOW: Readonly<Record<Strategy, string>> = {
  exact: 'exactly',
  indentation: 'with different indentation',
  whitespace: 'with different white space',
  quotes: 'with different quotes or white space',
  fuzzy: 'with small differences',
}

function refusal(
  edited: Exclude<Edited, { text: string }>,
  current: string,
  old: string,
  fresh: string,
  path: string,
): Refusal {
  if (edited.why === 'ambiguous') {
    const many = `old_string fits ${edited.lines.length} places in ${path} (${HOW[edited.strategy]}), at lines ${edited.lines.slice(0, 20).join(', ')}`
    return refuse(
      `${many}. Add lines around it until only one fits. Nothing was changed.`,
      'edit-expected-occurrence-mismatch',
    )
  }
  const near = nearestPassage(current, old) ?? 'No passage is like it.'
  if (edited.why === 'unclear') {
    const how = `old_string fits ${path} ${HOW[edited.strategy]}, but it is not clear ${edited.doubt}`
    return refuse(
      `${how}. Repeat the edit with more lines around it, as the file has them. Nothing was changed. ${near}`,
      'edit-unclear',
    )
  }
  const done =
    fresh.trim().length > 12 && current.includes(fresh)
      ? ' new_string is in the file already; perhaps the edit was made before.'
      : ''
  return refuse(`old_string was not found in ${path}; nothing was changed.${done} ${near}`, 'edit-no-occurrence-found')
}
