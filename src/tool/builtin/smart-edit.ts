import type { JsonObject } from '../../model/json.ts'
import type { Tool } from '../tool.ts'
import { describeNearestPassage } from '../edit/match/nearest-passage.ts'
import type { EditCorrector } from '../edit/correct-edit.ts'
import type { EditDoubt, EditResult, MatchStrategy } from '../edit/apply-smart-edit.ts'
import { applySmartEdit as makeEdit } from '../edit/apply-smart-edit.ts'
import { defineBuiltin, createSimilarToolAliases } from './support/define-builtin.ts'
import { EDIT_RULE_ALIASES, type TextChange, createEditHandlers } from './support/edit-handlers.ts'
import { getFlagArgument, getTextArgument } from './support/read-arguments.ts'
import { toAbsolutePath, createPathEffects } from './support/paths.ts'
import { type EditRefusal, refuseEdit } from './support/edit-proposal.ts'
import text from './smart-edit.md'

/** Replaces a passage that the model may remember imprecisely. `correct` lets a model fix the search text. */
export function createSmartEditTool(correct?: EditCorrector): Tool {
  return defineBuiltin({
    name: 'smart_edit',
    text,
    kind: 'edit',
    hookName: 'Edit',
    aliases: { absolute_path: 'file_path', path: 'file_path' },
    ruleAliases: EDIT_RULE_ALIASES,
    nameAliases: createSimilarToolAliases('apply_patch', 'apply_diff', 'edit_file', 'patch'),
    properties: {
      file_path: { type: 'string', description: 'Absolute path of the file.' },
      instruction: { type: 'string', description: 'What the change is for.' },
      old_string: { type: 'string', description: 'The passage to replace.' },
      new_string: { type: 'string', description: 'What to put there.' },
    },
    required: ['file_path', 'instruction', 'old_string', 'new_string'],
    ruleInput: (path) => ({ file_path: path }),
    effects: (input, folders) =>
      createPathEffects('write', toAbsolutePath(getTextArgument(input, 'file_path'), folders)),
    check: (input) => (getTextArgument(input, 'file_path').trim() === '' ? 'file_path must not be empty.' : undefined),
    ...createEditHandlers(editText, correct),
  })
}

function editText(current: string, input: JsonObject, path: string): TextChange | EditRefusal {
  const old = getTextArgument(input, 'old_string').replaceAll('\r\n', '\n')
  const replacement = getTextArgument(input, 'new_string').replaceAll('\r\n', '\n')
  const edited = makeEdit(current, { old, replacement, all: getFlagArgument(input, 'allow_multiple', false) })
  if ('why' in edited) return createRefusal(edited, current, old, replacement, path)
  const { first, last, strategy } = edited
  const lines = first === last ? `line ${first}` : `lines ${first}-${last}`
  return { text: edited.text, count: edited.count, note: `Matched ${STRATEGY_TEXTS[strategy]}, ${lines}.` }
}

const STRATEGY_TEXTS: Readonly<Record<MatchStrategy, string>> = {
  exact: 'exactly',
  indentation: 'with different indentation',
  whitespace: 'with different white space',
  quotes: 'with different quotes or white space',
  fuzzy: 'with small differences',
}

function createRefusal(
  edited: Exclude<EditResult, { text: string }>,
  current: string,
  old: string,
  replacement: string,
  path: string,
): EditRefusal {
  if (edited.why === 'ambiguous') {
    const { lines, strategy } = edited
    const many = `old_string matches ${lines.length} places in ${path} (${STRATEGY_TEXTS[strategy]}), at lines ${lines.slice(0, 20).join(', ')}`
    const message = `${many}. Add surrounding lines until only one place matches. Nothing was changed.`
    return refuseEdit(message, 'edit-expected-occurrence-mismatch')
  }
  const nearestText = describeNearestPassage(current, old) ?? 'No passage is similar.'
  if (edited.why === 'unclear') {
    const how = `old_string matches ${path} ${STRATEGY_TEXTS[edited.strategy]}, but it is not clear ${DOUBT_TEXTS[edited.doubt]}`
    const advice = 'Repeat the edit with more surrounding lines, exactly as in the file. Nothing was changed.'
    return refuseEdit(`${how}. ${advice} ${nearestText}`, 'edit-unclear')
  }
  edited.why satisfies 'not-found'
  const done =
    replacement.trim().length > 12 && current.includes(replacement)
      ? ' new_string is in the file already; perhaps the edit was made before.'
      : ''
  const message = `old_string was not found in ${path}; nothing was changed.${done} ${nearestText}`
  return refuseEdit(message, 'edit-no-occurrence-found')
}

const DOUBT_TEXTS: Readonly<Record<EditDoubt, string>> = {
  'blank-replacement': 'whether to leave a blank line',
  'partial-line': 'whether it begins or ends within a line',
  'blank-lines': 'how many blank lines belong before and after it',
  edges: 'with which line it begins or ends',
  'duplicate-line': 'whether an adjacent line that new_string repeats should appear twice',
  layout: 'how to lay out the new lines there',
}
