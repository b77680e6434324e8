import type { JsonObject } from '../../model/json.ts'
import type { Tool } from '../tool.ts'
import { findExactOffsets, findLineIndex } from '../edit/match/find-matches.ts'
import { describeNearestPassage } from '../edit/match/nearest-passage.ts'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { EDIT_RULE_ALIASES, createEditHandlers, type TextChange } from './support/edit-handlers.ts'
import { getFlagArgument, getNumberArgument, getTextArgument } from './support/read-arguments.ts'
import { toAbsolutePath, createPathEffects } from './support/paths.ts'
import { type EditRefusal, refuseEdit } from './support/edit-proposal.ts'
import text from './replace.md'

const EDIT_PARAMETER_ALIASES = {
  filePath: 'file_path',
  oldString: 'old_string',
  newString: 'new_string',
  replaceAll: 'allow_multiple',
}

export const replaceTool: Tool = defineBuiltin({
  name: 'replace',
  text,
  kind: 'edit',
  hookName: 'Edit',
  aliases: { absolute_path: 'file_path', path: 'file_path' },
  ruleAliases: EDIT_RULE_ALIASES,
  nameAliases: [
    { name: 'Edit', parameters: { replace_all: 'allow_multiple' } },
    { name: 'edit', parameters: EDIT_PARAMETER_ALIASES },
    { name: 'replace_string_in_file', parameters: EDIT_PARAMETER_ALIASES },
    ...createSameToolAliases('search_replace'),
    ...createSimilarToolAliases('MultiEdit', 'multiedit', 'str_replace_editor', 'str_replace_based_edit_tool'),
    ...createSimilarToolAliases('replace_in_file'),
  ],
  properties: {
    file_path: { type: 'string', description: 'Absolute path of the file.' },
    old_string: { type: 'string', description: 'The text to replace.' },
    new_string: { type: 'string', description: 'What to put there.' },
    expected_replacements: { type: 'number', description: 'How often old_string occurs; default 1.' },
  },
  required: ['file_path', 'old_string', 'new_string'],
  ruleInput: (path) => ({ file_path: path }),
  effects: (input, folders) => createPathEffects('write', toAbsolutePath(getTextArgument(input, 'file_path'), folders)),

  check(input) {
    if (getTextArgument(input, 'file_path').trim() === '') return 'file_path must not be empty.'
    const expected = getNumberArgument(input, 'expected_replacements') ?? 1
    return Number.isInteger(expected) && expected > 0 ? undefined : 'expected_replacements must be 1 or more.'
  },

  ...createEditHandlers(replaceText),
})

function replaceText(current: string, input: JsonObject, path: string): TextChange | EditRefusal {
  const old = getTextArgument(input, 'old_string').replaceAll('\r\n', '\n')
  const replacement = getTextArgument(input, 'new_string').replaceAll('\r\n', '\n')
  const offsets = findExactOffsets(current, old)
  if (offsets.length === 0) {
    const nearestText = describeNearestPassage(current, old)
    const message = `Found 0 occurrences of old_string in ${path}; nothing was changed.`
    return refuseEdit(nearestText === undefined ? message : `${message} ${nearestText}`, 'edit-no-occurrence-found')
  }
  const expected = getNumberArgument(input, 'expected_replacements') ?? 1
  // allow_multiple does not say how many.
  const isAny = getFlagArgument(input, 'allow_multiple', false)
  if (!isAny && offsets.length !== expected) {
    const lines = offsets.slice(0, 20).map((at) => findLineIndex(current, at) + 1)
    const found = `found ${offsets.length}, at line${offsets.length === 1 ? '' : 's'} ${lines.join(', ')}`
    const message = `Expected ${expected} occurrence(s) of old_string in ${path} but ${found}; nothing was changed.`
    return refuseEdit(message, 'edit-expected-occurrence-mismatch')
  }
  return { text: current.split(old).join(replacement), count: offsets.length }
}
